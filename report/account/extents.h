/*
 * The regions mapped in one address space, sorted by address, without overlaps. Each has an
 * attributes id, whose meaning the caller defines, an origin and a time. Copies share memory until
 * one of them changes.
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
	uint64_t time;	     /* when the region was reserved */
	uint32_t attrs;	     /* id that the caller defines */
	uint32_t origin;     /* id of the origin that reserved the region */
};

typedef MT_ARRAY(struct mt_extent) mt_extent_list;

/* The caller destroys them. */
struct mt_extents *mt_extents_create(void);
/* Shares leaves with the copied regions until either changes. */
struct mt_extents *mt_extents_copy(const struct mt_extents *regions);
void mt_extents_destroy(struct mt_extents *regions);

/*
 * Removes [start, end), splitting regions at both ends, and appends the removed parts to `removed`
 * in ascending order; `removed` may be NULL.
 */
void mt_extents_remove(struct mt_extents *regions, uint64_t start, uint64_t end,
		       mt_extent_list *removed);

/*
 * Inserts a region into a free range; it merges with neighbours that differ only in their bounds.
 */
void mt_extents_insert(struct mt_extents *regions, const struct mt_extent *region);

/*
 * The first region that ends above address, or NULL. Borrowed until the next change. To iterate,
 * pass the last region's end.
 */
const struct mt_extent *mt_extents_after(const struct mt_extents *regions, uint64_t address);

/* Appends the parts of regions within [start, end). */
void mt_extents_list(const struct mt_extents *regions, uint64_t start, uint64_t end,
		     mt_extent_list *out);

size_t mt_extents_count(const struct mt_extents *regions);

#endif
