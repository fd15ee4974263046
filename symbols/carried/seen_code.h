/*
 * Places of an image's code that a recording has addresses in. The stacks of the recording need the
 * functions around these places.
 */
#ifndef MT_SYMBOLS_CARRIED_SEEN_CODE_H
#define MT_SYMBOLS_CARRIED_SEEN_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"

#define MT_SEEN_UNIT 16 /* bytes of code of one place; few places hold two functions */

struct mt_seen_code {
	/* link-time addresses, multiples of MT_SEEN_UNIT, unique, ascending */
	const uint64_t *units;
	size_t count;
};

/* Number of places that end at or below the address. */
static inline size_t mt_seen_code_before(const struct mt_seen_code *seen, uint64_t address)
{
	return mt_array_split(seen->count, at, seen->units[at] + MT_SEEN_UNIT <= address);
}

/* True if a place has a byte of [start, end). */
static inline bool mt_seen_code_within(const struct mt_seen_code *seen, uint64_t start,
				       uint64_t end)
{
	size_t first = mt_seen_code_before(seen, start);

	return start < end && first < seen->count && seen->units[first] < end;
}

#endif
