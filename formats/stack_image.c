/*
 * Stack images: 1024 lines of 64 bytes, direct-mapped by address. A line is valid once it was
 * touched in this chunk; until then it reads as zeros, so that beginning a chunk clears 128 bytes a
 * slot and not 64 KiB. Where the words of a PACKED record's kernel part go is kernel_words.c's
 * matter.
 */
#include "formats/stack_image.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/base/bytes.h"
#include "formats/base/cpu.h"
#include "formats/base/cursor.h"
#include "formats/base/map64.h"
#include "formats/base/pages.h"
#include "formats/kernel_words.h"
#include "formats/record.h"

#define LINE 64
#define LINES 1024
#define WORDS 8	 /* in a line */
#define FIXED 16 /* of coding 1: slot, zero, address */
#define PAGE_MAX ((size_t)64 << 10)
#define SLOTS_LOW 2 /* fewer that are not taken are few; so many more there are to be */
#define SLOTS_MORE 6

/* Where the fields of a PACKED record's body stand. */
enum {
	OFF_WORDS = 4,
	OFF_TAIL = 6,
	OFF_SLOT = 8,
	OFF_SP = 10,
	OFF_LINES = 12,
};

struct image {
	uint64_t (*lines)[WORDS];
	uint64_t valid[LINES / 64];
};

struct slot {
	struct image image;
	struct mt_kernel_references *kernel;
	uint32_t tid;
	uint32_t used; /* the encoder's clock at the last use; 0: never in this chunk */
};

/* A dump while it is coded. */
struct coding {
	struct image *image;
	uint64_t address; /* of the next line's first byte in the dump */
	const uint8_t *dump;
	size_t line; /* its number */
	uint8_t *bits, *masks, *words;
};

/* Codes so many whole lines. */
typedef void lines_coder(struct coding *coding, size_t lines);

struct mt_stack_encoder {
	lines_coder *code_lines;
	uint8_t *memory;
	unsigned count;
	_Atomic unsigned ready; /* slots that may be used, the first ones */
	_Atomic unsigned taken; /* slots in use in this chunk, likewise */
	bool populated;
	uint32_t clock;
	unsigned last; /* most dumps are of the same thread as the one before */
	struct slot slots[];
};

struct mt_stack_decoder {
	size_t memory;
	struct image images[MT_STACK_SLOTS_MAX];
	struct mt_kernel_references *kernel[MT_STACK_SLOTS_MAX];
};

/* A slot's memory: the image, and what its samples are held against. */
#define SLOT_MEMORY \
	(((size_t)LINES * LINE + sizeof(struct mt_kernel_references) + LINE - 1) / LINE * LINE)

_Static_assert(SLOT_MEMORY <= MT_STACK_SLOT_SIZE, "as the header says");

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

/* Lines that a dump touches for the first time in the chunk read as zeros, 64 looked at at once. */
static void touch_lines(struct image *image, uint64_t address, size_t lines)
{
	size_t at = address / LINE % LINES;

	for (size_t count; lines; lines -= count, at = (at + count) % LINES) {
		uint64_t missing;

		count = 64 - at % 64 < lines ? 64 - at % 64 : lines;
		missing = (~0ull >> (64 - count)) << at % 64 & ~image->valid[at / 64];
		image->valid[at / 64] |= missing;
		for (; missing; missing &= missing - 1)
			memset(image->lines[at / 64 * 64 + (size_t)__builtin_ctzll(missing)], 0,
			       LINE);
	}
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

void mt_stack_encoder_destroy(struct mt_stack_encoder *encoder)
{
	if (!encoder)
		return;
	munmap(encoder->memory, encoder->count * SLOT_MEMORY);
	free(encoder);
}

void mt_stack_encoder_populate(struct mt_stack_encoder *encoder, unsigned slots)
{
	unsigned before = encoder->populated ? encoder->ready : 0;
	size_t start = before * SLOT_MEMORY / PAGE_MAX * PAGE_MAX; /* slots share pages */

	if (slots > encoder->count)
		slots = encoder->count;
	if (slots <= before)
		return;
	(void)mt_pages_populate(encoder->memory + start, slots * SLOT_MEMORY - start);
	encoder->populated = true;
	encoder->ready = slots;
}

unsigned mt_stack_encoder_wants(const struct mt_stack_encoder *encoder)
{
	unsigned taken = encoder->taken, ready = encoder->ready;

	return ready < encoder->count && ready < taken + SLOTS_LOW ? taken + SLOTS_MORE : 0;
}

void mt_stack_encoder_reset(struct mt_stack_encoder *encoder)
{
	for (unsigned i = 0; i < encoder->taken; i++) {
		image_reset(&encoder->slots[i].image);
		mt_kernel_references_reset(encoder->slots[i].kernel);
	}
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
	return encoder->taken < encoder->ready ? encoder->taken++ : oldest;
}

/*
 * Which words of a line differ from the image; they are copied there and, packed, to *words.
 * `first` to `last`: the words of the line that the dump has. Without a branch a word: on stacks
 * full of random words half of them would be mispredicted. One word past the end of *words is
 * overwritten.
 */
static inline uint8_t code_words(uint64_t *line, const uint8_t *dump, unsigned first, unsigned last,
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

static inline void note_line(struct coding *coding, unsigned mask)
{
	if (!mask)
		return;
	coding->bits[coding->line / 8] |= (uint8_t)(1u << coding->line % 8);
	*coding->masks++ = (uint8_t)mask;
}

/* The words of one line that the dump has, where that is not all of them. */
static void code_part(struct coding *coding, unsigned first, unsigned last)
{
	uint64_t *line = image_line(coding->image, coding->address);

	note_line(coding, code_words(line, coding->dump, first, last, &coding->words));
	coding->line++;
	coding->address += 8 * (last - first);
	coding->dump += 8 * (last - first);
}

static void code_lines_portable(struct coding *coding, size_t lines)
{
	for (; lines; lines--, coding->line++, coding->address += LINE, coding->dump += LINE) {
		uint64_t *line = image_line(coding->image, coding->address);

		if (!same_line(line, coding->dump))
			note_line(coding, code_words(line, coding->dump, 0, WORDS, &coding->words));
	}
}

#ifdef __x86_64__
#define WORD(i) 2 * (i), 2 * (i) + 1

/* Where four words come from so that those whose bit is set stand first. */
static const uint32_t packed_order[16][8] = {
	{0},
	{WORD(0)},
	{WORD(1)},
	{WORD(0), WORD(1)},
	{WORD(2)},
	{WORD(0), WORD(2)},
	{WORD(1), WORD(2)},
	{WORD(0), WORD(1), WORD(2)},
	{WORD(3)},
	{WORD(0), WORD(3)},
	{WORD(1), WORD(3)},
	{WORD(0), WORD(1), WORD(3)},
	{WORD(2), WORD(3)},
	{WORD(0), WORD(2), WORD(3)},
	{WORD(1), WORD(2), WORD(3)},
	{WORD(0), WORD(1), WORD(2), WORD(3)},
};

/*
 * The record was written on another CPU, and what fetches ahead by itself stops at each page. Past
 * the dump's end stands the next record, or nothing: a prefetch asks for no more than it can have.
 */
#define AHEAD 512

/* Four words at *words, of which those that the mask names are kept. */
__attribute__((target("avx2,popcnt"))) static inline uint8_t *pack_half(uint8_t *words,
									__m256i half, unsigned mask)
{
	__m256i order = _mm256_loadu_si256((const __m256i *)(const void *)packed_order[mask]);

	_mm256_storeu_si256((__m256i *)(void *)words, _mm256_permutevar8x32_epi32(half, order));
	return words + 8 * __builtin_popcount(mask);
}

/* The same by 32 bytes at a time. What it writes past the end stays within the line's 64 bytes. */
__attribute__((target("avx2,popcnt"))) static void code_lines_avx2(struct coding *coding,
								   size_t lines)
{
	struct coding c = *coding; /* a copy that no store through a pointer can change */

	for (; lines; lines--, c.line++, c.address += LINE, c.dump += LINE) {
		_mm_prefetch((const char *)c.dump + AHEAD, _MM_HINT_T0);
		__m256i *line = (__m256i *)(void *)image_line(c.image, c.address);
		__m256i low = _mm256_loadu_si256((const __m256i *)(const void *)c.dump);
		__m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(c.dump + 32));
		__m256d same_low = _mm256_castsi256_pd(_mm256_cmpeq_epi64(low, line[0]));
		__m256d same_high = _mm256_castsi256_pd(_mm256_cmpeq_epi64(high, line[1]));
		unsigned mask = (unsigned)_mm256_movemask_pd(same_low) |
				(unsigned)_mm256_movemask_pd(same_high) << 4;

		mask ^= 0xff;
		if (!mask)
			continue;
		line[0] = low;
		line[1] = high;
		c.words = pack_half(c.words, low, mask & 15);
		c.words = pack_half(c.words, high, mask >> 4);
		c.bits[c.line / 8] |= (uint8_t)(1u << c.line % 8);
		*c.masks++ = (uint8_t)mask;
	}
	*coding = c;
}

/*
 * The same by whole lines, those of the image already touched. Words are packed in a register and
 * stored whole: storing them packed is slow on some processors.
 */
__attribute__((target("avx512f,popcnt"))) static void code_lines_avx512(struct coding *coding,
									size_t lines)
{
	struct coding c = *coding;
	size_t at = c.address / LINE % LINES, end = c.line + lines;

	touch_lines(c.image, c.address, lines);
	for (; c.line < end; c.line++, c.dump += LINE, at = (at + 1) % LINES) {
		_mm_prefetch((const char *)c.dump + AHEAD, _MM_HINT_T0);
		uint64_t *line = c.image->lines[at];
		__m512i dump = _mm512_loadu_si512(c.dump);
		unsigned mask = _mm512_cmpneq_epi64_mask(dump, _mm512_loadu_si512(line));

		if (!mask)
			continue;
		_mm512_storeu_si512(line, dump);
		_mm512_storeu_si512(c.words, _mm512_maskz_compress_epi64((__mmask8)mask, dump));
		c.words += 8 * __builtin_popcount(mask);
		c.bits[c.line / 8] |= (uint8_t)(1u << c.line % 8);
		*c.masks++ = (uint8_t)mask;
	}
	c.address += LINE * lines;
	*coding = c;
}
#endif

/*
 * The fastest that goes by at most so many bits at a time. Older processors that have wide
 * registers run slower for a while when they are used; those with this part of AVX-512 do not.
 */
static lines_coder *best_coder(unsigned bits)
{
#ifdef __x86_64__
	if (bits >= 512 && mt_cpu_has(AVX512_VBMI2, "avx512vbmi2"))
		return code_lines_avx512;
	if (bits >= 256 && mt_cpu_has(AVX2, "avx2"))
		return code_lines_avx2;
#endif
	(void)bits;
	return code_lines_portable;
}

void mt_stack_encoder_limit_width(struct mt_stack_encoder *encoder, unsigned bits)
{
	encoder->code_lines = best_coder(bits);
}

/* Codes the lines of a dump; coding->bits are zeros. */
static void code_dump(lines_coder *code_lines, struct coding *coding, size_t size)
{
	unsigned first = (unsigned)(coding->address % LINE / 8);
	size_t left = size / 8;

	if (first) {
		unsigned last = first + left < WORDS ? first + (unsigned)left : WORDS;

		code_part(coding, first, last);
		left -= last - first;
	}
	code_lines(coding, left / WORDS);
	if (left % WORDS)
		code_part(coding, 0, left % WORDS);
}

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
	encoder->code_lines = best_coder(UINT_MAX);
	encoder->memory = memory;
	encoder->count = slots;
	encoder->ready = slots;
	for (unsigned i = 0; i < slots; i++) {
		encoder->slots[i].image.lines = (void *)(encoder->memory + i * SLOT_MEMORY);
		encoder->slots[i].kernel =
			(void *)(encoder->memory + i * SLOT_MEMORY + LINES * LINE);
	}
	mt_stack_encoder_reset(encoder);
	return encoder;
}

/* Whether the sample's sizes and its dump's place are such that it can be coded. */
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
	       !(pieces->dump_size % 8) && !past_the_end(address, pieces->dump_size);
}

/* The slot that a sample of the thread goes through. */
static struct slot *take_slot(struct mt_stack_encoder *encoder, uint32_t tid)
{
	struct slot *slot;

	encoder->last = slot_of(encoder, tid);
	slot = &encoder->slots[encoder->last];
	slot->tid = tid;
	slot->used = ++encoder->clock;
	return slot;
}

/* Both bit maps, the masks and padding; the words are moved up behind them. */
static size_t close_up(uint8_t *body, uint8_t *bits, size_t bitmap, const uint8_t *masks,
		       const struct coding *coding, const uint8_t *words)
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
 * The words are written where they would stand if every line had changed, and moved up once it is
 * known how many masks there are.
 */
static size_t pack(const struct mt_stack_encoder *encoder, struct slot *slot, uint64_t time,
		   const struct mt_sample_pieces *pieces, uint8_t *body)
{
	size_t head = pieces->head_size / 8, tail = pieces->tail_size / 8, size = pieces->dump_size;
	uint64_t address = size ? mt_sample_pieces_address(pieces) : 0;
	size_t lines = size ? line_count(address, size) : 0, bitmap = (lines + 7) / 8;
	uint8_t *mask = body + MT_PACKED_HEAD_SIZE, *bits = mask + (head + tail + 7) / 8;
	uint8_t *words = body + mt_align8((size_t)(bits - body) + bitmap + lines), *end;
	struct mt_kernel_words kernel = mt_kernel_words_begin(slot->kernel, head + tail, time);
	struct coding coding = {
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
		code_dump(encoder->code_lines, &coding, size);
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

struct mt_stack_decoder *mt_stack_decoder_create(void)
{
	struct mt_stack_decoder *decoder = calloc(1, sizeof(*decoder));

	if (decoder)
		decoder->memory = sizeof(*decoder);
	return decoder;
}

size_t mt_stack_decoder_memory(const struct mt_stack_decoder *decoder)
{
	return decoder->memory;
}

void mt_stack_decoder_destroy(struct mt_stack_decoder *decoder)
{
	if (!decoder)
		return;
	for (unsigned i = 0; i < MT_STACK_SLOTS_MAX; i++) {
		free(decoder->images[i].lines);
		free(decoder->kernel[i]);
	}
	free(decoder);
}

void mt_stack_decoder_reset(struct mt_stack_decoder *decoder)
{
	for (unsigned i = 0; i < MT_STACK_SLOTS_MAX; i++) {
		image_reset(&decoder->images[i]);
		if (decoder->kernel[i])
			mt_kernel_references_reset(decoder->kernel[i]);
	}
}

/* The slot's image, made on first sight; NULL for a slot number out of range, or out of memory. */
static struct image *decoder_image(struct mt_stack_decoder *decoder, uint32_t slot)
{
	struct image *image;

	if (slot >= MT_STACK_SLOTS_MAX)
		return NULL;
	image = &decoder->images[slot];
	if (image->lines)
		return image;
	image->lines = aligned_alloc(LINE, (size_t)LINES * LINE);
	if (!image->lines)
		return NULL;
	decoder->memory += (size_t)LINES * LINE;
	return image;
}

/* The same for what the kernel's words are held against. */
static struct mt_kernel_references *decoder_kernel(struct mt_stack_decoder *decoder, uint32_t slot)
{
	struct mt_kernel_references **kernel;

	if (slot >= MT_STACK_SLOTS_MAX)
		return NULL;
	kernel = &decoder->kernel[slot];
	if (*kernel)
		return *kernel;
	*kernel = calloc(1, sizeof(**kernel));
	decoder->memory += *kernel ? sizeof(**kernel) : 0;
	return *kernel;
}

/* The bit map of the lines that changed, with a mask of words for each. */
struct changed {
	const uint8_t *bits;
	size_t bytes;
	const uint8_t *masks;
	struct mt_cursor words; /* what is stored */
};

/* Which words of its line number `line` a dump has. */
static unsigned words_in_line(uint64_t address, size_t size, size_t line)
{
	size_t first = line ? 0 : address % LINE / 8;
	size_t end = (address % LINE + size - line * LINE) / 8;

	return 0xffu >> (WORDS - (end < WORDS ? end : WORDS)) & 0xffu << first;
}

/* Few are set, and not every processor counts them. */
static size_t count_bits(const uint8_t *bits, size_t bytes)
{
	size_t count = 0;

	for (size_t i = 0; i < bytes; i++) {
		for (unsigned set = bits[i]; set; set &= set - 1)
			count++;
	}
	return count;
}

/* Whether each mask names words that the dump has, and those are all that is stored. */
static bool words_agree(uint64_t address, size_t size, const struct changed *changed)
{
	const uint8_t *mask = changed->masks;
	size_t stored = 0;

	for (size_t i = 0; i < changed->bytes; i++) {
		for (unsigned set = changed->bits[i]; set; set &= set - 1, mask++) {
			size_t line = 8 * i + (size_t)__builtin_ctz(set);

			if (!*mask || *mask & ~words_in_line(address, size, line))
				return false;
			stored += count_bits(mask, 1);
		}
	}
	return 8 * stored == mt_cursor_left(&changed->words);
}

/* Takes in the lines that changed, where words_agree(). */
static void patch_lines(struct image *image, uint64_t address, const struct changed *changed)
{
	const uint8_t *mask = changed->masks, *word = changed->words.pos;

	for (size_t i = 0; i < changed->bytes; i++) {
		for (unsigned set = changed->bits[i]; set; set &= set - 1, mask++) {
			size_t line = 8 * i + (size_t)__builtin_ctz(set);
			uint64_t *to = image->lines[(address / LINE + line) % LINES];

			for (unsigned named = *mask; named; named &= named - 1, word += 8)
				to[__builtin_ctz(named)] = mt_get_le64(word);
		}
	}
}

/* Neighbouring lines are neighbours in the image, up to where it begins again. */
static void copy_dump(const struct image *image, uint64_t address, uint8_t *out, size_t size)
{
	const uint8_t *bytes = (const uint8_t *)image->lines;
	size_t from = address % (LINE * LINES), head = LINE * LINES - from;

	if (head > size)
		head = size;
	memcpy(out, bytes + from, head);
	memcpy(out + head, bytes, size - head);
}

/* Whether a dump of that size may stand there, with no line changed but those that it has. */
static bool lines_fit(uint64_t address, size_t size, const struct changed *changed)
{
	size_t lines = line_count(address, size), bitmap = (lines + 7) / 8;

	if (!size || size > MT_STACK_DUMP_MAX || size % 8 || address % 8 ||
	    past_the_end(address, size) || changed->bytes > bitmap)
		return false;
	if (changed->bytes == bitmap && lines % 8 && changed->bits[bitmap - 1] >> lines % 8)
		return false;
	return words_agree(address, size, changed);
}

/* A dump that lines_fit(). */
static bool decode_lines(struct mt_stack_decoder *decoder, uint32_t slot, uint64_t address,
			 const struct changed *changed, uint8_t *out, size_t size)
{
	struct image *image = decoder_image(decoder, slot);

	if (!image)
		return false;
	touch_lines(image, address, line_count(address, size));
	patch_lines(image, address, changed);
	copy_dump(image, address, out, size);
	return true;
}

/* The bit map and the masks that follow it, what fills them up to a multiple of 8, and the words.
 */
static bool take_changed(struct mt_cursor *in, const uint8_t *start, size_t bitmap,
			 struct changed *out)
{
	size_t at;

	out->bytes = bitmap;
	out->bits = mt_cursor_bytes(in, bitmap);
	if (in->bad)
		return false;
	out->masks = mt_cursor_bytes(in, count_bits(out->bits, bitmap));
	at = (size_t)(in->pos - start);
	mt_cursor_bytes(in, mt_align8(at) - at);
	out->words = *in;
	return !in->bad;
}

bool mt_stack_decode(struct mt_stack_decoder *decoder, const uint8_t *coded, size_t coded_size,
		     uint8_t *out, size_t size)
{
	struct mt_cursor in = mt_cursor_init(coded, coded_size);
	uint32_t slot = mt_cursor_u32(&in);
	uint64_t address = (mt_cursor_u32(&in), mt_cursor_u64(&in));
	struct changed changed;

	return take_changed(&in, coded, (line_count(address, size) + 7) / 8, &changed) &&
	       lines_fit(address, size, &changed) &&
	       decode_lines(decoder, slot, address, &changed, out, size);
}

bool mt_packed_head_get(const uint8_t *body, size_t size, struct mt_packed_head *out)
{
	struct mt_cursor in = mt_cursor_init(body, size);

	out->event = mt_cursor_u32(&in);
	out->words = mt_cursor_u16(&in);
	out->tail = mt_cursor_u16(&in);
	out->slot = mt_cursor_u16(&in);
	out->sp = mt_cursor_u16(&in);
	out->lines = mt_cursor_u8(&in);
	if (in.bad || out->words < MT_KERNEL_WORDS_MIN || out->words > MT_KERNEL_WORDS_MAX ||
	    out->slot >= MT_STACK_SLOTS_MAX)
		return false;
	if (!out->tail)
		return !out->sp && !out->lines;
	return out->tail <= out->words - 2 && out->sp && out->sp <= out->words - out->tail;
}

/* No bit is set behind that of the last word. */
static bool mask_fits(const uint8_t *mask, size_t words)
{
	return !(words % 8) || !(mask[words / 8] >> words % 8);
}

/* A PACKED record, taken apart. */
struct packed {
	struct mt_packed_head head;
	const uint8_t *mask;	/* of the kernel's words */
	struct changed changed; /* its words: the kernel's, and behind them the dump's */
};

static bool take_apart(const uint8_t *body, size_t size, struct packed *out)
{
	struct mt_cursor in = mt_cursor_init(body, size);

	if (!mt_packed_head_get(body, size, &out->head))
		return false;
	mt_cursor_bytes(&in, MT_PACKED_HEAD_SIZE);
	out->mask = mt_cursor_bytes(&in, ((size_t)out->head.words + 7) / 8);
	return out->mask && mask_fits(out->mask, out->head.words) &&
	       take_changed(&in, body, out->head.lines, &out->changed);
}

/* Where a dump stood and how large it was, as the kernel's words have it. */
static uint64_t dump_size(const struct mt_packed_head *head, const uint8_t *kernel)
{
	return head->tail ? mt_get_le64(kernel + 8u * (size_t)(head->words - head->tail)) : 0;
}

static uint64_t dump_address(const struct mt_packed_head *head, const uint8_t *kernel)
{
	return mt_get_le64(kernel + 8u * (size_t)(head->words - head->tail - head->sp));
}

bool mt_stack_unpack_kernel(struct mt_stack_decoder *decoder, uint64_t time, const uint8_t *body,
			    size_t size, uint8_t *out, size_t *out_size, size_t *dump)
{
	struct mt_kernel_references *references;
	struct mt_kernel_words words;
	struct packed packed;
	uint64_t dumped;

	if (!take_apart(body, size, &packed))
		return false;
	references = decoder_kernel(decoder, packed.head.slot);
	if (!references)
		return false;
	words = mt_kernel_words_begin(references, packed.head.words, time);
	if (!mt_kernel_words_decode(&words, packed.mask, &packed.changed.words, out))
		return false;
	dumped = dump_size(&packed.head, out);
	if (dumped ? dumped > MT_STACK_DUMP_MAX || !lines_fit(dump_address(&packed.head, out),
							      (size_t)dumped, &packed.changed)
		   : packed.changed.bytes || mt_cursor_left(&packed.changed.words))
		return false;
	*out_size = 8u * (size_t)packed.head.words;
	*dump = (size_t)dumped;
	return true;
}

bool mt_stack_unpack_dump(struct mt_stack_decoder *decoder, const uint8_t *body, size_t size,
			  const uint8_t *kernel, uint8_t *out, bool *any)
{
	struct packed packed;
	size_t dumped;

	if (!take_apart(body, size, &packed))
		return false;
	dumped = (size_t)dump_size(&packed.head, kernel);
	mt_cursor_bytes(&packed.changed.words,
			8 * count_bits(packed.mask, ((size_t)packed.head.words + 7) / 8));
	*any = dumped;
	return !dumped ||
	       decode_lines(decoder, packed.head.slot, dump_address(&packed.head, kernel),
			    &packed.changed, out, dumped);
}

bool mt_stack_decoder_reserve(struct mt_stack_decoder *decoder, const uint8_t *body, size_t size)
{
	struct mt_packed_head head;

	return mt_packed_head_get(body, size, &head) && decoder_image(decoder, head.slot);
}

bool mt_stack_unpack(struct mt_stack_decoder *decoder, uint64_t time, const uint8_t *body,
		     size_t size, uint8_t *out, size_t *out_size)
{
	size_t kernel, dump;
	bool any;

	if (!mt_stack_unpack_kernel(decoder, time, body, size, out, &kernel, &dump) ||
	    (dump && !mt_stack_unpack_dump(decoder, body, size, out, out + kernel, &any)))
		return false;
	*out_size = kernel + dump;
	return true;
}

bool mt_packed_word(const uint8_t *body, size_t size, size_t index, uint64_t *word)
{
	struct packed packed;
	size_t before;

	if (!take_apart(body, size, &packed) || index >= packed.head.words ||
	    !(packed.mask[index / 8] >> index % 8 & 1))
		return false;
	before = count_bits(packed.mask, index / 8) +
		 (size_t)__builtin_popcount(packed.mask[index / 8] & ((1u << index % 8) - 1));
	mt_cursor_bytes(&packed.changed.words, 8 * before);
	*word = mt_cursor_u64(&packed.changed.words);
	return !packed.changed.words.bad;
}

const uint8_t *mt_packed_words(const uint8_t *body, size_t size, size_t registers, size_t *bytes)
{
	struct packed packed;
	size_t words, left_out;

	if (!take_apart(body, size, &packed))
		return NULL;
	words = packed.head.words;
	left_out = packed.head.tail && registers ? packed.head.tail + registers + 1 : 0;
	words -= left_out < words ? left_out : words;
	*bytes = 8 * count_bits(packed.mask, words / 8);
	if (words % 8)
		*bytes += 8 * (size_t)__builtin_popcount(packed.mask[words / 8] &
							 ((1u << words % 8) - 1));
	return mt_cursor_bytes(&packed.changed.words, *bytes);
}
