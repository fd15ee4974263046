/* The governor: takes measurements and switches between variants of events. */
#include "record/rings/governor.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "formats/base/array.h"
#include "record/plan/plan.h"
#include "record/rings/drain.h"
#include "record/rings/event_set.h"
#include "record/rings/spool.h"
#include "record/rings/state_writer.h"

#define TICK_NS 90000000ull

/* An event that has variants. */
struct governed {
	uint32_t event;		 /* index of the full variant */
	bool small_dumps, thins; /* the event has such variants */
	struct mt_throttle throttle;
	uint64_t samples; /* of all variants of the event, at the last tick */
};

struct mt_governor {
	struct mt_governor_config config;
	MT_ARRAY(struct governed) events;
	uint64_t last_ns, all_samples;
	double last_cpu;
	bool thinned;
};

static double own_cpu(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static uint64_t samples_of(const struct mt_governor *governor, uint32_t event)
{
	return mt_drains_event_samples(governor->config.drains, governor->config.drain_count,
				       event);
}

/* Sum of the samples of all variants of an event. */
static uint64_t samples_of_variants(const struct mt_governor *governor, uint32_t full)
{
	const struct mt_plan *plan = governor->config.plan;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < plan->events.count; i++) {
		if (plan->events.items[i].full == full)
			sum += samples_of(governor, i);
	}
	return sum;
}

static bool find_governed(struct mt_governor *governor)
{
	const struct mt_plan *plan = governor->config.plan;

	for (uint32_t i = 0; i < plan->events.count; i++) {
		const struct mt_planned_event *variant = &plan->events.items[i];
		struct governed *g = governor->events.count
					     ? &governor->events.items[governor->events.count - 1]
					     : NULL;

		if (variant->full == i)
			continue;
		if (!g || g->event != variant->full) {
			g = mt_array_push(&governor->events);
			if (!g)
				return false;
			g->event = variant->full;
			g->throttle.level = mt_throttle_start(&governor->config.limits);
			governor->thinned |= g->throttle.level > MT_LEVEL_SMALL;
		}
		g->small_dumps |= variant->level == MT_LEVEL_SMALL;
		g->thins |= mt_levels[variant->level].thinning > 1;
	}
	return true;
}

struct mt_governor *mt_governor_create(const struct mt_governor_config *config)
{
	struct mt_governor *governor = calloc(1, sizeof(*governor));

	if (!governor)
		return NULL;
	governor->config = *config;
	if (!find_governed(governor)) {
		mt_governor_destroy(governor);
		return NULL;
	}
	governor->last_cpu = own_cpu();
	return governor;
}

void mt_governor_destroy(struct mt_governor *governor)
{
	if (!governor)
		return;
	mt_array_deinit(&governor->events);
	free(governor);
}

static void switch_level(struct mt_governor *governor, const struct governed *g, unsigned fill)
{
	const struct mt_level *level = &mt_levels[g->throttle.level];
	const struct mt_planned_event *event = &governor->config.plan->events.items[g->event];
	const char *why = fill >= MT_FILL_PRESSED ? "output is slow: " : "";
	char text[160];

	mt_event_set_set_level(governor->config.opened, g->event, g->throttle.level);
	governor->thinned |= level->thinning > 1;
	if (level->thinning == 1)
		snprintf(text, sizeof(text), "%s%s: every event is kept, with %s stacks", why,
			 event->alias, level->dump_max ? "shorter" : "whole");
	else
		snprintf(text, sizeof(text), "%s%s: one event in %u is kept", why, event->alias,
			 level->thinning);
	governor->config.say(governor->config.voice, text);
}

static void tick_event(struct mt_governor *governor, struct governed *g,
		       struct mt_throttle_input *input)
{
	uint64_t samples = samples_of_variants(governor, g->event);

	input->samples = samples - g->samples;
	input->small_dumps = g->small_dumps;
	input->thins = g->thins;
	input->dump_size = governor->config.plan->events.items[g->event].attr.sample_stack_user;
	g->samples = samples;
	if (mt_throttle_step(&governor->config.limits, input, &g->throttle))
		switch_level(governor, g, input->spool_fill);
}

void mt_governor_tick(struct mt_governor *governor, uint64_t now_ns)
{
	struct mt_stream_counts counts = {0};
	double cpu = own_cpu();
	struct mt_throttle_input input = {.recorder_cpu = cpu - governor->last_cpu,
					  .spool_fill = mt_spool_fill(governor->config.spool)};

	if (now_ns - governor->last_ns < TICK_NS)
		return;
	input.seconds = governor->last_ns ? (double)(now_ns - governor->last_ns) * 1e-9 : 0;
	for (size_t i = 0; i < governor->config.drain_count; i++)
		mt_drain_add_counts(governor->config.drains[i], &counts);
	input.all_samples = counts.samples - governor->all_samples;
	for (size_t i = 0; i < governor->events.count; i++)
		tick_event(governor, &governor->events.items[i], &input);
	governor->all_samples = counts.samples;
	governor->last_ns = now_ns;
	governor->last_cpu = cpu;
}

void mt_governor_settle(const struct mt_governor *governor, struct mt_state *state)
{
	const struct mt_plan *plan = governor->config.plan;

	for (uint32_t i = 0; i < plan->events.count; i++) {
		uint64_t samples = samples_of(governor, i);

		if (mt_levels[plan->events.items[i].level].thinning > 1 && samples)
			mt_state_put_weight(
				state, i, mt_event_set_count(governor->config.opened, i), samples);
	}
}

bool mt_governor_thinned(const struct mt_governor *governor)
{
	return governor->thinned;
}
