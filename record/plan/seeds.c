/* Plans seeds: copies of planned events with another role, a larger dump and a longer period. */
#include "record/plan/seeds.h"

#include <string.h>

#include "formats/base/err.h"
#include "record/plan/plan.h"

enum {
	/*
	 * At this interval, dumps of 64 KiB have no measurable cost next to dumps of 8 KiB. The
	 * number is prime: programs repeat cycles of few steps, and seeds must sample each step.
	 */
	EVERY = 37,
	DUMP_SMALL = 16384,
	DUMP_MAX = 65528, /* limit of the kernel */
};

static bool can_have_seeds(const struct mt_planned_event *event, uint32_t index)
{
	uint32_t dump = event->attr.sample_stack_user;

	/* a filter costs more to reject blocks than a seed of the few sampled blocks is worth */
	if (event->left_out || (event->block && event->filter))
		return false;
	return event->role == MT_ROLE_SAMPLE && event->class == MT_CLASS_STORM && !event->leader &&
	       event->full == index && !event->attr.freq && dump && dump <= DUMP_SMALL &&
	       event->attr.sample_period <= INT64_MAX / EVERY;
}

static struct mt_error *add_seed(struct mt_plan *plan, uint32_t index)
{
	struct mt_planned_event *seed = mt_array_push(&plan->events),
				*event = &plan->events.items[index];

	if (!seed)
		return mt_error_nomem();
	*seed = *event;
	event->seed = seed->full = (uint32_t)plan->events.count - 1;
	seed->role = MT_ROLE_SEED;
	seed->pair = index;
	seed->name = strdup(event->name);
	seed->alias = strdup(event->alias);
	seed->unit = strdup(event->unit);
	seed->format = event->format ? strdup(event->format) : NULL;
	seed->filter = event->filter ? strdup(event->filter) : NULL;
	seed->account = NULL;
	seed->attr.sample_period *= EVERY;
	seed->attr.sample_stack_user = DUMP_MAX;
	if (!seed->name || !seed->alias || !seed->unit || !seed->format != !event->format ||
	    !seed->filter != !event->filter)
		return mt_error_nomem();
	if (!mt_attr_decode(&seed->attr, sizeof(seed->attr), &seed->decoded))
		return mt_error_create(MT_ERR_UNSUPPORTED, "%s: our own attr does not decode",
				       seed->name);
	return NULL;
}

struct mt_error *mt_plan_add_seeds(struct mt_plan *plan)
{
	uint32_t count = (uint32_t)plan->events.count;
	struct mt_error *err = NULL;

	for (uint32_t i = 0; i < count && !err; i++) {
		if (can_have_seeds(&plan->events.items[i], i))
			err = add_seed(plan, i);
	}
	return err;
}
