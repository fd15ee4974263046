/*
 * Memory that allocators have mapped, by process: compares live blocks with the mapped regions that
 * contain them. Blocks and regions are taken when a process or the recording ends, in either order.
 */
#ifndef MT_REPORT_VERDICTS_HEAPS_H
#define MT_REPORT_VERDICTS_HEAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_block_map;
struct mt_blocks_space;
struct mt_extent;
struct mt_heap_parts;
struct mt_heaps;
struct mt_ledger_space;

/* The caller destroys it. */
struct mt_heaps *mt_heaps_create(void);
void mt_heaps_destroy(struct mt_heaps *heaps);

/* Takes all live blocks of a space, with the caller's number of the space. */
void mt_heaps_take_blocks(struct mt_heaps *heaps, const struct mt_blocks_space *space,
			  uint32_t number, const struct mt_block_map *map);

/* The callbacks of struct mt_verdicts_regions; their context is the heaps. */
void mt_heaps_take_region(void *heaps, const struct mt_ledger_space *space,
			  const struct mt_extent *region, bool is_heap, bool is_older,
			  double touched);
void mt_heaps_take_end(void *heaps, const struct mt_ledger_space *space);

/* Calls `deliver` for each space with both blocks and regions. */
void mt_heaps_each(const struct mt_heaps *heaps,
		   void (*deliver)(void *context, uint32_t number,
				   const struct mt_heap_parts *heap),
		   void *context);

#endif
