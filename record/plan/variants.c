/*
 * Plans variants and seeds: copies of planned events with another period or dump size. Seeds also
 * have another role.
 */
#include "record/plan/variants.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/plan/plan.h"
#include "record/plan/planner.h"
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

/* Duplicates *text if it is not NULL. False out of memory. */
static bool duplicate(char **text)
{
	char *copy = *text ? strdup(*text) : NULL;
	bool good = copy || !*text;

	*text = copy;
	return good;
}

/*
 * Adds a copy of the event, with texts of its own, at that period and dump size. NULL out of
 * memory.
 */
static struct mt_planned_event *add_copy(struct mt_plan *plan, uint32_t index, uint64_t times,
					 uint32_t dump_size)
{
	struct mt_planned_event *copy = mt_array_push(&plan->events);
	bool good = true;

	if (!copy)
		return NULL;
	*copy = plan->events.items[index];
	copy->attr.sample_period *= times;
	copy->attr.sample_stack_user = dump_size;

	char **texts[] = {&copy->name,	 &copy->alias,	&copy->unit,
			  &copy->format, &copy->filter, &copy->account};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		good = duplicate(texts[i]) && good; /* all, to share none with the event */
	return good ? copy : NULL;
}

static struct mt_error *add_variant(struct mt_plan *plan, uint32_t full, int level)
{
	const struct mt_level *l = &mt_levels[level];
	uint32_t dump = plan->events.items[full].attr.sample_stack_user;
	struct mt_planned_event *variant =
		add_copy(plan, full, l->thinning, dump && l->dump_max ? l->dump_max : dump);

	if (!variant)
		return mt_error_nomem();
	variant->full = full;
	variant->level = level;
	variant->pair = MT_EVENT_NONE;
	variant->seed = 0;
	return mt_planned_event_decode(variant);
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

static struct mt_error *note_unthinned(struct mt_plan *plan, const struct mt_planned_event *event)
{
	return event->attr.freq
		       ? mt_plan_note(plan,
				      "%s is sampled by time, and not thinned: -F sets how often",
				      event->alias)
		       : mt_plan_note(plan,
				      "%s is counted in a group, or with :S, and not thinned: -c N "
				      "takes one in N",
				      event->alias);
}

static struct mt_error *lower_frequency(struct mt_plan *plan, struct mt_planned_event *event,
					uint64_t most, uint64_t max_rate)
{
	struct mt_error *err;

	if (event->attr.sample_freq <= most)
		return NULL;
	event->attr.sample_freq = most;
	err = mt_planned_event_decode(event);
	return err ? err
		   : mt_plan_note(
			     plan,
			     "%s: -F %llu on each CPU, for at most %llu samples a second in all",
			     event->alias, (unsigned long long)most, (unsigned long long)max_rate);
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

/* ---- Seeds ---- */

enum {
	/*
	 * At this interval, dumps of 64 KiB have no measurable cost next to dumps of 8 KiB. The
	 * number is prime, because programs repeat cycles of few steps, and seeds must sample each
	 * step.
	 */
	EVERY = 37,
	DUMP_SMALL = 16384,
	DUMP_MAX = 65528, /* limit of the kernel */
};

static bool can_have_seeds(const struct mt_planned_event *event, uint32_t index)
{
	uint32_t dump = event->attr.sample_stack_user;

	/* rejecting blocks by a filter costs more than a seed of the few sampled blocks is worth */
	if (event->left_out || (event->block && event->filter))
		return false;
	return event->role == MT_ROLE_SAMPLE && event->class == MT_CLASS_STORM && !event->leader &&
	       event->full == index && !event->attr.freq && dump && dump <= DUMP_SMALL &&
	       event->attr.sample_period <= INT64_MAX / EVERY;
}

static struct mt_error *add_seed(struct mt_plan *plan, uint32_t index)
{
	struct mt_planned_event *seed = add_copy(plan, index, EVERY, DUMP_MAX);

	if (!seed)
		return mt_error_nomem();
	plan->events.items[index].seed = seed->full = (uint32_t)plan->events.count - 1;
	seed->role = MT_ROLE_SEED;
	seed->pair = index;
	free(MT_TAKE(seed->account));
	return mt_planned_event_decode(seed);
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
