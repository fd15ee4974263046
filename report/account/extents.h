/*
 * What is mapped in one address space: regions that do not overlap, by address. Each knows what it
 * is (an id that the caller gives meaning to) and who reserved it when. A copy costs nearly nothing
 * until one of the two changes.
 */
#ifndef MT_REPORT_ACCOUNT_EXTENTS_H
#define MT_REPORT_ACCOUNT_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_extents;

struct mt_extent {
	uint64_t start, end; /* start < end */
	uint64_t time;	     /* when it was reserved */
	uint32_t nature;     /* what it is */
	uint32_t origin;     /* who reserved it */
};

typedef MT_ARRAY(struct mt_extent) mt_extent_list;

/* NULL out of memory. */
struct mt_extents *mt_extents_create(void);
struct mt_extents *mt_extents_copy(const struct mt_extents *regions);
void mt_extents_destroy(struct mt_extents *regions);

/*
 * Takes what lies in [start, end) out, cutting regions at both ends, and appends it to `removed` by
 * rising address; removed may be NULL. False out of memory, when it may be taken out in part.
 */
bool mt_extents_remove(struct mt_extents *regions, uint64_t start, uint64_t end,
		       mt_extent_list *removed);

/*
 * Puts a region where nothing is. Joined with a neighbour that differs in its bounds alone. False
 * out of memory.
 */
bool mt_extents_insert(struct mt_extents *regions, const struct mt_extent *region);

/*
 * The first region that ends above address; NULL where there is none. Borrowed until the next
 * change. From the first to the last: address is the last one's end.
 */
const struct mt_extent *mt_extents_after(const struct mt_extents *regions, uint64_t address);

/* Appends what [start, end) has in common with regions; false out of memory. */
bool mt_extents_list(const struct mt_extents *regions, uint64_t start, uint64_t end,
		     mt_extent_list *out);

size_t mt_extents_count(const struct mt_extents *regions);

#endif
