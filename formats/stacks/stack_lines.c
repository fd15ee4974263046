/*
 * The variants of the line coder: portable, and 32 bytes at a time. stack_encoder.c
 * assembles their output.
 */
#include "formats/stacks/stack_lines.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <stdbool.h>
#include <string.h>

#include "formats/base/cpu.h"
#include "formats/stacks/stack_image.h"

/*
 * Finds the words of a line that differ from the image, copies them to the image and, packed, to
 * *words. The dump has the words `first` to `last` of the line. There is no branch per word: on
 * stacks full of random words, half of the branches would be mispredicted. One word past the end of
 * *words is overwritten.
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
	uint64_t difference = 0, words[MT_STACK_WORDS];

	memcpy(words, dump, MT_STACK_LINE);
	for (unsigned i = 0; i < MT_STACK_WORDS; i++)
		difference |= words[i] ^ line[i];
	return !difference;
}

static inline void note_line(struct mt_stack_coding *coding, unsigned mask)
{
	if (!mask)
		return;
	coding->bits[coding->line / 8] |= (uint8_t)(1u << coding->line % 8);
	*coding->masks++ = (uint8_t)mask;
}

/* The words of a line that only partly belongs to the dump. */
static void code_part(struct mt_stack_coding *coding, unsigned first, unsigned last)
{
	uint64_t *line = mt_stack_image_line(coding->image, coding->address);

	note_line(coding, code_words(line, coding->dump, first, last, &coding->words));
	coding->line++;
	coding->address += 8 * (last - first);
	coding->dump += 8 * (last - first);
}

static void code_lines_portable(struct mt_stack_coding *coding, size_t lines)
{
	for (; lines; lines--, coding->line++, coding->address += MT_STACK_LINE,
		      coding->dump += MT_STACK_LINE) {
		uint64_t *line = mt_stack_image_line(coding->image, coding->address);

		if (!same_line(line, coding->dump))
			note_line(coding, code_words(line, coding->dump, 0, MT_STACK_WORDS,
						     &coding->words));
	}
}

#ifdef __x86_64__
#define WORD(i) 2 * (i), 2 * (i) + 1

/* Permutations that move the words whose bit is set to the front. */
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
 * Bytes to prefetch: the record was written on another CPU, and the hardware prefetcher stops at
 * each page. The prefetch is limited to valid memory, because nothing may follow the dump.
 */
#define AHEAD 1536

/* Packs the four words at *words: keeps the words that the mask names. */
__attribute__((target("avx2,popcnt"))) static inline uint8_t *pack_half(uint8_t *words,
									__m256i half, unsigned mask)
{
	__m256i order = _mm256_loadu_si256((const __m256i *)(const void *)packed_order[mask]);

	_mm256_storeu_si256((__m256i *)(void *)words, _mm256_permutevar8x32_epi32(half, order));
	return words + 8 * __builtin_popcount(mask);
}

/* The same, 32 bytes at a time. Writes past the end stay within the line's 64 bytes. */
__attribute__((target("avx2,popcnt"))) static void code_lines_avx2(struct mt_stack_coding *coding,
								   size_t lines)
{
	struct mt_stack_coding c = *coding; /* a copy: no store through a pointer changes it */

	for (; lines; lines--, c.line++, c.address += MT_STACK_LINE, c.dump += MT_STACK_LINE) {
		_mm_prefetch((const char *)c.dump + AHEAD, _MM_HINT_T0);
		__m256i *line = (__m256i *)(void *)mt_stack_image_line(c.image, c.address);
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
#endif

mt_stack_lines_coder *mt_stack_lines_coder_for(bool portable)
{
#ifdef __x86_64__
	if (!portable && mt_cpu_has(AVX2, "avx2"))
		return code_lines_avx2;
#endif
	(void)portable;
	return code_lines_portable;
}

void mt_stack_code_dump(mt_stack_lines_coder *code_lines, struct mt_stack_coding *coding,
			size_t size)
{
	unsigned first = (unsigned)(coding->address % MT_STACK_LINE / 8);
	size_t left = size / 8;

	if (first) {
		unsigned last =
			first + left < MT_STACK_WORDS ? first + (unsigned)left : MT_STACK_WORDS;

		code_part(coding, first, last);
		left -= last - first;
	}
	code_lines(coding, left / MT_STACK_WORDS);
	if (left % MT_STACK_WORDS)
		code_part(coding, 0, left % MT_STACK_WORDS);
}
