/*
 * Who holds each page of an address space: a number for each page, 0 where nobody does.
 */
#ifndef MT_REPORT_LEDGER_PAGE_MAP_H
#define MT_REPORT_LEDGER_PAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"

struct mt_page_block;

/* All zero: empty. */
struct mt_page_map {
	struct mt_map64 by_number; /* of 2 MiB, to index in blocks */
	MT_ARRAY(struct mt_page_block *) blocks;
};

void mt_page_map_deinit(struct mt_page_map *map);

/* Pages are numbers: addresses / 4096. */
uint32_t mt_page_map_get(const struct mt_page_map *map, uint64_t page);

/* Gives the page to a holder, or with 0 to nobody; false out of memory. */
bool mt_page_map_set(struct mt_page_map *map, uint64_t page, uint32_t holder);

/*
 * Takes the pages from first up to before end from their holders, and tells of each page that had
 * one, in no order. False where `taken` is.
 */
bool mt_page_map_clear(struct mt_page_map *map, uint64_t first, uint64_t end,
		       bool (*taken)(void *context, uint64_t page, uint32_t holder), void *context);

/*
 * Moves `count` pages, whose new place is empty and apart from the old one. False out of memory.
 */
bool mt_page_map_move(struct mt_page_map *map, uint64_t from, uint64_t to, uint64_t count);

#endif
