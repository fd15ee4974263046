/* Spans hold at most one number on average, so that a lookup takes few steps. */
#include "symbols/tables/number_index.h"

#include <stdlib.h>

bool mt_number_index_init(struct mt_number_index *index, const uint64_t *items, size_t count)
{
	uint64_t size = count ? items[count - 1] - items[0] : 0;
	size_t spans, at = 0;

	*index = (struct mt_number_index){.items = items, .count = count};
	if (!count)
		return true;
	while (size >> index->shift >= count)
		index->shift++;
	spans = (size_t)(size >> index->shift) + 1;
	index->below = malloc((spans + 1) * sizeof(*index->below));
	if (!index->below)
		return false;
	for (size_t i = 0; i < spans; i++) {
		while (at < count && (items[at] - items[0]) >> index->shift < i)
			at++;
		index->below[i] = (uint32_t)at;
	}
	index->below[spans] = (uint32_t)count;
	return true;
}

void mt_number_index_deinit(struct mt_number_index *index)
{
	free(index->below);
	*index = (struct mt_number_index){0};
}
