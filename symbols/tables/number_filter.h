/*
 * A Bloom filter with one hash in front of a set of numbers, for lookups that mostly miss: one in
 * MT_FILTER_SPARE misses passes.
 */
#ifndef MT_SYMBOLS_TABLES_NUMBER_FILTER_H
#define MT_SYMBOLS_TABLES_NUMBER_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MT_FILTER_SPARE_BITS 6
#define MT_FILTER_SPARE (1 << MT_FILTER_SPARE_BITS)

/* An all-zero filter must not be queried. */
struct mt_number_filter {
	uint64_t *bits;
	unsigned int shift;
};

/* False out of memory. */
bool mt_number_filter_init(struct mt_number_filter *filter, const uint64_t *numbers, size_t count);
void mt_number_filter_deinit(struct mt_number_filter *filter);

/* False: the number is not in the set. */
static inline bool mt_number_filter_may_have(const struct mt_number_filter *filter, uint64_t number)
{
	uint64_t bit = number * UINT64_C(0x9e3779b97f4a7c15) >> filter->shift;

	return filter->bits[bit / 64] >> bit % 64 & 1;
}

#endif
