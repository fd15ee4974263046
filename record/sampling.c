/*
 * --malloc-sample auto: counts for a second how many blocks the targets allocate, computes the cost
 * of recording them, and chooses the sampling ratio. For a command, which has not begun, every
 * block is recorded.
 */
#include "record/recorder_parts.h"

#include <stdio.h>

#include "formats/base/err.h"
#include "formats/records/address_sample.h"
#include "record/cli/options.h"
#include "record/plan/block_rate.h"
#include "record/plan/plan.h"
#include "record/probes/probe_price.h"

enum {
	BUDGET = 5, /* percent of a CPU; the default */
	/*
	 * Bytes of stack if every block is recorded and the user gave no size. It takes four fifths
	 * of the time of 8 KiB. Seeds complete deeper stacks: 99.5 to 99.9 % were whole.
	 */
	BLOCK_DUMP = 4096,
};

/* Refuses a budget that the probes alone exceed, or the probes with the fewest possible records. */
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
	struct mt_error *err = mt_recorder_count_blocks(r, budget / 100, &rate);
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
			err = mt_recorder_leave_out_busiest(r, &rate, &several);
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
	mt_recorder_begin_budget(r, one_in ? one_in : 1);
	return mt_plan_sample_blocks(r->plan, one_in ? one_in : 1);
}
