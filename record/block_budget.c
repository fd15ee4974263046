/*
 * Keeps recording blocks within a budget. --malloc-sample auto counts for a second before the
 * recording how many blocks the targets allocate, computes the cost of probes and records from the
 * counts, and chooses the sampling ratio. For a command, which has not begun, every block is
 * recorded. During the recording the counters are read about ten times a second. If the cost
 * exceeds the budget, the probes are switched off one after the other, because the kernel takes
 * about 85 ms to remove each. The recording contains the time at which that begins.
 *
 * During the recording the counters have no filters, because a probe costs the same for a block
 * that is not sampled.
 */
#include "record/recorder_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/base/err.h"
#include "formats/records/address_sample.h"
#include "record/cli/options.h"
#include "record/plan/block_rate.h"
#include "record/plan/plan.h"
#include "record/probes/probe_price.h"
#include "record/proc/stopping.h"
#include "record/rings/state_writer.h"

#define TICK_NS 100000000ull
#define READ_SHARE 100 /* reading the counters takes at most 1 / READ_SHARE of the time */

enum {
	BUDGET = 5, /* percent of a CPU; the default */
	/*
	 * Bytes of stack to dump if every block is recorded and the user gave no size. 4 KiB take
	 * four fifths of the time of 8 KiB. Seeds complete deeper stacks, so 99.5 to 99.9 % of the
	 * stacks were whole.
	 */
	BLOCK_DUMP = 4096,
};

struct mt_block_budget {
	struct mt_plan plan; /* the recorder's events twice: with and without their filters */
	struct mt_event_set counters;
	struct mt_stop_prices stops;
	struct mt_block_credit credit;
	uint32_t count; /* number of the recorder's events */
	uint32_t one_in;
	uint64_t last_ns;	 /* time of the last reading */
	uint64_t *hits, *passed; /* counts by event, at the last reading */
	double counted;		 /* duration of the count before the recording, s */
	double *rates;		 /* hits per second, by event, at the last reading */
	bool ending;
};

void mt_block_budget_destroy(struct mt_block_budget *budget)
{
	if (!budget)
		return;
	mt_event_set_deinit(&budget->counters);
	free(budget->plan.events.items);
	free(budget->hits);
	free(budget->passed);
	free(budget->rates);
	free(budget);
}

static bool is_counted(const struct mt_planned_event *event)
{
	return event->block == MT_PLANNED_ALLOC || event->block == MT_PLANNED_FREE;
}

/* Creates a budget with copies of the recorder's events, which borrow their strings. */
static struct mt_block_budget *budget_create(const struct mt_plan *plan)
{
	struct mt_block_budget *budget = calloc(1, sizeof(*budget));
	size_t count = plan->events.count;
	struct mt_planned_event *items = calloc(2 * count, sizeof(*items));

	if (!budget || !items) {
		free(items);
		free(budget);
		return NULL;
	}
	memcpy(items, plan->events.items, count * sizeof(*items));
	memcpy(items + count, items, count * sizeof(*items));
	budget->plan.events.items = items;
	budget->plan.events.count = 2 * count;
	mt_plan_count_only(&budget->plan);
	for (size_t i = 0; i < 2 * count; i++) {
		items[i].left_out = !is_counted(&items[i]);
		if (i < count)
			continue;
		items[i].full = (uint32_t)i;
		items[i].filter = NULL;
	}
	budget->count = (uint32_t)count;
	budget->hits = calloc(count, sizeof(*budget->hits));
	budget->passed = calloc(count, sizeof(*budget->passed));
	budget->rates = calloc(count, sizeof(*budget->rates));
	return budget;
}

/* Returns early if a signal arrives. */
static void sleep_a_second(void)
{
	for (int i = 0; i < 20 && !mt_is_stopping(); i++) {
		struct timespec left = {.tv_nsec = 50000000};

		while (nanosleep(&left, &left) && errno == EINTR)
			;
	}
}

static struct mt_block_counts counted(const struct mt_block_budget *budget)
{
	return (struct mt_block_counts){.hits = budget->hits,
					.passed = budget->passed,
					.count = budget->count,
					.seconds = budget->counted};
}

/* Counts for a second. Keeps the unfiltered counters open for the recording. */
static void count_a_second(struct mt_recorder *r, struct mt_block_budget *budget,
			   struct mt_block_rate *rate)
{
	uint64_t from = mt_clock_now(&r->clock);
	struct mt_block_counts counts;

	mt_event_set_enable(&budget->counters, MT_CLASS_RARE);
	mt_event_set_enable(&budget->counters, MT_CLASS_STORM);
	sleep_a_second();
	if (mt_is_stopping())
		return;
	budget->counted = (double)(mt_clock_now(&r->clock) - from) / 1e9;
	for (uint32_t i = 0; i < budget->count; i++) {
		budget->hits[i] = mt_event_set_count(&budget->counters, i + budget->count);
		budget->passed[i] = mt_event_set_count(&budget->counters, i);
		mt_event_set_close_event(&budget->counters, i);
	}
	counts = counted(budget);
	mt_block_rate_add_file(rate, r->plan, &counts, MT_EVERY_FILE);
}

/*
 * Leaves out the allocator whose probes cost most in that count, with a note. *rate becomes the
 * rate of the other allocators. *some is false if there is no other, and then nothing is left out.
 */
static struct mt_error *leave_out_busiest(struct mt_recorder *r, struct mt_block_rate *rate,
					  bool *some)
{
	struct mt_block_budget *budget = r->block_budget;
	const struct mt_block_counts counts = counted(budget);
	struct mt_block_rate busy = {0};
	uint32_t file = mt_block_rate_dearest(r->plan, &counts, budget->stops, &busy);
	struct mt_error *err;
	char why[80];

	*some = file;
	if (!file)
		return NULL;
	snprintf(why, sizeof(why), "%.0f blocks a second cost %.0f %% of a CPU", busy.calls,
		 busy.probes * 100);
	err = mt_plan_leave_out_blocks(r->plan, file, why);
	for (uint32_t i = 0; i < budget->count && !err; i++) {
		if (r->plan->events.items[i].file == file)
			mt_event_set_close_event(&budget->counters, i + budget->count);
	}
	*rate = (struct mt_block_rate){.stops = budget->stops};
	mt_block_rate_add_file(rate, r->plan, &counts, MT_EVERY_FILE);
	return err;
}

/*
 * Counts the blocks that the targets allocate and free in a second, and adds the counts to *rate.
 * The counters stay enabled. share: the budget as a share of a CPU.
 */
static struct mt_error *count_blocks(struct mt_recorder *r, double share,
				     struct mt_block_rate *rate)
{
	struct mt_block_budget *budget = r->block_budget = budget_create(r->plan);
	struct mt_error *err;

	if (!budget || !budget->hits || !budget->passed || !budget->rates)
		return mt_error_nomem();
	budget->stops = rate->stops;
	budget->credit.budget = share;
	err = mt_recorder_open_counters(r, &budget->plan, &budget->counters);
	if (!err)
		count_a_second(r, budget, rate);
	return err || !mt_is_stopping() ? err : mt_stop_error();
}

/* ---- Before the recording ---- */

/* Returns an error: the probes exceed the budget, alone or with the fewest possible records. */
static struct mt_error *refuse(const struct mt_block_rate *rate, double budget)
{
	double most = mt_block_rate_records(rate, MT_ONE_IN_MOST);
	bool alone = rate->probes * 100 > budget;

	return mt_error_hint(
		mt_error_create(MT_ERR_UNSUPPORTED,
				"malloc: the targets allocate %.0f blocks a second: probes %s "
				"would cost %.0f %% of a CPU, more than --budget %g",
				rate->calls, alone ? "alone" : "and 1 in 64 records",
				(rate->probes + (alone ? 0 : most)) * 100, budget),
		"--budget %.0f allows that, --malloc-sample 64 takes any price. Sampling does not "
		"make the probes cheaper; fewer processes do",
		(rate->probes + most) * 100 + 1);
}

static struct mt_error *choose(struct mt_recorder *r, uint32_t *one_in)
{
	double budget = r->options->budget > 0 ? r->options->budget : BUDGET;
	struct mt_block_rate rate = {.stops = MT_STOP_PRICES};
	bool measured = mt_stop_prices_measure(&r->features, &rate.stops);
	struct mt_error *err = count_blocks(r, budget / 100, &rate);
	const struct mt_block_rate all = rate;
	bool several = mt_options_target_cpus(r->options) || r->options->pids.count > 1;
	char which[32] = "each is";

	if (err)
		return err;
	mt_recorder_say(r, 2,
			"malloc: a stop at a probe costs %.2f us, %.2f us where the kernel "
			"single-steps, and at a return %.2f us more (%s)",
			rate.stops.emulated * 1e6, rate.stops.stepped * 1e6,
			rate.stops.returned * 1e6, measured ? "measured" : "assumed");
	while (!err && !mt_block_rate_fits(&rate, budget / 100, one_in)) {
		if (several)
			err = leave_out_busiest(r, &rate, &several);
		if (!err && !several)
			err = refuse(&all, budget);
	}
	if (err)
		return err;
	if (*one_in > 1)
		snprintf(which, sizeof(which), "1 in %u is", *one_in);
	mt_recorder_say(
		r, 0,
		"malloc: %.0f blocks a second; the probes cost %.1f %% of a CPU; %s recorded, "
		"for %.1f %%",
		rate.calls, rate.probes * 100, which, mt_block_rate_records(&rate, *one_in) * 100);
	return NULL;
}

/* Prepares the checks of the budget for recording 1 in one_in blocks. */
static void begin_budget(struct mt_block_budget *budget, uint32_t one_in)
{
	if (!budget)
		return;
	budget->one_in = one_in;
	memset(budget->passed, 0, budget->count * sizeof(*budget->passed));
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
	if (err)
		return err;
	one_in = one_in ? one_in : 1;
	begin_budget(r->block_budget, one_in);
	return mt_plan_sample_blocks(r->plan, one_in);
}

/* ---- During the recording ---- */

/* Returns the number of samples of an event and its variants. */
static uint64_t samples_of(const struct mt_recorder *r, uint32_t event)
{
	uint64_t sum = 0;

	for (uint32_t other = 0; other < r->plan->events.count; other++) {
		if (r->plan->events.items[other].full == event)
			sum += mt_drains_event_samples(r->drains.items, r->drains.count, other);
	}
	return sum;
}

/* Returns the rates of hits and records since the last reading. */
static struct mt_block_rate read_rate(struct mt_recorder *r, double seconds)
{
	struct mt_block_budget *budget = r->block_budget;
	struct mt_block_rate rate = {.stops = budget->stops};

	for (uint32_t i = 0; i < budget->count; i++) {
		uint64_t hits, passed;

		if (!is_counted(&r->plan->events.items[i]))
			continue;
		hits = mt_event_set_count(&budget->counters, i + budget->count);
		passed = samples_of(r, i);
		budget->rates[i] = (double)(hits - budget->hits[i]) / seconds;
		mt_block_rate_add(&rate, r->plan, i, hits - budget->hits[i],
				  (passed - budget->passed[i]) * budget->one_in, seconds);
		budget->hits[i] = hits;
		budget->passed[i] = passed;
	}
	return rate;
}

/* Writes until when blocks are known, and disables their events, before any probe is removed. */
static void end_blocks(struct mt_recorder *r, const struct mt_block_rate *rate)
{
	struct mt_state state = {.spool = r->spool, .type = MT_CHUNK_STATE};
	const struct mt_blocks_record record = {.from = mt_clock_now(&r->clock), .one_in = 0};
	struct mt_block_budget *budget = r->block_budget;

	if (!mt_state_begin(&state))
		return; /* the output is stalled; try again at the next tick */
	(void)mt_state_put(&state, mt_blocks_put, &record);
	mt_state_flush(&state);
	budget->ending = true;
	for (uint32_t i = 0; i < r->plan->events.count; i++) {
		if (r->plan->events.items[i].block) /* takes effect before any probe is removed */
			mt_event_set_disable_event(&r->opened, i);
	}
	mt_recorder_say(
		r, 1,
		"malloc: probes switched off after %.1f s: %.0f blocks a second cost %.0f %% "
		"of a CPU, more than --budget %g; blocks are known until then",
		(double)(record.from - r->started) / 1e9, rate->calls,
		(rate->probes + mt_block_rate_records(rate, budget->one_in)) * 100,
		budget->credit.budget * 100);
}

/* Returns the open event with the highest rate of hits; UINT32_MAX if none is open. */
static uint32_t busiest(const struct mt_recorder *r)
{
	const struct mt_block_budget *budget = r->block_budget;
	uint32_t found = UINT32_MAX;

	for (uint32_t i = 0; i < budget->count; i++) {
		if (is_counted(&r->plan->events.items[i]) && !r->plan->events.items[i].left_out &&
		    (found == UINT32_MAX || budget->rates[i] > budget->rates[found]))
			found = i;
	}
	return found;
}

/* Returns the part " of=NAME ..." of an event's account; for a seed, of its event. NULL: none. */
static const char *function_of(const struct mt_plan *plan, uint32_t event)
{
	const struct mt_planned_event *planned = &plan->events.items[event];

	if (planned->role == MT_ROLE_SEED)
		planned = &plan->events.items[planned->pair];
	return planned->account ? strstr(planned->account, " of=") : NULL;
}

/* Returns true if two events probe the same function, which costs time while either is open. */
static bool share_function(const struct mt_plan *plan, uint32_t a, uint32_t b)
{
	const char *one = function_of(plan, a), *other = function_of(plan, b);
	size_t length = one ? strcspn(one + 1, " ") : 0;

	return one && other && length == strcspn(other + 1, " ") &&
	       !strncmp(one + 1, other + 1, length);
}

/* Closes all events of the function that the event probes, also for CPUs that come online later. */
static void close_function(struct mt_recorder *r, uint32_t event)
{
	struct mt_block_budget *budget = r->block_budget;

	for (uint32_t i = 0; i < r->plan->events.count; i++) {
		struct mt_planned_event *planned = &r->plan->events.items[i];

		if (!planned->block || (i != event && !share_function(r->plan, i, event)))
			continue;
		planned->left_out = true;
		mt_event_set_close_event(&r->opened, i);
		if (i < budget->count)
			mt_event_set_close_event(&budget->counters, i + budget->count);
	}
}

void mt_recorder_keep_budget(struct mt_recorder *r)
{
	struct mt_block_budget *budget = r->block_budget;
	uint64_t now = mt_clock_now(&r->clock), took, wait;
	double seconds = (double)(now - budget->last_ns) / 1e9;
	struct mt_block_rate rate;
	uint32_t event;
	double cost;

	if (budget->ending) {
		event = busiest(r);
		if (event != UINT32_MAX)
			close_function(r, event);
		r->next_budget = event != UINT32_MAX ? now : UINT64_MAX;
		return;
	}
	rate = read_rate(r, seconds > 0 ? seconds : 1);
	cost = rate.probes + mt_block_rate_records(&rate, budget->one_in);
	if (mt_block_credit_spend(&budget->credit, cost, budget->last_ns ? seconds : 0) &&
	    cost > budget->credit.budget)
		end_blocks(r, &rate);
	budget->last_ns = now;
	wait = rate.probes > 0 ? TICK_NS : MT_MARK_NS;
	took = (mt_clock_now(&r->clock) - now) * READ_SHARE;
	r->next_budget = budget->ending ? now : now + (took > wait ? took : wait);
}
