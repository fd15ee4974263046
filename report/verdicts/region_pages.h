/*
 * How much of a region's pages is in use: those whose faults were recorded, and those that were
 * touched before that, by what /proc/PID/smaps said of the mapping.
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

/* The pages of one space, while its regions are asked for in ascending order. */
struct mt_region_pages {
	const struct mt_ledger *ledger;
	const struct mt_ledger_space *space;
	const struct mt_extents *regions;
	const struct mt_page_map *touched; /* each page with a fault has a holder */
	struct mt_mapping_list reading;
	bool at_end;				 /* the reading is of the end, not of the start */
	const struct mt_mapping_reading *shared; /* the mapping that `share` is of */
	double share;
};

/*
 * Begins a space within the ledger's `stood` at `time`. Borrows all of it until the last region was
 * asked for.
 */
struct mt_region_pages mt_region_pages_of(const struct mt_ledger *ledger,
					  const struct mt_ledger_space *space,
					  const struct mt_extents *regions,
					  const struct mt_page_map *touched,
					  const struct mt_mapping_readings *readings,
					  uint64_t time);

/* Bytes of a range with a fault. A single page among 2 MiB may be all of them: a huge one. */
double mt_region_pages_touched(const struct mt_page_map *touched, const struct mt_extent *region);

/* Whether a region is older than the recording, or than the process. */
bool mt_region_pages_older(const struct mt_region_pages *pages, const struct mt_extent *region);

/*
 * Where the first of the kernel's mappings ends that a region from before the recording has: a
 * thread's stack may lie directly below an arena, and nothing else tells them apart.
 */
uint64_t mt_region_pages_border(const struct mt_region_pages *pages,
				const struct mt_extent *region);

/*
 * Bytes of a region within one mapping in use; NAN where it is older than the recording and nothing
 * was read of it.
 */
double mt_region_pages_in_use(struct mt_region_pages *pages, const struct mt_extent *region);

#endif
