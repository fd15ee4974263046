/* One to two words of bits for each number. */
#include "symbols/tables/number_filter.h"

#include <stdlib.h>

#define BITS_MOST 26

bool mt_number_filter_init(struct mt_number_filter *filter, const uint64_t *numbers, size_t count)
{
	unsigned int bits = MT_FILTER_SPARE_BITS;

	while (bits < BITS_MOST && count >> (bits - MT_FILTER_SPARE_BITS))
		bits++;
	filter->shift = 64 - bits;
	filter->bits = calloc((size_t)1 << (bits - MT_FILTER_SPARE_BITS), sizeof(*filter->bits));
	if (!filter->bits)
		return false;
	for (size_t i = 0; i < count; i++) {
		uint64_t bit = numbers[i] * UINT64_C(0x9e3779b97f4a7c15) >> filter->shift;

		filter->bits[bit / 64] |= UINT64_C(1) << bit % 64;
	}
	return true;
}

void mt_number_filter_deinit(struct mt_number_filter *filter)
{
	free(filter->bits);
	*filter = (struct mt_number_filter){0};
}
