/*
 * Keeps the previous sequence of words, to find how many words at the end it has in common with the
 * next one. Consecutive stacks mostly share their outer frames. The words are kept at the end of
 * the buffer, so that shared words need not be copied again.
 */
#ifndef MT_FORMATS_BASE_TAIL_H
#define MT_FORMATS_BASE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/memory.h"

/* An all-zero tail is empty. */
struct mt_tail {
	uint64_t *words; /* the last `count` words of `capacity` are valid */
	size_t count, capacity;
};

/* Number of words that two sequences have in common at their ends, at most `most`. */
static inline size_t mt_tail_common(const uint64_t *a_end, const uint64_t *b_end, size_t most)
{
	size_t n = 0;

	for (; n + 4 <= most; n += 4) {
		const uint64_t *a = a_end - n - 4, *b = b_end - n - 4;

		if ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]))
			break;
	}
	while (n < most && a_end[-1 - (ptrdiff_t)n] == b_end[-1 - (ptrdiff_t)n])
		n++;
	return n;
}

/*
 * Reserves room for `count` words; allocates even if count is 0. If the buffer grows, the tail
 * becomes empty. False out of memory.
 */
static inline bool mt_tail_reserve(struct mt_tail *tail, size_t count)
{
	size_t capacity = tail->capacity ? tail->capacity : 64;
	uint64_t *words;

	if (tail->words && count <= tail->capacity)
		return true;
	while (capacity < count)
		capacity *= 2;
	words = mt_alloc(capacity, sizeof(*words));
	if (!words)
		return false;
	free(tail->words);
	*tail = (struct mt_tail){.words = words, .capacity = capacity};
	return true;
}

/*
 * Replaces the sequence with another one, for which room was reserved. Returns how many words the
 * two have in common at their ends, at most `most`.
 */
static inline size_t mt_tail_take(struct mt_tail *tail, const uint64_t *words, size_t count,
				  size_t most)
{
	uint64_t *end = tail->words + tail->capacity;
	size_t common;

	most = most < tail->count ? most : tail->count;
	common = mt_tail_common(words + count, end, most < count ? most : count);
	if (count > common)
		memcpy(end - count, words, (count - common) * sizeof(*words));
	tail->count = count;
	return common;
}

static inline void mt_tail_deinit(struct mt_tail *tail)
{
	free(tail->words);
	*tail = (struct mt_tail){0};
}

#endif
