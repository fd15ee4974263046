/*
 * Fast search in sorted numbers, for hundreds of thousands of lookups: the range is cut into spans
 * of about one number, each with the count of numbers below it.
 */
#ifndef MT_SYMBOLS_TABLES_NUMBER_INDEX_H
#define MT_SYMBOLS_TABLES_NUMBER_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_number_index {
	const uint64_t *items; /* ascending, possibly with duplicates; borrowed */
	size_t count;
	uint32_t *below; /* numbers below each span; spans have 1 << shift values */
	unsigned int shift;
};

/* At most 2^32 - 1 numbers, possibly none. False out of memory. */
bool mt_number_index_init(struct mt_number_index *index, const uint64_t *items, size_t count);
void mt_number_index_deinit(struct mt_number_index *index);

/* Count of numbers less than `number`. */
static inline size_t mt_number_index_less(const struct mt_number_index *index, uint64_t number)
{
	size_t low, span;

	if (!index->count || number <= index->items[0])
		return 0;
	if (number > index->items[index->count - 1])
		return index->count;
	span = (size_t)((number - index->items[0]) >> index->shift);
	low = index->below[span];
	return low +
	       mt_array_split(index->below[span + 1] - low, at, index->items[low + at] < number);
}

static inline bool mt_number_index_has(const struct mt_number_index *index, uint64_t number)
{
	size_t at = mt_number_index_less(index, number);

	return at < index->count && index->items[at] == number;
}

#endif
