/*
 * How many pages of a region are in use: pages with recorded faults, and, by /proc/PID/smaps, pages
 * touched before the recording.
 */
#ifndef MT_REPORT_VERDICTS_REGION_PAGES_H
#define MT_REPORT_VERDICTS_REGION_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/residence/mapping_readings.h"

struct mt_extent;
struct mt_extents;
struct mt_ledger;
struct mt_ledger_space;
struct mt_page_map;

/* The pages of one space. Its regions must be queried in ascending order. */
struct mt_region_pages {
	const struct mt_ledger *ledger;
	const struct mt_ledger_space *space;
	const struct mt_extents *regions;
	const struct mt_page_map *touched; /* each page with a fault has a holder */
	struct mt_mapping_list reading;
	bool at_end; /* the reading is from the end, not from the start */
	const struct mt_mapping_reading *shared; /* the mapping to which `share` applies */
	double share;
};

/* Begins a space at `time`, within the ledger's `remaining`. Borrows all until the last query. */
struct mt_region_pages mt_region_pages_of(const struct mt_ledger *ledger,
					  const struct mt_ledger_space *space,
					  const struct mt_extents *regions,
					  const struct mt_page_map *touched,
					  const struct mt_mapping_readings *readings,
					  uint64_t time);

/*
 * Bytes of pages in a range that have a fault. If a page is the only one with a fault in its 2 MiB,
 * the fault may be of a huge page, and 2 MiB are counted.
 */
double mt_region_pages_touched(const struct mt_page_map *touched, const struct mt_extent *region);

/* True if a region is older than the recording or the process. */
bool mt_region_pages_older(const struct mt_region_pages *pages, const struct mt_extent *region);

/*
 * Where the first mapping of the kernel ends or the next one begins, in a region older than the
 * recording. A thread's stack may lie directly below an arena, and only the kernel's mappings
 * separate them.
 */
uint64_t mt_region_pages_border(const struct mt_region_pages *pages,
				const struct mt_extent *region);

/*
 * Bytes in use of a region within one mapping; NAN if the region is older than the recording and
 * was not read.
 */
double mt_region_pages_in_use(struct mt_region_pages *pages, const struct mt_extent *region);

#endif
