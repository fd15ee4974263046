/*
 * The holder of each page of an address space, as runs of pages with the same holder. Pages are
 * given as numbers: address / 4096, below 2^54. A holder is a number that the caller defines; 0:
 * none. Memory grows with the number of runs, not with their length or distance.
 */
#ifndef MT_REPORT_RESIDENCE_PAGE_MAP_H
#define MT_REPORT_RESIDENCE_PAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_page_leaf;

/* A leaf and the first page of its first run. */
struct mt_page_entry {
	uint64_t first;
	struct mt_page_leaf *leaf;
};

/* A zero-initialized map is empty. */
struct mt_page_map {
	MT_ARRAY(struct mt_page_entry) leaves; /* in ascending order, none empty */
};

void mt_page_map_deinit(struct mt_page_map *map);

/*
 * Gives free pages of [first, end) to `holder`, which must not be 0, lowest page first, until
 * `most` pages are given. Returns the number of pages given.
 */
uint64_t mt_page_map_fill(struct mt_page_map *map, uint64_t first, uint64_t end, uint64_t most,
			  uint32_t holder);

/*
 * Takes the pages of [first, end) from their holders. Calls `taken`, which may be NULL, for each
 * run of pages that had a holder, in ascending order. `taken` must not use the map.
 */
void mt_page_map_clear(struct mt_page_map *map, uint64_t first, uint64_t end,
		       void (*taken)(void *context, uint64_t page, uint64_t count, uint32_t holder),
		       void *context);

/* Contiguous pages with one holder. */
struct mt_page_run {
	uint64_t first;
	uint32_t pages, holder;
};

typedef MT_ARRAY(struct mt_page_run) mt_page_runs;

/* A callback `taken` that appends the runs to the mt_page_runs in its context. */
void mt_page_runs_add(void *runs, uint64_t page, uint64_t count, uint32_t holder);

/* The first run that ends after a page, or NULL. Borrowed until the next change. */
const struct mt_page_run *mt_page_map_after(const struct mt_page_map *map, uint64_t page);

/* Moves `count` pages; pages at the new place lose their holders. */
void mt_page_map_move(struct mt_page_map *map, uint64_t from, uint64_t to, uint64_t count);

#endif
