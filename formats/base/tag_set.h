/*
 * A lossy set of hashes: 32-bit tags, 8-way set-associative, one cache line a lookup. A new tag
 * evicts another one from a full set, so a hash that was put in can be missing. At most one in 268
 * million hashes that were never put in is found.
 */
#ifndef MT_FORMATS_BASE_TAG_SET_H
#define MT_FORMATS_BASE_TAG_SET_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum {
	MT_TAG_WAYS = 8
};

/* An all-zero set has no room: resize it before any other call. */
struct mt_tag_set {
	uint32_t *tags;
	size_t mask;  /* number of sets (places), a power of two, less one */
	size_t count; /* hashes put in, including evicted ones */
};

/*
 * Empties the set and gives it room for `size` hashes, a power of two of at least MT_TAG_WAYS.
 * False out of memory.
 */
static inline bool mt_tag_set_resize(struct mt_tag_set *set, size_t size)
{
	uint32_t *tags = calloc(size, sizeof(*tags));

	if (!tags)
		return false;
	free(set->tags);
	*set = (struct mt_tag_set){.tags = tags, .mask = size / MT_TAG_WAYS - 1};
	return true;
}

static inline void mt_tag_set_deinit(struct mt_tag_set *set)
{
	free(set->tags);
	*set = (struct mt_tag_set){0};
}

/* The tag of a hash. Never 0: a tag of 0 marks a free way. */
static inline uint32_t mt_tag_of(uint64_t hash)
{
	return (uint32_t)hash | 1;
}

static inline uint32_t *mt_tag_set_place(const struct mt_tag_set *set, uint64_t hash)
{
	return set->tags + (hash >> 32 & set->mask) * MT_TAG_WAYS;
}

/* Which ways of a place hold the tag: two bits a way, from the lowest bit on. */
static inline uint32_t mt_tag_set_which(const uint32_t *place, uint32_t tag)
{
#ifdef __SSE2__
	const __m128i *four = (const __m128i *)(const void *)place;
	__m128i wanted = _mm_set1_epi32((int)tag);
	__m128i low = _mm_cmpeq_epi32(_mm_loadu_si128(four), wanted);
	__m128i high = _mm_cmpeq_epi32(_mm_loadu_si128(four + 1), wanted);

	return (uint32_t)_mm_movemask_epi8(_mm_packs_epi32(low, high));
#else
	uint32_t which = 0;

	for (size_t i = 0; i < MT_TAG_WAYS; i++)
		which |= (place[i] == tag ? 3u : 0) << 2 * i;
	return which;
#endif
}

static inline bool mt_tag_set_has(const struct mt_tag_set *set, uint64_t hash)
{
	return mt_tag_set_which(mt_tag_set_place(set, hash), mt_tag_of(hash));
}

/* Adds a hash that is not in the set; in a full place the ways are evicted in turn. */
static inline void mt_tag_set_put(struct mt_tag_set *set, uint64_t hash)
{
	uint32_t *place = mt_tag_set_place(set, hash), room = mt_tag_set_which(place, 0);

	place[room ? (size_t)__builtin_ctz(room) / 2 : set->count % MT_TAG_WAYS] = mt_tag_of(hash);
	set->count++;
}

#endif
