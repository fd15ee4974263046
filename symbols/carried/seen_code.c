/* Binary search among places. */
#include "symbols/carried/seen_code.h"

size_t mt_seen_code_before(const struct mt_seen_code *seen, uint64_t address)
{
	size_t low = 0, high = seen->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (seen->units[middle] + MT_SEEN_UNIT <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool mt_seen_code_within(const struct mt_seen_code *seen, uint64_t start, uint64_t end)
{
	size_t first = mt_seen_code_before(seen, start);

	return start < end && first < seen->count && seen->units[first] < end;
}
