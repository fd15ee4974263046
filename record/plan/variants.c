/* Plans variants: copies of planned events that differ only in period or dump size. */
#include "record/plan/variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/err.h"
#include "record/plan/plan.h"
#include "record/plan/throttle.h"

static bool can_have_variants(const struct mt_planned_event *event, enum mt_variants which)
{
	if (event->block && which != MT_VARIANTS_SMALL) /* thinned by address (plan_blocks.c) */
		return false;
	return event->role == MT_ROLE_SAMPLE && !event->left_out && !event->attr.freq &&
	       !event->leader && (which == MT_VARIANTS_ALL || event->class == MT_CLASS_STORM);
}

/* Returns true if the level would record the event differently from the event itself. */
static bool differs(const struct mt_planned_event *event, const struct mt_level *level)
{
	return level->thinning > 1 ||
	       (level->dump_max && event->attr.sample_stack_user > level->dump_max);
}

static struct mt_error *add_variant(struct mt_plan *plan, uint32_t full, int level)
{
	struct mt_planned_event *variant = mt_array_push(&plan->events),
				*event = &plan->events.items[full];

	if (!variant)
		return mt_error_nomem();
	*variant = *event;
	variant->full = full;
	variant->level = level;
	variant->pair = MT_EVENT_NONE;
	variant->seed = 0;
	variant->name = strdup(event->name);
	variant->alias = strdup(event->alias);
	variant->unit = strdup(event->unit);
	variant->format = event->format ? strdup(event->format) : NULL;
	variant->filter = event->filter ? strdup(event->filter) : NULL;
	variant->account = event->account ? strdup(event->account) : NULL;
	variant->attr.sample_period *= mt_levels[level].thinning;
	if (mt_levels[level].dump_max && variant->attr.sample_stack_user)
		variant->attr.sample_stack_user = mt_levels[level].dump_max;
	if (!variant->name || !variant->alias || !variant->unit ||
	    !variant->format != !event->format || !variant->filter != !event->filter ||
	    !variant->account != !event->account)
		return mt_error_nomem();
	if (!mt_attr_decode(&variant->attr, sizeof(variant->attr), &variant->decoded))
		return mt_error_create(MT_ERR_UNSUPPORTED, "%s: our own attr does not decode",
				       variant->name);
	return NULL;
}

struct mt_error *mt_plan_add_variants(struct mt_plan *plan, enum mt_variants which)
{
	uint32_t count = (uint32_t)plan->events.count;
	int levels = which == MT_VARIANTS_SMALL ? MT_LEVEL_SMALL + 1 : MT_LEVELS;
	struct mt_error *err = NULL;

	for (uint32_t i = 0; i < count; i++) {
		if (!can_have_variants(&plan->events.items[i], which))
			continue;
		for (int level = 1; level < levels && !err; level++) {
			if (differs(&plan->events.items[i], &mt_levels[level]))
				err = add_variant(plan, i, level);
		}
	}
	return err;
}

/* Takes text; NULL: out of memory. */
static struct mt_error *add_note(struct mt_plan *plan, char *text)
{
	char **slot = text ? mt_array_push(&plan->notes) : NULL;

	if (slot)
		*slot = text;
	else
		free(text);
	return slot ? NULL : mt_error_nomem();
}

static struct mt_error *note_unthinned(struct mt_plan *plan, const struct mt_planned_event *event)
{
	char *text;

	if (asprintf(&text,
		     event->attr.freq
			     ? "%s is sampled by time, and not thinned: -F sets how often"
			     : "%s is counted in a group, or with :S, and not thinned: -c N takes "
			       "one in N",
		     event->alias) < 0)
		text = NULL;
	return add_note(plan, text);
}

static struct mt_error *lower_frequency(struct mt_plan *plan, struct mt_planned_event *event,
					uint64_t most, uint64_t max_rate)
{
	char *text;

	if (event->attr.sample_freq <= most)
		return NULL;
	if (asprintf(&text, "%s: -F %llu on each CPU, for at most %llu samples a second in all",
		     event->alias, (unsigned long long)most, (unsigned long long)max_rate) < 0)
		text = NULL;
	event->attr.sample_freq = most;
	if (!mt_attr_decode(&event->attr, sizeof(event->attr), &event->decoded)) {
		free(text);
		return mt_error_create(MT_ERR_UNSUPPORTED, "%s: our own attr does not decode",
				       event->name);
	}
	return add_note(plan, text);
}

struct mt_error *mt_plan_limit_others(struct mt_plan *plan, uint64_t max_rate, size_t cpus)
{
	uint64_t most = max_rate > cpus ? max_rate / cpus : 1;
	struct mt_error *err = NULL;

	for (size_t i = 0; i < plan->events.count && !err; i++) {
		struct mt_planned_event *event = &plan->events.items[i];

		if (event->role != MT_ROLE_SAMPLE || (!event->attr.freq && !event->leader))
			continue;
		err = event->attr.freq && max_rate ? lower_frequency(plan, event, most, max_rate)
						   : note_unthinned(plan, event);
	}
	return err;
}

uint32_t mt_plan_variant(const struct mt_plan *plan, uint32_t full, int level)
{
	for (uint32_t i = full + 1; i < plan->events.count; i++) {
		if (plan->events.items[i].full == full && plan->events.items[i].level == level)
			return i;
	}
	return full;
}
