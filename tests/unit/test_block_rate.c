/* record/plan/block_rate: what blocks cost, and 1 in how many keeps to a budget. */
#include "record/plan/block_rate.h"

#include "record/plan/plan.h"
#include "tests/unit/unit.h"

static struct mt_block_rate rate_of(uint64_t blocks, bool glibc)
{
	struct mt_planned_event items[] = {
		{.block = MT_PLANNED_NONE},
		{.block = MT_PLANNED_ALLOC, .is_sized = glibc, .is_stepped = !glibc},
		{.block = MT_PLANNED_FREE, .is_sized = glibc, .is_stepped = !glibc},
		{.block = MT_PLANNED_ENTER, .is_sized = glibc},
	};
	struct mt_plan plan = {.events = {.items = items, .count = 4}};
	struct mt_block_rate rate = {.stops = MT_STOP_PRICES};

	items[1].attr.sample_stack_user = 16384;
	for (uint32_t i = 0; i < 4; i++)
		mt_block_rate_add(&rate, &plan, i, 2 * blocks, 2 * blocks, 2);
	return rate;
}

MT_TEST(a_budget_takes_fewer_the_more_there_are)
{
	struct mt_block_rate slow = rate_of(1000, true), fast = rate_of(10000, true),
			     storm = rate_of(125000, true);

	MT_CHECK_EQ(mt_block_rate_choose(&slow, 0.05), 1);
	MT_CHECK_EQ(mt_block_rate_choose(&fast, 0.05), 4);
	MT_CHECK_EQ(mt_block_rate_choose(&storm, 0.05), 64);
	MT_CHECK(mt_block_rate_records(&fast, 4) <= 0.05);
	MT_CHECK(mt_block_rate_records(&fast, 2) > 0.05);
}

MT_TEST(probes_cost_the_same_whatever_is_chosen)
{
	MT_CHECK(rate_of(10000, true).probes < 0.05);
	MT_CHECK(rate_of(125000, true).probes > 0.2);
	MT_CHECK(rate_of(10000, false).probes > 2 * rate_of(10000, true).probes);
}

MT_TEST(without_a_size_before_the_block_entries_are_recorded)
{
	struct mt_block_rate glibc = rate_of(10000, true), other = rate_of(10000, false);

	MT_CHECK(mt_block_rate_records(&other, 64) > 2 * mt_block_rate_records(&glibc, 64));
}

MT_TEST_MAIN
