/*
 * As in kernel_lines.c, what lies in a gap between two addresses matters by its first and its last
 * line alone. A block within one gap has them only if none has lower ones, or higher ones; one with
 * an address amid it is always wanted.
 */
#include "symbols/kernel_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "symbols/kernel_lines.h"

/* From behind an address up to the next one: what the blocks within it have. */
struct gap {
	uint64_t first, last;
};

struct mt_kernel_block mt_kernel_block_of(const char *text, size_t size, size_t most)
{
	struct mt_kernel_block block = {0};

	for (size_t at = 0, length; at < size; at += length) {
		const char *newline = memchr(text + at, '\n', size - at);
		uint64_t start;

		length = newline ? (size_t)(newline - text) + 1 - at : size - at;
		if (block.size && at + length > most)
			break;
		block.size = (uint32_t)(at + length);
		start = mt_kernel_line_start(text + at, length);
		if (!start)
			continue;
		block.first = !block.first || start < block.first ? start : block.first;
		block.last = start > block.last ? start : block.last;
	}
	return block;
}

/* The gap that the block is within; false where there is an address amid it. */
static bool find_gap(const struct mt_kernel_block *block, const uint64_t *addresses, size_t count,
		     size_t *out)
{
	*out = mt_array_split(count, at, addresses[at] < block->first);
	return *out == count || addresses[*out] >= block->last;
}

bool mt_kernel_blocks_choose(const struct mt_kernel_block *blocks, size_t count,
			     const uint64_t *addresses, size_t address_count, bool *chosen)
{
	MT_CLEANUP_FREE struct gap *gaps = calloc(address_count + 1, sizeof(*gaps));
	size_t gap;

	if (!gaps)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct gap *in;

		chosen[i] = blocks[i].last && !find_gap(&blocks[i], addresses, address_count, &gap);
		if (!blocks[i].last || chosen[i])
			continue;
		in = &gaps[gap];
		in->first = !in->first || blocks[i].first < in->first ? blocks[i].first : in->first;
		in->last = blocks[i].last > in->last ? blocks[i].last : in->last;
	}
	for (size_t i = 0; i < count; i++) {
		if (!blocks[i].last || !find_gap(&blocks[i], addresses, address_count, &gap))
			continue;
		chosen[i] = blocks[i].first == gaps[gap].first || blocks[i].last == gaps[gap].last;
	}
	return true;
}
