/*
 * Stack images: 1024 lines of 64 bytes, direct-mapped by address. A line is valid once it was
 * touched in this chunk; until then it reads as zeros, so that beginning a chunk clears 128 bytes a
 * slot and not 64 KiB.
 */
#include "formats/stack_image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/base/bytes.h"
#include "formats/base/cursor.h"
#include "formats/base/map64.h"
#include "formats/base/pages.h"

#define LINE 64
#define LINES 1024
#define WORDS 8	 /* in a line */
#define FIXED 16 /* slot, zero, address */

struct image {
	uint64_t (*lines)[WORDS];
	uint64_t valid[LINES / 64];
};

struct slot {
	struct image image;
	uint32_t tid;
	uint32_t used; /* the encoder's clock at the last use; 0: never in this chunk */
};

struct mt_stack_encoder {
	uint8_t *memory;
	unsigned count;
	unsigned taken; /* slots in use in this chunk, the first ones */
	uint32_t clock;
	unsigned last; /* most dumps are of the same thread as the one before */
	struct slot slots[];
};

struct mt_stack_decoder {
	struct image images[MT_STACK_SLOTS_MAX];
};

static void image_reset(struct image *image)
{
	memset(image->valid, 0, sizeof(image->valid));
}

/* The line that holds `address`, zeroed on its first use in the chunk. */
static inline uint64_t *image_line(struct image *image, uint64_t address)
{
	size_t i = address / LINE % LINES;
	uint64_t bit = 1ull << i % 64;

	if (!(image->valid[i / 64] & bit)) {
		image->valid[i / 64] |= bit;
		memset(image->lines[i], 0, LINE);
	}
	return image->lines[i];
}

/* Whether a dump would reach past 2^64. */
static bool past_the_end(uint64_t address, size_t size)
{
	return address && size > -address;
}

/* How many 64-byte lines of addresses the dump touches. */
static size_t line_count(uint64_t address, size_t size)
{
	return (size_t)((address % LINE + size + LINE - 1) / LINE);
}

struct mt_stack_encoder *mt_stack_encoder_create(unsigned slots)
{
	struct mt_stack_encoder *encoder =
		calloc(1, sizeof(*encoder) + slots * sizeof(encoder->slots[0]));
	void *memory;

	if (!encoder)
		return NULL;
	memory = mmap(NULL, (size_t)slots * LINES * LINE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		free(encoder);
		return NULL;
	}
	encoder->memory = memory;
	encoder->count = slots;
	for (unsigned i = 0; i < slots; i++)
		encoder->slots[i].image.lines =
			(void *)(encoder->memory + (size_t)i * LINES * LINE);
	mt_stack_encoder_reset(encoder);
	return encoder;
}

void mt_stack_encoder_destroy(struct mt_stack_encoder *encoder)
{
	if (!encoder)
		return;
	munmap(encoder->memory, (size_t)encoder->count * LINES * LINE);
	free(encoder);
}

void mt_stack_encoder_populate(struct mt_stack_encoder *encoder)
{
	(void)mt_pages_populate(encoder->memory, (size_t)encoder->count * LINES * LINE);
}

void mt_stack_encoder_reset(struct mt_stack_encoder *encoder)
{
	for (unsigned i = 0; i < encoder->taken; i++)
		image_reset(&encoder->slots[i].image);
	encoder->taken = 0;
	encoder->clock = 0;
	encoder->last = 0;
}

/*
 * The thread's slot: its own, a fresh one, or the least recently used (whose image goes on as it
 * is, on both sides).
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
	return encoder->taken < encoder->count ? encoder->taken++ : oldest;
}

/*
 * Which words of a line differ from the image; they are copied there and, packed, to *words.
 * `first` to `last`: the words of the line that the dump has. Without a branch a word: on stacks
 * full of random words half of them would be mispredicted. One word past the end of *words is
 * overwritten.
 */
static inline uint8_t code_line(uint64_t *line, const uint8_t *dump, unsigned first, unsigned last,
				uint8_t **words)
{
	uint8_t *to = *words;
	unsigned mask = 0;

	for (unsigned i = first; i < last; i++, dump += 8) {
		uint64_t word;
		unsigned differs;

		memcpy(&word, dump, 8);
		differs = word != line[i];
		line[i] = word;
		mask |= differs << i;
		memcpy(to, &word, 8);
		to += 8 * differs;
	}
	*words = to;
	return (uint8_t)mask;
}

static inline bool same_line(const uint64_t *line, const uint8_t *dump)
{
	uint64_t difference = 0, words[WORDS];

	memcpy(words, dump, LINE);
	for (unsigned i = 0; i < WORDS; i++)
		difference |= words[i] ^ line[i];
	return !difference;
}

/*
 * The words are written where they would stand if every line had changed, and moved up once it is
 * known how many masks there are.
 */
static size_t code_dump(struct image *image, uint64_t address, const uint8_t *dump, size_t size,
			uint8_t *out)
{
	size_t lines = line_count(address, size), bitmap = (lines + 7) / 8, changed = 0, fixed;
	uint8_t *bits = out + FIXED, *masks = bits + bitmap;
	uint8_t *words = out + mt_align8(FIXED + bitmap + lines), *end = words;
	unsigned first = (unsigned)(address % LINE / 8);

	memset(bits, 0, bitmap);
	for (size_t i = 0; i < lines; i++) {
		size_t left = size / 8, last = first + left < WORDS ? first + left : WORDS;
		uint64_t *line = image_line(image, address + i * LINE);
		uint8_t mask = 0;

		if (last - first < WORDS || !same_line(line, dump))
			mask = code_line(line, dump, first, (unsigned)last, &end);
		if (mask) {
			bits[i / 8] |= (uint8_t)(1u << i % 8);
			masks[changed++] = mask;
		}
		dump += 8 * (last - first);
		size -= 8 * (last - first);
		first = 0;
	}
	fixed = FIXED + bitmap + changed;
	memset(out + fixed, 0, mt_align8(fixed) - fixed);
	memmove(out + mt_align8(fixed), words, (size_t)(end - words));
	return mt_align8(fixed) + (size_t)(end - words);
}

size_t mt_stack_encode(struct mt_stack_encoder *encoder, uint32_t tid, uint64_t address,
		       const uint8_t *dump, size_t size, uint8_t *out)
{
	struct slot *slot;

	if (!size || size > MT_STACK_DUMP_MAX || address % 8 || size % 8 ||
	    past_the_end(address, size))
		return 0;
	encoder->last = slot_of(encoder, tid);
	slot = &encoder->slots[encoder->last];
	slot->tid = tid;
	slot->used = ++encoder->clock;
	mt_put_le32(out, encoder->last);
	mt_put_le32(out + 4, 0);
	mt_put_le64(out + 8, address);
	return code_dump(&slot->image, address, dump, size, out);
}

struct mt_stack_decoder *mt_stack_decoder_create(void)
{
	return calloc(1, sizeof(struct mt_stack_decoder));
}

void mt_stack_decoder_destroy(struct mt_stack_decoder *decoder)
{
	if (!decoder)
		return;
	for (unsigned i = 0; i < MT_STACK_SLOTS_MAX; i++)
		free(decoder->images[i].lines);
	free(decoder);
}

void mt_stack_decoder_reset(struct mt_stack_decoder *decoder)
{
	for (unsigned i = 0; i < MT_STACK_SLOTS_MAX; i++)
		image_reset(&decoder->images[i]);
}

/* The slot's image, made on first sight; NULL for a slot number out of range, or out of memory. */
static struct image *decoder_image(struct mt_stack_decoder *decoder, uint32_t slot)
{
	struct image *image;

	if (slot >= MT_STACK_SLOTS_MAX)
		return NULL;
	image = &decoder->images[slot];
	if (!image->lines)
		image->lines = aligned_alloc(LINE, (size_t)LINES * LINE);
	return image->lines ? image : NULL;
}

/*
 * The words a mask names, from the cursor into the line; words outside [first, last) must not be
 * named.
 */
static bool patch_line(uint64_t *line, uint8_t mask, unsigned first, unsigned last,
		       struct mt_cursor *words)
{
	if (!mask || mask >> last || mask & ((1u << first) - 1))
		return false;
	for (unsigned i = first; i < last; i++) {
		if (mask >> i & 1)
			line[i] = mt_cursor_u64(words);
	}
	return !words->bad;
}

static bool decode_lines(struct image *image, uint64_t address, const uint8_t *bits,
			 struct mt_cursor *masks, struct mt_cursor *words, uint8_t *out,
			 size_t size)
{
	unsigned first = (unsigned)(address % LINE / 8);

	for (size_t i = 0; size; i++) {
		size_t left = size / 8, last = first + left < WORDS ? first + left : WORDS;
		uint64_t *line = image_line(image, address + i * LINE);

		if ((bits[i / 8] >> i % 8 & 1) &&
		    !patch_line(line, mt_cursor_u8(masks), first, (unsigned)last, words))
			return false;
		memcpy(out, line + first, 8 * (last - first));
		out += 8 * (last - first);
		size -= 8 * (last - first);
		first = 0;
	}
	return true;
}

static size_t count_bits(const uint8_t *bits, size_t bytes)
{
	size_t count = 0;

	for (size_t i = 0; i < bytes; i++)
		count += (size_t)__builtin_popcount(bits[i]);
	return count;
}

bool mt_stack_decode(struct mt_stack_decoder *decoder, const uint8_t *coded, size_t coded_size,
		     uint8_t *out, size_t size)
{
	struct mt_cursor in = mt_cursor_init(coded, coded_size), masks;
	uint32_t slot = mt_cursor_u32(&in);
	uint64_t address = (mt_cursor_u32(&in), mt_cursor_u64(&in));
	size_t lines = line_count(address, size), bitmap = (lines + 7) / 8, changed;
	const uint8_t *bits = mt_cursor_bytes(&in, bitmap);
	struct image *image;

	if (!bits || !size || size > MT_STACK_DUMP_MAX || size % 8 || address % 8 ||
	    past_the_end(address, size))
		return false;
	changed = count_bits(bits, bitmap);
	if (changed > lines || (lines % 8 && bits[bitmap - 1] >> lines % 8))
		return false;
	masks = mt_cursor_sub(&in, changed);
	mt_cursor_bytes(&in, mt_align8(FIXED + bitmap + changed) - (FIXED + bitmap + changed));
	image = in.bad ? NULL : decoder_image(decoder, slot);
	return image && decode_lines(image, address, bits, &masks, &in, out, size) &&
	       !mt_cursor_left(&in);
}
