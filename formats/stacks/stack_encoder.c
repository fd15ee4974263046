/*
 * Chooses the slot of a thread and assembles the body of a PACKED record. stack_lines.c encodes the
 * dump, kernel_words.c the kernel's words.
 */
#include "formats/stacks/stack_encoder.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/base/bytes.h"
#include "formats/base/pages.h"
#include "formats/stacks/kernel_words.h"
#include "formats/stacks/packed_body.h"
#include "formats/stacks/sample_record.h"
#include "formats/stacks/stack_image.h"
#include "formats/stacks/stack_lines.h"

#define PAGE_MAX ((size_t)64 << 10)
#define SLOTS_MORE 6 /* slots to add if the present ones do not suffice */
#define GONE 64	     /* lost slots are remembered for one thread per tid modulo this */

/* Offsets of the fields in a PACKED record's body. */
enum {
	OFF_WORDS = 4,
	OFF_TAIL = 6,
	OFF_SLOT = 8,
	OFF_SP = 10,
	OFF_LINES = 12,
};

struct slot {
	struct mt_stack_image image;
	struct mt_kernel_references *kernel;
	uint32_t tid;
	uint32_t used; /* the encoder's clock at the last use; 0: never in this chunk */
};

struct mt_stack_encoder {
	mt_stack_lines_coder *code_lines;
	uint8_t *memory;
	unsigned count;
	_Atomic unsigned ready;	 /* number of usable slots, which are the first ones */
	_Atomic unsigned wanted; /* number of slots wanted */
	unsigned taken;		 /* number of slots used in this chunk, which are the first ones */
	bool populated;
	uint32_t gone[GONE]; /* tids of threads that lost a slot, plus 1; 0: none */
	uint32_t clock;
	unsigned last; /* the slot used last: consecutive dumps are mostly of one thread */
	struct slot slots[];
};

/* A slot's memory: the image, and the references for its samples. */
#define SLOT_MEMORY                                                                      \
	(((size_t)MT_STACK_LINES * MT_STACK_LINE + sizeof(struct mt_kernel_references) + \
	  MT_STACK_LINE - 1) /                                                           \
	 MT_STACK_LINE * MT_STACK_LINE)

_Static_assert(SLOT_MEMORY <= MT_STACK_SLOT_SIZE, "as the header says");

struct mt_stack_encoder *mt_stack_encoder_create(unsigned slots)
{
	struct mt_stack_encoder *encoder =
		calloc(1, sizeof(*encoder) + slots * sizeof(encoder->slots[0]));
	void *memory;

	if (!encoder)
		return NULL;
	memory = mmap(NULL, slots * SLOT_MEMORY, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		free(encoder);
		return NULL;
	}
	mt_pages_ready(encoder, sizeof(*encoder) + slots * sizeof(encoder->slots[0]));
	mt_stack_encoder_set_portable(encoder, false);
	encoder->memory = memory;
	encoder->count = slots;
	encoder->ready = slots;
	for (unsigned i = 0; i < slots; i++) {
		encoder->slots[i].image.lines = (void *)(encoder->memory + i * SLOT_MEMORY);
		encoder->slots[i].kernel = (void *)(encoder->memory + i * SLOT_MEMORY +
						    MT_STACK_LINES * MT_STACK_LINE);
	}
	mt_stack_encoder_reset(encoder);
	return encoder;
}

void mt_stack_encoder_destroy(struct mt_stack_encoder *encoder)
{
	if (!encoder)
		return;
	munmap(encoder->memory, encoder->count * SLOT_MEMORY);
	free(encoder);
}

/* Rounds up to pages of any size that a system may have; at most all of the memory. */
static size_t whole_pages(const struct mt_stack_encoder *encoder, size_t bytes)
{
	size_t pages = (bytes + PAGE_MAX - 1) / PAGE_MAX * PAGE_MAX;

	return pages < encoder->count * SLOT_MEMORY ? pages : encoder->count * SLOT_MEMORY;
}

/* Makes unused memory inaccessible, so that mlockall() does not populate it. */
static void close_remainder(struct mt_stack_encoder *encoder, size_t used)
{
	size_t start = whole_pages(encoder, used), end = encoder->count * SLOT_MEMORY;

	if (start < end)
		(void)!mprotect(encoder->memory + start, end - start, PROT_NONE);
}

void mt_stack_encoder_populate(struct mt_stack_encoder *encoder, unsigned slots)
{
	unsigned before = encoder->populated ? encoder->ready : 0;
	size_t start = before * SLOT_MEMORY / PAGE_MAX * PAGE_MAX; /* slots share pages */
	size_t end;

	if (slots > encoder->count)
		slots = encoder->count;
	if (slots <= before)
		return;
	end = slots * SLOT_MEMORY;
	if (!encoder->populated)
		close_remainder(encoder, end);
	else if (mprotect(encoder->memory + start, whole_pages(encoder, end) - start,
			  PROT_READ | PROT_WRITE))
		return;
	mt_pages_ready(encoder->memory + start, end - start);
	encoder->populated = true;
	encoder->ready = slots;
}

unsigned mt_stack_encoder_wants(const struct mt_stack_encoder *encoder)
{
	unsigned wanted = encoder->wanted, ready = encoder->ready;

	return ready < wanted && ready < encoder->count ? wanted : 0;
}

unsigned mt_stack_encoder_slots(const struct mt_stack_encoder *encoder)
{
	return encoder->ready;
}

void mt_stack_encoder_set_portable(struct mt_stack_encoder *encoder, bool portable)
{
	encoder->code_lines = mt_stack_lines_coder_for(portable);
}

void mt_stack_encoder_reset(struct mt_stack_encoder *encoder)
{
	for (unsigned i = 0; i < encoder->taken; i++) {
		mt_stack_image_reset(&encoder->slots[i].image);
		mt_kernel_references_reset(encoder->slots[i].kernel);
	}
	memset(encoder->gone, 0, sizeof(encoder->gone));
	encoder->taken = 0;
	encoder->clock = 0;
	encoder->last = 0;
}

/*
 * Called when a thread takes another thread's slot. More slots help if the thread has lost a slot
 * before. Threads that only come and go need no slots beyond those of the few that run at a time,
 * however many there are.
 */
static void note_gone(struct mt_stack_encoder *encoder, uint32_t tid, uint32_t loser)
{
	if (encoder->gone[tid % GONE] == tid + 1)
		encoder->wanted = encoder->ready + SLOTS_MORE;
	encoder->gone[loser % GONE] = loser + 1;
}

/*
 * The thread's slot: the one it has, a free one, or the least recently used one (whose image stays
 * as it is, in encoder and decoder).
 */
static unsigned slot_of(struct mt_stack_encoder *encoder, uint32_t tid)
{
	unsigned oldest = 0;

	if (encoder->last < encoder->taken && encoder->slots[encoder->last].tid == tid)
		return encoder->last;
	for (unsigned i = 0; i < encoder->taken; i++) {
		if (encoder->slots[i].tid == tid)
			return i;
		if (encoder->slots[i].used < encoder->slots[oldest].used)
			oldest = i;
	}
	if (encoder->taken < encoder->ready)
		return encoder->taken++;
	note_gone(encoder, tid, encoder->slots[oldest].tid);
	return oldest;
}

/* Whether the sample's sizes and its dump's address allow coding. */
static bool can_pack(const struct mt_sample_pieces *pieces)
{
	size_t kernel_size = pieces->head_size + pieces->tail_size;
	uint64_t address;

	if (kernel_size < 8 * MT_KERNEL_WORDS_MIN || kernel_size > 8 * MT_KERNEL_WORDS_MAX ||
	    pieces->head_size % 8 || pieces->tail_size % 8 || pieces->sp_back % 8 ||
	    pieces->sp_back > pieces->head_size || !pieces->sp_back != !pieces->tail_size)
		return false;
	if (!pieces->dump_size)
		return true;
	if (!pieces->sp_back)
		return false;
	address = mt_sample_pieces_address(pieces);
	return pieces->dump_size <= MT_STACK_DUMP_MAX && !(address % 8) &&
	       !(pieces->dump_size % 8) && !mt_stack_past_the_end(address, pieces->dump_size);
}

/* The slot to encode a sample of the thread with. */
static struct slot *take_slot(struct mt_stack_encoder *encoder, uint32_t tid)
{
	struct slot *slot;

	encoder->last = slot_of(encoder, tid);
	slot = &encoder->slots[encoder->last];
	slot->tid = tid;
	slot->used = ++encoder->clock;
	return slot;
}

/* Writes the two bit maps, the masks and padding, and moves the words up to follow them. */
static size_t close_up(uint8_t *body, uint8_t *bits, size_t bitmap, const uint8_t *masks,
		       const struct mt_stack_coding *coding, const uint8_t *words)
{
	size_t mask_count = (size_t)(coding->masks - masks), fixed, padded;

	for (; bitmap && !bits[bitmap - 1]; bitmap--)
		;
	body[OFF_LINES] = (uint8_t)bitmap;
	memmove(bits + bitmap, masks, mask_count);
	fixed = (size_t)(bits - body) + bitmap + mask_count;
	padded = mt_align8(fixed);
	memset(body + fixed, 0, padded - fixed);
	memmove(body + padded, words, (size_t)(coding->words - words));
	return padded + (size_t)(coding->words - words);
}

/*
 * The words are first written at the offset they have if every line changed. They are moved up once
 * the number of masks is known.
 */
static size_t pack(const struct mt_stack_encoder *encoder, struct slot *slot, uint64_t time,
		   const struct mt_sample_pieces *pieces, uint8_t *body)
{
	size_t head = pieces->head_size / 8, tail = pieces->tail_size / 8, size = pieces->dump_size;
	uint64_t address = size ? mt_sample_pieces_address(pieces) : 0;
	size_t lines = size ? mt_stack_line_count(address, size) : 0, bitmap = (lines + 7) / 8;
	uint8_t *mask = body + MT_PACKED_HEAD_SIZE, *bits = mask + (head + tail + 7) / 8;
	uint8_t *words = body + mt_align8((size_t)(bits - body) + bitmap + lines), *end;
	struct mt_kernel_words kernel = mt_kernel_words_begin(slot->kernel, head + tail, time);
	struct mt_stack_coding coding = {
		.image = &slot->image,
		.address = address,
		.dump = pieces->dump,
		.bits = bits,
		.masks = bits + bitmap,
	};

	memset(mask, 0, (size_t)(bits + bitmap - mask));
	end = mt_kernel_words_encode(&kernel, pieces->head, head, mask, words);
	coding.words = mt_kernel_words_encode(&kernel, pieces->tail, tail, mask, end);
	if (size)
		mt_stack_code_dump(encoder->code_lines, &coding, size);
	return close_up(body, bits, bitmap, bits + bitmap, &coding, words);
}

size_t mt_stack_encode(struct mt_stack_encoder *encoder, uint64_t time,
		       const struct mt_sample_pieces *pieces, uint8_t *body)
{
	struct slot *slot;

	if (!can_pack(pieces))
		return 0;
	slot = take_slot(encoder, pieces->tid);
	mt_put_le32(body, pieces->event);
	mt_put_le16(body + OFF_WORDS, (uint16_t)((pieces->head_size + pieces->tail_size) / 8));
	mt_put_le16(body + OFF_TAIL, (uint16_t)(pieces->tail_size / 8));
	mt_put_le16(body + OFF_SLOT, (uint16_t)encoder->last);
	mt_put_le16(body + OFF_SP, (uint16_t)(pieces->sp_back / 8));
	return pack(encoder, slot, time, pieces, body);
}
