/*
 * Encoder and decoder walk the same ranges of words: up to the instruction pointer, the remainder
 * of the head, the middle words, which have no reference, and the tail.
 */
#include "formats/stacks/kernel_words.h"

#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cursor.h"

#define HEAD 8 /* words remembered from the start; the others from the end */
#define TAIL (MT_KERNEL_REFERENCE_WORDS - HEAD)
#define IP 2 /* the word with the instruction pointer, after header and identifier */

/* Consecutive words of the sample and of its reference. */
struct run {
	uint64_t *reference; /* NULL: these words have no reference */
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
	/* a reference time of 0 means none: then no word is expected to be the time */
	words.time_was = reference->time;
	words.time = reference->time ? time : 0;
	reference->time = time;
	words.ip = words.ip_was = reference->words[IP];
	return words;
}

/* The run that begins with the next word; none after the last one. */
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

/* Without branches, as code_words() in stack_lines.c. */
static uint8_t *encode_run(const struct mt_kernel_words *state, uint64_t *reference,
			   const uint8_t *from, size_t count, uint8_t *mask, uint8_t *stored)
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

uint8_t *mt_kernel_words_encode(struct mt_kernel_words *words, const uint8_t *from, size_t count,
				uint8_t *mask, uint8_t *stored)
{
	while (count) {
		struct run run = next_run(words);

		if (run.count > count)
			run.count = count;
		stored = encode_run(words, run.reference, from, run.count, mask, stored);
		step(words, run.count);
		from += 8 * run.count;
		count -= run.count;
	}
	return stored;
}

/* Decodes the words of a run. Few words are stored, so the processor predicts the branch well. */
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
