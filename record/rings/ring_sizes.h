/* How large the rings of a plan are to be, by what its events write. */
#ifndef MT_RECORD_RINGS_RING_SIZES_H
#define MT_RECORD_RINGS_RING_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/events.h"

struct mt_plan;

/* The most that a CPU's rings take in any plan, but for what -m asks for. */
#define MT_RING_STORM_MAX ((size_t)16 << 20)
#define MT_RING_RARE_MAX ((size_t)16 << 20)

/*
 * Of that class where nobody says otherwise. The kernel takes room for a whole dump, however little
 * of it there is: a ring is to hold about a thousand of 16 KiB. Each page of it is fetched at the
 * start and given back at the end, which in a short recording costs as much as the samples do.
 */
size_t mt_ring_size(const struct mt_plan *plan, enum mt_event_class class);

/* Whether an event of the plan writes to rings of that class. */
bool mt_rings_has_class(const struct mt_plan *plan, enum mt_event_class class);

/*
 * What the rings of one CPU take, their control pages with them, where a storm's has that size, and
 * no other a larger one.
 */
size_t mt_rings_bytes(const struct mt_plan *plan, size_t ring_size);

/*
 * The size for a storm's rings where nobody says otherwise: smaller than mt_ring_size() where the
 * rings of so many CPUs would take more than is right on a host with so many bytes of memory.
 */
size_t mt_rings_size_for(const struct mt_plan *plan, size_t cpus, uint64_t memory);

#endif
