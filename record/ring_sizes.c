#include "record/ring_sizes.h"

#include "record/plan.h"

#define DUMP_SMALL 8192
#define STORM_SMALL ((size_t)8 << 20)
#define RARE_SMALL ((size_t)1 << 20) /* mappings, names, forks: thousands of records */

/* The largest that the events of that class ask for; seeds are too few to count. */
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
