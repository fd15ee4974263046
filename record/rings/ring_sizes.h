/* Chooses the sizes of rings from the events of a plan. */
#ifndef MT_RECORD_RINGS_RING_SIZES_H
#define MT_RECORD_RINGS_RING_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/records/events.h"

struct mt_plan;

/* Largest sizes of a CPU's rings in any plan without -m. */
#define MT_RING_STORM_MAX ((size_t)16 << 20)
#define MT_RING_RARE_MAX ((size_t)16 << 20)

/*
 * The default size of a ring of that class: about a thousand dumps of 16 KiB. The kernel reserves
 * the full dump size in the ring even if few bytes are valid. All pages of a ring are allocated at
 * the start and freed at the end, which costs as much as the samples of a short recording.
 */
size_t mt_ring_size(const struct mt_plan *plan, enum mt_event_class class);

/* True if an event of the plan writes to rings of that class. */
bool mt_rings_has_class(const struct mt_plan *plan, enum mt_event_class class);

/*
 * Bytes of one CPU's rings, with their control pages, if the storm ring has ring_size bytes and no
 * other ring is larger.
 */
size_t mt_rings_bytes(const struct mt_plan *plan, size_t ring_size);

/*
 * The default size of storm rings on a host with that many CPUs and bytes of memory: smaller than
 * mt_ring_size() if all rings together would take too large a part of the memory.
 */
size_t mt_rings_size_for(const struct mt_plan *plan, size_t cpus, uint64_t memory);

#endif
