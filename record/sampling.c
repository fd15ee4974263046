/*
 * --malloc-sample auto: counts for a second how many blocks the targets allocate, says what
 * recording them costs, and chooses 1 in how many. A command has not begun: of it every block is
 * recorded.
 */
#include "record/recorder_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/cli/options.h"
#include "record/plan/block_rate.h"
#include "record/plan/plan.h"
#include "record/probes/probe_price.h"
#include "record/targets.h"

enum {
	BUDGET = 5, /* percent of a CPU, where none is given */
	/*
	 * Bytes of stack where every block is recorded, however many there are, and no size was
	 * asked for: four fifths of the time that 8 KiB take. Deeper stacks are joined, as the
	 * seeds show them: 99.5 to 99.9 % were whole.
	 */
	BLOCK_DUMP = 4096,
};

static void sleep_a_second(void)
{
	struct timespec left = {.tv_sec = 1};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

/* Of a plan that borrows all from r's plan but what of it is opened. */
static struct mt_error *count_events(struct mt_recorder *r, const struct mt_plan *plan,
				     struct mt_block_rate *rate)
{
	MT_CLEANUP(mt_event_set_deinit) struct mt_event_set opened = {0};
	struct mt_error *err = mt_recorder_open_counters(r, plan, &opened);
	uint64_t from = mt_clock_now(&r->clock);
	double seconds;

	if (err)
		return err;
	mt_event_set_enable(&opened, MT_CLASS_RARE);
	mt_event_set_enable(&opened, MT_CLASS_STORM);
	sleep_a_second();
	mt_event_set_disable(&opened);
	seconds = (double)(mt_clock_now(&r->clock) - from) / 1e9;
	for (uint32_t i = 0; i < r->plan->events.count && seconds > 0; i++)
		mt_block_rate_add(rate, r->plan, i,
				  mt_event_set_count(&opened, i + r->plan->events.count),
				  mt_event_set_count(&opened, i), seconds);
	return NULL;
}

/* Events once as they are, and once without filters: a probe costs the same if it is filtered. */

static struct mt_error *count_blocks(struct mt_recorder *r, struct mt_block_rate *rate)
{
	size_t count = r->plan->events.count;
	MT_CLEANUP_FREE struct mt_planned_event *items = calloc(2 * count, sizeof(*items));
	struct mt_plan plan = {.events = {.items = items, .count = 2 * count}};

	if (!items)
		return mt_error_nomem();
	memcpy(items, r->plan->events.items, count * sizeof(*items));
	memcpy(items + count, items, count * sizeof(*items));
	mt_plan_count_only(&plan);
	for (size_t i = 0; i < plan.events.count; i++) {
		items[i].left_out =
			items[i].block != MT_PLANNED_ALLOC && items[i].block != MT_PLANNED_FREE;
		if (i < count)
			continue;
		items[i].full = (uint32_t)i;
		items[i].filter = NULL;
	}
	return count_events(r, &plan, rate);
}

static struct mt_error *refuse(const struct mt_block_rate *rate, double budget)
{
	double most = mt_block_rate_records(rate, mt_block_rate_choose(rate, 0));

	return mt_error_hint(
		mt_error_create(MT_ERR_UNSUPPORTED,
				"malloc: the targets allocate %.0f blocks a second: probes alone "
				"would cost %.0f %% of a CPU, more than --budget %g",
				rate->calls, rate->probes * 100, budget),
		"--budget %.0f allows that, --malloc-sample 64 takes any price. Sampling does not "
		"make the probes cheaper; fewer processes do",
		(rate->probes + most) * 100 + 1);
}

static struct mt_error *choose(struct mt_recorder *r, uint32_t *one_in)
{
	double budget = r->options->budget > 0 ? r->options->budget : BUDGET;
	struct mt_block_rate rate = {.stops = MT_STOP_PRICES};
	bool measured = mt_stop_prices_measure(&r->features, &rate.stops);
	struct mt_error *err = count_blocks(r, &rate);
	char which[32] = "each is";

	if (err)
		return err;
	mt_recorder_say(r, 2,
			"malloc: a stop at a probe costs %.2f us, %.2f us where the kernel "
			"single-steps, and at a return %.2f us more (%s)",
			rate.stops.emulated * 1e6, rate.stops.stepped * 1e6,
			rate.stops.returned * 1e6, measured ? "measured" : "assumed");
	if (rate.probes * 100 > budget)
		return refuse(&rate, budget);
	*one_in = mt_block_rate_choose(&rate, budget / 100);
	if (*one_in > 1)
		snprintf(which, sizeof(which), "1 in %u is", *one_in);
	mt_recorder_say(
		r, 1,
		"malloc: %.0f blocks a second; the probes cost %.1f %% of a CPU; %s recorded, "
		"for %.1f %%",
		rate.calls, rate.probes * 100, which, mt_block_rate_records(&rate, *one_in) * 100);
	return NULL;
}

struct mt_error *mt_recorder_sample_blocks(struct mt_recorder *r)
{
	uint32_t one_in = r->options->malloc_sample;
	bool runs = mt_options_target_cpus(r->options) || mt_options_target_tasks(r->options);
	bool objects = false;
	struct mt_error *err = mt_plan_sample_objects(r->plan, one_in, &objects);

	if (err)
		return err;
	if (objects)
		mt_recorder_say(r, 1,
				"kmem: 1 in %u objects is recorded, chosen by address; each counts "
				"for %u",
				one_in, one_in);
	if (!mt_plan_has_blocks(r->plan))
		return r->options->malloc_most
			       ? mt_error_create(MT_ERR_USAGE,
						 "--malloc-size limits the blocks of -e malloc, "
						 "which is not recorded")
			       : NULL;
	if (one_in > 1)
		mt_recorder_say(r, 1,
				"malloc: 1 in %u blocks is recorded, chosen by address; each "
				"counts for %u",
				one_in, one_in);
	if ((one_in == 1 || (!one_in && !runs)) && !r->options->dump_given)
		mt_plan_cut_blocks(r->plan, BLOCK_DUMP);
	if (!one_in && runs)
		err = choose(r, &one_in);
	return err ? err : mt_plan_sample_blocks(r->plan, one_in ? one_in : 1);
}
