/*
 * Encoder and decoder walk the same ranges of words: up to the instruction pointer, the remainder
 * of the head, words that no reference has, and the tail.
 */
#include "formats/stacks/kernel_words.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cpu.h"
#include "formats/base/cursor.h"

#define HEAD 8 /* words remembered from the start; the others from the end */
#define TAIL (MT_KERNEL_REFERENCE_WORDS - HEAD)
#define IP 2 /* the word that holds the instruction pointer, behind header and identifier */

/* Words that follow one another in the sample and in its reference. */
struct run {
	uint64_t *reference; /* NULL: nothing is remembered */
	size_t count;
};

struct mt_kernel_words mt_kernel_words_begin(struct mt_kernel_references *references, size_t count,
					     uint64_t time)
{
	size_t number = count % MT_KERNEL_REFERENCES;
	struct mt_kernel_reference *reference = &references->of[number];
	struct mt_kernel_words words = {.reference = reference, .count = count};

	if (!(references->used >> number & 1)) {
		references->used |= 1ull << number;
		memset(reference, 0, sizeof(*reference));
	}
	/* 0 was in no place: where it is the reference, nothing else is expected */
	words.time_was = reference->time;
	words.time = reference->time ? time : 0;
	reference->time = time;
	words.ip = words.ip_was = reference->words[IP];
	return words;
}

/* The run that begins with the next word; none behind the last. */
static struct run next_run(const struct mt_kernel_words *words)
{
	uint64_t *reference = words->reference->words;
	size_t next = words->next, left = words->count - next;

	if (next <= IP)
		return (struct run){reference + next, IP + 1 - next};
	if (next < HEAD)
		return (struct run){reference + next, left < HEAD - next ? left : HEAD - next};
	if (left > TAIL)
		return (struct run){NULL, left - TAIL};
	return (struct run){reference + MT_KERNEL_REFERENCE_WORDS - left, left};
}

static void step(struct mt_kernel_words *words, size_t count)
{
	words->next += count;
	if (words->next == IP + 1)
		words->ip = words->ip_was ? words->reference->words[IP] : 0;
}

static inline uint64_t expected(const struct mt_kernel_words *words, uint64_t reference)
{
	uint64_t word = reference == words->ip_was ? words->ip : reference;

	return reference == words->time_was ? words->time : word;
}

/* Without a branch a word, as code_words() in stack_lines.c. */
static uint8_t *encode_run_portable(const struct mt_kernel_words *state, uint64_t *reference,
				    const uint8_t *from, size_t count, uint8_t *mask,
				    uint8_t *stored)
{
	const struct mt_kernel_words words = *state;
	size_t at = words.next, end = at + count;
	uint64_t unremembered = 0, *known = reference ? reference : &unremembered;

	for (; at < end; at++, from += 8) {
		uint64_t word, differs;

		memcpy(&word, from, 8);
		differs = word != expected(&words, *known);
		memcpy(stored, &word, 8);
		stored += 8 * differs;
		mask[at / 8] |= (uint8_t)(differs << at % 8);
		*known = reference ? word : 0;
		known += reference != NULL;
	}
	return stored;
}

#ifdef __x86_64__
/* The bits of up to eight words, which begin anywhere in a byte. */
static inline void put_bits(uint8_t *mask, size_t at, unsigned bits)
{
	mask[at / 8] |= (uint8_t)(bits << at % 8);
	if (bits >> (8 - at % 8))
		mask[at / 8 + 1] |= (uint8_t)(bits >> (8 - at % 8));
}

/* Eight words at a time; packed and stored whole, as code_lines_avx512() in stack_lines.c. */
__attribute__((target("avx512f,popcnt"))) static uint8_t *encode_run_avx512(
	const struct mt_kernel_words *state, uint64_t *reference, const uint8_t *from, size_t count,
	uint8_t *mask, uint8_t *stored)
{
	const __m512i time = _mm512_set1_epi64((long long)state->time);
	const __m512i time_was = _mm512_set1_epi64((long long)state->time_was);
	const __m512i ip = _mm512_set1_epi64((long long)state->ip);
	const __m512i ip_was = _mm512_set1_epi64((long long)state->ip_was);

	if (!reference)
		return encode_run_portable(state, reference, from, count, mask, stored);
	for (size_t i = 0; i < count; i += 8) {
		__mmask8 there = (__mmask8)(count - i >= 8 ? 0xff : (1u << (count - i)) - 1);
		__m512i words = _mm512_maskz_loadu_epi64(there, from + 8 * i);
		__m512i known = _mm512_maskz_loadu_epi64(there, reference + i), expected;
		__mmask8 differs;

		expected = _mm512_mask_mov_epi64(known, _mm512_cmpeq_epi64_mask(known, ip_was), ip);
		expected = _mm512_mask_mov_epi64(expected, _mm512_cmpeq_epi64_mask(known, time_was),
						 time);
		_mm512_mask_storeu_epi64(reference + i, there, words);
		differs = _mm512_mask_cmpneq_epi64_mask(there, words, expected);
		_mm512_storeu_si512(stored, _mm512_maskz_compress_epi64(differs, words));
		stored += 8 * __builtin_popcount(differs);
		put_bits(mask, state->next + i, differs);
	}
	return stored;
}
#endif

mt_kernel_run_coder *mt_kernel_run_coder_for(unsigned bits)
{
#ifdef __x86_64__
	if (bits >= 512 && mt_cpu_has(AVX512_VBMI2, "avx512vbmi2"))
		return encode_run_avx512;
#endif
	(void)bits;
	return encode_run_portable;
}

uint8_t *mt_kernel_words_encode(mt_kernel_run_coder *code_run, struct mt_kernel_words *words,
				const uint8_t *from, size_t count, uint8_t *mask, uint8_t *stored)
{
	while (count) {
		struct run run = next_run(words);

		if (run.count > count)
			run.count = count;
		stored = code_run(words, run.reference, from, run.count, mask, stored);
		step(words, run.count);
		from += 8 * run.count;
		count -= run.count;
	}
	return stored;
}

/* Words of a run. Few are stored: that is a branch which the processor foresees. */
static void decode_run(const struct mt_kernel_words *state, const struct run *run,
		       const uint8_t *mask, struct mt_cursor *stored, uint8_t *out)
{
	const struct mt_kernel_words words = *state;
	uint64_t unremembered, *known = run->reference ? run->reference : &unremembered;

	for (size_t at = words.next, end = at + run->count; at < end; at++) {
		uint64_t word = expected(&words, run->reference ? *known : 0);

		if (mask[at / 8] >> at % 8 & 1)
			word = mt_cursor_u64(stored);
		mt_put_le64(out + 8 * at, word);
		*known = word;
		known += run->reference != NULL;
	}
}

bool mt_kernel_words_decode(struct mt_kernel_words *words, const uint8_t *mask,
			    struct mt_cursor *stored, uint8_t *out)
{
	while (words->next < words->count) {
		const struct run run = next_run(words);

		decode_run(words, &run, mask, stored, out);
		step(words, run.count);
	}
	return !stored->bad;
}
