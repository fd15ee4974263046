/*
 * Who holds each page of an address space: runs of pages that have the same holder. What it takes
 * grows with the runs, not with how far apart or how long they are.
 */
#ifndef MT_REPORT_RESIDENCE_PAGE_MAP_H
#define MT_REPORT_RESIDENCE_PAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_page_leaf;

/* A leaf with the first page of its first run beside it. */
struct mt_page_entry {
	uint64_t first;
	struct mt_page_leaf *leaf;
};

/* All zero: empty. */
struct mt_page_map {
	MT_ARRAY(struct mt_page_entry) leaves; /* by rising page, none empty */
};

void mt_page_map_deinit(struct mt_page_map *map);

/* The page's holder; 0: nobody. Pages are numbers: addresses / 4096, below 2^54. */
uint32_t mt_page_map_get(const struct mt_page_map *map, uint64_t page);

/*
 * Gives a holder, not 0, the pages from `first` up to before `end` that nobody holds, lowest first
 * and `most` of them at most; *given is how many those were. False out of memory.
 */
bool mt_page_map_fill(struct mt_page_map *map, uint64_t first, uint64_t end, uint64_t most,
		      uint32_t holder, uint64_t *given);

/*
 * Takes the pages from `first` up to before `end` from their holders, and tells of each run that
 * had one, by rising page, unless `taken` is NULL. It must not use the map. False where it is, or
 * out of memory.
 */
bool mt_page_map_clear(struct mt_page_map *map, uint64_t first, uint64_t end,
		       bool (*taken)(void *context, uint64_t page, uint64_t count, uint32_t holder),
		       void *context);

/* Pages with one holder, in a row. */
struct mt_page_run {
	uint64_t first;
	uint32_t pages, holder;
};

/*
 * The first run that ends above a page; NULL where there is none. Borrowed until the next change.
 */
const struct mt_page_run *mt_page_map_after(const struct mt_page_map *map, uint64_t page);

/* Moves `count` pages; who holds pages of their new place no longer does. False out of memory. */
bool mt_page_map_move(struct mt_page_map *map, uint64_t from, uint64_t to, uint64_t count);

#endif
