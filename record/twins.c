/* Planning twins: copies of planned events that differ in period or dump size alone. */
#include "record/twins.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/err.h"
#include "record/plan.h"
#include "record/throttle.h"

static bool can_have_twins(const struct mt_planned_event *event, bool ledger)
{
	return event->role == MT_ROLE_SAMPLE && !event->attr.freq && !event->leader &&
	       (ledger || event->class == MT_CLASS_STORM);
}

/* A level that would record the event just as it is recorded already has no twin. */
static bool differs(const struct mt_planned_event *event, const struct mt_level *level)
{
	return level->thinning > 1 ||
	       (level->dump_max && event->attr.sample_stack_user > level->dump_max);
}

static struct mt_error *add_twin(struct mt_plan *plan, uint32_t full, int level)
{
	struct mt_planned_event *twin = mt_array_push(&plan->events),
				*event = &plan->events.items[full];

	if (!twin)
		return mt_error_nomem();
	*twin = *event;
	twin->full = full;
	twin->level = level;
	twin->pair = MT_EVENT_NONE;
	twin->seed = 0;
	twin->name = strdup(event->name);
	twin->alias = strdup(event->alias);
	twin->unit = strdup(event->unit);
	twin->format = event->format ? strdup(event->format) : NULL;
	twin->filter = event->filter ? strdup(event->filter) : NULL;
	twin->attr.sample_period *= mt_levels[level].thinning;
	if (mt_levels[level].dump_max && twin->attr.sample_stack_user)
		twin->attr.sample_stack_user = mt_levels[level].dump_max;
	if (!twin->name || !twin->alias || !twin->unit || !twin->format != !event->format ||
	    !twin->filter != !event->filter)
		return mt_error_nomem();
	if (!mt_attr_decode(&twin->attr, sizeof(twin->attr), &twin->decoded))
		return mt_error_create(MT_ERR_UNSUPPORTED, "%s: our own attr does not decode",
				       twin->name);
	return NULL;
}

struct mt_error *mt_plan_add_twins(struct mt_plan *plan, bool ledger)
{
	uint32_t count = (uint32_t)plan->events.count;
	struct mt_error *err = NULL;

	for (uint32_t i = 0; i < count; i++) {
		if (!can_have_twins(&plan->events.items[i], ledger))
			continue;
		for (int level = 1; level < MT_LEVELS && !err; level++) {
			if (differs(&plan->events.items[i], &mt_levels[level]))
				err = add_twin(plan, i, level);
		}
	}
	return err;
}

uint32_t mt_plan_twin(const struct mt_plan *plan, uint32_t full, int level)
{
	for (uint32_t i = full + 1; i < plan->events.count; i++) {
		if (plan->events.items[i].full == full && plan->events.items[i].level == level)
			return i;
	}
	return full;
}
