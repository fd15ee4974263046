#include "record/rings/ring_sizes.h"

#include <unistd.h>

#include "record/plan/plan.h"

#define DUMP_SMALL 8192
#define STORM_SMALL ((size_t)8 << 20)
#define RARE_SMALL ((size_t)1 << 20) /* mappings, names, forks: thousands of records */
#define SIZE_MIN ((size_t)256 << 10)
#define ALL_SHARE 32 /* rings of all CPUs take at most 1/32 of the host's memory */
#define ALL_MAX ((uint64_t)1 << 30)

/*
 * Returns the largest dump that events of that class request. Seeds do not count, because they are
 * few.
 */
static size_t largest_dump(const struct mt_plan *plan, enum mt_event_class class)
{
	size_t largest = 0;

	for (size_t i = 0; i < plan->events.count; i++) {
		const struct mt_planned_event *event = &plan->events.items[i];

		if (event->class == class && event->role != MT_ROLE_SEED &&
		    event->attr.sample_stack_user > largest)
			largest = event->attr.sample_stack_user;
	}
	return largest;
}

size_t mt_ring_size(const struct mt_plan *plan, enum mt_event_class class)
{
	size_t dump = largest_dump(plan, class);

	if (class == MT_CLASS_RARE)
		return dump ? MT_RING_RARE_MAX : RARE_SMALL;
	return dump > DUMP_SMALL ? MT_RING_STORM_MAX : STORM_SMALL;
}

bool mt_rings_has_class(const struct mt_plan *plan, enum mt_event_class class)
{
	for (size_t i = 0; i < plan->events.count; i++) {
		if (plan->events.items[i].class == class)
			return true;
	}
	return false;
}

size_t mt_rings_bytes(const struct mt_plan *plan, size_t ring_size)
{
	size_t rare = mt_ring_size(plan, MT_CLASS_RARE), page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = 0;

	if (mt_rings_has_class(plan, MT_CLASS_RARE))
		bytes += (ring_size < rare ? ring_size : rare) + page;
	if (mt_rings_has_class(plan, MT_CLASS_STORM))
		bytes += ring_size + page;
	return bytes;
}

size_t mt_rings_size_for(const struct mt_plan *plan, size_t cpus, uint64_t memory)
{
	uint64_t most = memory / ALL_SHARE < ALL_MAX ? memory / ALL_SHARE : ALL_MAX;
	size_t size = mt_ring_size(plan, MT_CLASS_STORM);

	/* the division drops the control pages */
	while (size / 2 >= SIZE_MIN &&
	       mt_rings_bytes(plan, size) / SIZE_MIN * (uint64_t)SIZE_MIN * cpus > most)
		size /= 2;
	return size;
}
