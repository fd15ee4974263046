/* Binary search among places. */
#include "symbols/carried/seen_code.h"

#include "formats/base/array.h"

size_t mt_seen_code_before(const struct mt_seen_code *seen, uint64_t address)
{
	return mt_array_split(seen->count, at, seen->units[at] + MT_SEEN_UNIT <= address);
}

bool mt_seen_code_within(const struct mt_seen_code *seen, uint64_t start, uint64_t end)
{
	size_t first = mt_seen_code_before(seen, start);

	return start < end && first < seen->count && seen->units[first] < end;
}
