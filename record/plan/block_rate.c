/* Prices in seconds; docs/allocators.md explains them. */
#include "record/plan/block_rate.h"

#include "formats/records/address_sample.h"
#include "record/plan/plan.h"

#define MARK 1.5e-6	   /* record without a stack */
#define SAMPLE 6e-6	   /* record with a stack, in the target and until it is written */
#define CREDIT 2.5	   /* in seconds of the budget */
#define DUMPED_KIB 0.35e-6 /* per KiB of stack */

void mt_block_rate_add(struct mt_block_rate *rate, const struct mt_plan *plan, uint32_t event,
		       uint64_t hits, uint64_t passed, double seconds)
{
	const struct mt_planned_event *planned = &plan->events.items[event];
	double calls = (double)hits / seconds, recorded = (double)passed / seconds;
	double stop = planned->is_stepped ? rate->stops.stepped : rate->stops.emulated;

	if (planned->block == MT_PLANNED_FREE) {
		rate->frees += recorded;
		rate->probes += calls * stop;
	} else if (planned->block == MT_PLANNED_ALLOC) {
		rate->calls += calls;
		rate->allocs += recorded;
		rate->probes += calls * (stop + rate->stops.returned);
		if (!planned->is_sized || planned->frees_old)
			rate->entries += calls;
		rate->dump_size = planned->attr.sample_stack_user;
	}
}

void mt_block_rate_add_file(struct mt_block_rate *rate, const struct mt_plan *plan,
			    const struct mt_block_counts *counts, uint32_t file)
{
	for (uint32_t i = 0; i < counts->count && counts->seconds > 0; i++) {
		const struct mt_planned_event *event = &plan->events.items[i];

		if (!event->left_out && (file == MT_EVERY_FILE || file == event->file))
			mt_block_rate_add(rate, plan, i, counts->hits[i], counts->passed[i],
					  counts->seconds);
	}
}

static bool is_left_out(const struct mt_plan *plan, uint32_t file)
{
	for (size_t i = 0; i < plan->events.count; i++) {
		if (plan->events.items[i].file == file && !plan->events.items[i].left_out)
			return false;
	}
	return true;
}

uint32_t mt_block_rate_dearest(const struct mt_plan *plan, const struct mt_block_counts *counts,
			       struct mt_stop_prices stops, struct mt_block_rate *out)
{
	uint32_t found = 0, left = 0;

	for (uint32_t file = 1; file <= plan->block_files.count; file++) {
		struct mt_block_rate rate = {.stops = stops};

		if (is_left_out(plan, file))
			continue;
		left++;
		mt_block_rate_add_file(&rate, plan, counts, file);
		if (found && rate.probes <= out->probes)
			continue;
		found = file;
		*out = rate;
	}
	return left > 1 ? found : 0;
}

double mt_block_rate_records(const struct mt_block_rate *rate, uint32_t one_in)
{
	double sample = SAMPLE + DUMPED_KIB * rate->dump_size / 1024;
	double entries = one_in == 1 ? rate->calls : rate->entries;

	return (rate->allocs * sample + rate->frees * MARK) / one_in + entries * MARK;
}

bool mt_block_rate_fits(const struct mt_block_rate *rate, double budget, uint32_t *one_in)
{
	double left = budget - rate->probes;
	uint32_t least = 1;

	while (least < MT_ONE_IN_MOST && mt_block_rate_records(rate, least) > left)
		least *= 2;
	*one_in = least;
	return mt_block_rate_records(rate, least) <= left;
}

bool mt_block_credit_spend(struct mt_block_credit *credit, double cost, double seconds)
{
	double most = credit->budget * CREDIT;

	credit->left += (credit->budget - cost) * seconds;
	if (credit->left > most)
		credit->left = most;
	return credit->left < -most;
}
