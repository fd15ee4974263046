/*
 * Places in an image's code that a recording has addresses of: what of the image its stacks need is
 * what stands around them.
 */
#ifndef MT_SYMBOLS_CARRIED_SEEN_CODE_H
#define MT_SYMBOLS_CARRIED_SEEN_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MT_SEEN_UNIT 16 /* bytes of code that are one place: few hold two functions */

struct mt_seen_code {
	const uint64_t
		*units; /* link-time addresses, multiples of MT_SEEN_UNIT, each once, rising */
	size_t count;
};

/* How many of them end at or below the address. */
size_t mt_seen_code_before(const struct mt_seen_code *seen, uint64_t address);

/* Whether any of them has a byte of [start, end). */
bool mt_seen_code_within(const struct mt_seen_code *seen, uint64_t start, uint64_t end);

#endif
