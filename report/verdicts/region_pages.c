/*
 * smaps shows how many pages of a mapping are resident, but not which ones. Resident pages beyond
 * those with faults are spread evenly over pages without a fault that are older than the recording.
 * Pages that madvise gave back after a reading at the start count as in use, so the untouched part
 * may be too small, but not too large.
 */
#include "report/verdicts/region_pages.h"

#include <math.h>
#include <stddef.h>

#include "report/account/extents.h"
#include "report/ledger/ledger.h"
#include "report/residence/page_map.h"

enum {
	PAGE_SHIFT = 12,
	HUGE_PAGES = 512,
};

bool mt_region_pages_older(const struct mt_region_pages *pages, const struct mt_extent *region)
{
	return mt_ledger_origin(pages->ledger, region->origin)->kind == MT_ORIGIN_BEFORE ||
	       mt_ledger_inherited(pages->space, region);
}

struct mt_region_pages mt_region_pages_of(const struct mt_ledger *ledger,
					  const struct mt_ledger_space *space,
					  const struct mt_extents *regions,
					  const struct mt_page_map *touched,
					  const struct mt_mapping_readings *readings, uint64_t time)
{
	struct mt_region_pages out = {
		.ledger = ledger, .space = space, .regions = regions, .touched = touched};
	struct mt_mapping_list first =
		mt_mapping_readings_first(readings, space->recording, space->pid);

	if (!space->ended)
		out.reading =
			mt_mapping_readings_near(readings, space->recording, space->pid, time);
	out.at_end = out.reading.count && out.reading.items != first.items;
	if (!out.at_end)
		out.reading = first;
	/* A first reading is of an earlier program if the space began by exec or fork. */
	if (!out.at_end && (space->generation || (space->account && space->account->forked)))
		out.reading.count = 0;
	return out;
}

double mt_region_pages_touched(const struct mt_page_map *touched, const struct mt_extent *region)
{
	uint64_t first = region->start >> PAGE_SHIFT, end = region->end >> PAGE_SHIFT, pages = 0;
	uint64_t before = 0; /* end of the last run */
	const struct mt_page_run *run = mt_page_map_after(touched, first), *next;

	for (; run && run->first < end; run = next) {
		uint64_t from = run->first > first ? run->first : first;
		uint64_t after = run->first + run->pages, to = after < end ? after : end;
		uint64_t block = from & ~(uint64_t)(HUGE_PAGES - 1);
		bool alone;

		next = mt_page_map_after(touched, after);
		alone = to - from == 1 && before <= block &&
			(!next || next->first >= block + HUGE_PAGES) && block >= first &&
			block + HUGE_PAGES <= end;
		pages += alone ? HUGE_PAGES : to - from;
		before = to;
	}
	return (double)(pages << PAGE_SHIFT);
}

static double without_fault(const struct mt_region_pages *pages, const struct mt_extent *region)
{
	return (double)(region->end - region->start) -
	       mt_region_pages_touched(pages->touched, region);
}

/* The part in use of a mapping's pages that are older than the recording and without a fault. */
static double find_share(const struct mt_region_pages *pages,
			 const struct mt_mapping_reading *mapping)
{
	double used = mapping->bytes[MT_MAPPING_RESIDENT] + mapping->bytes[MT_MAPPING_SWAPPED];
	const struct mt_extent *region = mt_extents_after(pages->regions, mapping->start);
	double unknown = 0;

	for (; region && region->start < mapping->end;
	     region = mt_extents_after(pages->regions, region->end)) {
		struct mt_extent part = *region;

		part.start = part.start > mapping->start ? part.start : mapping->start;
		part.end = part.end < mapping->end ? part.end : mapping->end;
		if (mt_region_pages_older(pages, region))
			unknown += without_fault(pages, &part);
		if (pages->at_end)
			used -= mt_region_pages_touched(pages->touched, &part);
	}
	return used <= 0 || unknown <= 0 ? 0 : used < unknown ? used / unknown : 1;
}

uint64_t mt_region_pages_border(const struct mt_region_pages *pages, const struct mt_extent *region)
{
	const struct mt_mapping_reading *mapping =
		mt_mapping_list_after(&pages->reading, region->start);
	uint64_t border;

	if (!mapping || !mt_region_pages_older(pages, region))
		return region->end;
	border = mapping->start > region->start ? mapping->start : mapping->end;
	return border < region->end ? border : region->end;
}

double mt_region_pages_in_use(struct mt_region_pages *pages, const struct mt_extent *region)
{
	double touched = mt_region_pages_touched(pages->touched, region);
	const struct mt_mapping_reading *mapping;

	if (!mt_region_pages_older(pages, region))
		return touched;
	mapping = mt_mapping_list_after(&pages->reading, region->start);
	if (!mapping || mapping->start > region->start)
		return NAN;
	if (mapping != pages->shared) {
		pages->shared = mapping;
		pages->share = find_share(pages, mapping);
	}
	return touched + pages->share * without_fault(pages, region);
}
