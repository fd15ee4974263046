/*
 * A long text of the kernel's symbols in blocks of whole lines, of which the least and the largest
 * address are known: so that those blocks alone are read that have lines which are wanted.
 */
#ifndef MT_SYMBOLS_KERNEL_BLOCKS_H
#define MT_SYMBOLS_KERNEL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_kernel_block {
	uint64_t first, last; /* addresses of functions in its lines; 0: there are none */
	uint32_t size;
	uint32_t crc; /* as whoever keeps them likes */
};

/*
 * The block that a text begins with: as many of its lines as are no more than so many bytes, but
 * one at least.
 */
struct mt_kernel_block mt_kernel_block_of(const char *text, size_t size, size_t most);

/*
 * Says of each block whether lines of it may be among those that struct mt_kernel_lines would keep
 * of all, for these addresses, which rise: it does the same with the text of these blocks alone.
 * False out of memory.
 */
bool mt_kernel_blocks_choose(const struct mt_kernel_block *blocks, size_t count,
			     const uint64_t *addresses, size_t address_count, bool *chosen);

#endif
