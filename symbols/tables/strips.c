/*
 * Ranges are put into buckets by their start, each a list of numbers. A strip begins at a bucket
 * that no earlier range reaches.
 */
#include "symbols/tables/strips.h"

#include <stdlib.h>

#include "formats/base/array.h"

enum {
	PER_BUCKET = 8, /* ranges, about */
	BUCKETS_MAX = 1 << 16,
};

struct bucket {
	uint64_t low;	/* the lowest start; 0 where there is none */
	uint64_t reach; /* the highest end */
	uint32_t first; /* number + 1 of the range added last; 0: none */
	uint32_t strip; /* bucket that its strip begins with */
};

struct mt_strips {
	uint64_t base;
	unsigned int shift; /* of an offset from base to a bucket */
	uint32_t bucket_count;
	struct bucket *buckets;
	uint32_t *next; /* by number: number + 1 of the one added before it in the bucket, or 0 */
};

struct mt_strips *mt_strips_create(uint64_t low, uint64_t high, uint32_t count)
{
	struct mt_strips *strips = calloc(1, sizeof(*strips));
	uint64_t span = high > low ? high - low : 0;
	uint32_t want = count / PER_BUCKET < BUCKETS_MAX ? count / PER_BUCKET : BUCKETS_MAX;

	if (!strips)
		return NULL;
	strips->base = low;
	while (strips->shift < 63 && span >> strips->shift > want)
		strips->shift++;
	strips->bucket_count = (uint32_t)(span >> strips->shift) + 1;
	strips->buckets = calloc(strips->bucket_count, sizeof(*strips->buckets));
	strips->next = malloc(((size_t)count + 1) * sizeof(*strips->next));
	if (!strips->buckets || !strips->next) {
		mt_strips_destroy(strips);
		return NULL;
	}
	return strips;
}

void mt_strips_destroy(struct mt_strips *strips)
{
	if (!strips)
		return;
	free(strips->buckets);
	free(strips->next);
	free(strips);
}

static uint32_t bucket_of(const struct mt_strips *strips, uint64_t address)
{
	uint64_t offset = address > strips->base ? address - strips->base : 0;
	uint64_t bucket = offset >> strips->shift;

	return bucket < strips->bucket_count ? (uint32_t)bucket : strips->bucket_count - 1;
}

void mt_strips_add(struct mt_strips *strips, uint32_t number, uint64_t start, uint64_t end)
{
	struct bucket *bucket = &strips->buckets[bucket_of(strips, start)];

	if (!bucket->first || start < bucket->low)
		bucket->low = start;
	if (end > start && end > bucket->reach)
		bucket->reach = end;
	strips->next[number] = bucket->first;
	bucket->first = number + 1;
}

/* A range that ends where the next starts does not reach into a bucket that one starts in. */
void mt_strips_finish(struct mt_strips *strips)
{
	uint64_t reach = 0;
	uint32_t strip = 0;

	for (uint32_t i = 0; i < strips->bucket_count; i++) {
		struct bucket *bucket = &strips->buckets[i];

		if (bucket->first && reach <= bucket->low)
			strip = i;
		bucket->strip = strip;
		reach = bucket->reach > reach ? bucket->reach : reach;
	}
}

uint32_t mt_strips_find(const struct mt_strips *strips, uint64_t address)
{
	uint32_t i = bucket_of(strips, address);

	i -= i && address < strips->buckets[i].low;
	return strips->buckets[i].strip;
}

bool mt_strips_list(const struct mt_strips *strips, uint32_t strip, struct mt_strip *out)
{
	uint32_t i = strip;

	out->count = 0;
	for (; i < strips->bucket_count && strips->buckets[i].strip == strip; i++) {
		for (uint32_t at = strips->buckets[i].first; at; at = strips->next[at - 1]) {
			if (!mt_array_grow((void **)&out->numbers, &out->capacity, out->count + 1,
					   sizeof(*out->numbers)))
				return false;
			out->numbers[out->count++] = at - 1;
		}
	}
	out->last = i == strips->bucket_count;
	out->next = out->last ? 0 : strips->buckets[i].low;
	return true;
}

void mt_strip_deinit(struct mt_strip *strip)
{
	free(strip->numbers);
	*strip = (struct mt_strip){0};
}
