/*
 * record/plan/block_rate: the cost of block events, and the sampling rate that keeps it within a
 * budget.
 */
#include "record/plan/block_rate.h"

#include <stdlib.h>
#include <string.h>

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
			     faster = rate_of(20000, true);
	uint32_t one_in;

	MT_CHECK(mt_block_rate_fits(&slow, 0.05, &one_in));
	MT_CHECK_EQ(one_in, 1);
	MT_CHECK(mt_block_rate_fits(&fast, 0.05, &one_in));
	MT_CHECK_EQ(one_in, 8);
	MT_CHECK(fast.probes + mt_block_rate_records(&fast, 8) <= 0.05);
	MT_CHECK(fast.probes + mt_block_rate_records(&fast, 4) > 0.05);
	MT_CHECK(mt_block_rate_fits(&faster, 0.05, &one_in));
	MT_CHECK_EQ(one_in, 32);
}

MT_TEST(a_budget_that_probes_alone_pass_fits_no_choice)
{
	struct mt_block_rate storm = rate_of(125000, true);
	uint32_t one_in;

	MT_CHECK(!mt_block_rate_fits(&storm, 0.05, &one_in));
	MT_CHECK(mt_block_rate_fits(&storm, 0.5, &one_in));
}

MT_TEST(a_burst_within_the_credit_spends_it_and_a_storm_passes_it)
{
	struct mt_block_credit credit = {.budget = 0.05};

	for (int i = 0; i < 100; i++) /* idle: at most 0.125 s of credit is saved */
		MT_CHECK(!mt_block_credit_spend(&credit, 0, 0.1));
	MT_CHECK(!mt_block_credit_spend(&credit, 0.85, 0.2));
	MT_CHECK(mt_block_credit_spend(&credit, 0.85, 0.2));
}

MT_TEST(what_costs_just_the_budget_never_spends_the_credit)
{
	struct mt_block_credit credit = {.budget = 0.05};

	for (int i = 0; i < 10000; i++)
		MT_CHECK(!mt_block_credit_spend(&credit, 0.05, 0.1));
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

MT_TEST(the_allocator_whose_probes_cost_most_is_left_out_first)
{
	struct mt_planned_event items[] = {
		{.block = MT_PLANNED_NONE},
		{.block = MT_PLANNED_ALLOC, .file = 1},
		{.block = MT_PLANNED_FREE, .file = 1},
		{.block = MT_PLANNED_ALLOC, .file = 2},
		{.block = MT_PLANNED_FREE, .file = 2},
		{.block = MT_PLANNED_ALLOC, .file = 0}, /* named by the user */
	};
	char *files[] = {"one", "other"};
	const uint64_t hits[] = {0, 100, 100, 90000, 80000, 1000000};
	const struct mt_block_counts counts = {hits, hits, 6, 1};
	struct mt_plan plan = {.events = {.items = items, .count = 6},
			       .block_files = {.items = files, .count = 2},
			       .probed = strdup("malloc: 9 functions of one, 12 functions of other "
						"are probed; slow")};
	struct mt_block_rate rate = {0}, rest = {.stops = MT_STOP_PRICES};

	MT_CHECK_EQ(mt_block_rate_dearest(&plan, &counts, rest.stops, &rate), 2);
	MT_CHECK_EQ((int)rate.calls, 90000);
	MT_CHECK(!mt_plan_leave_out_blocks(&plan, 2, "busy"));
	MT_CHECK_STR(plan.probed,
		     "malloc: 9 functions of one are probed; slow; left out: other, busy");
	MT_CHECK(items[3].left_out && items[4].left_out && !items[1].left_out &&
		 !items[5].left_out);
	mt_block_rate_add_file(&rest, &plan, &counts, MT_EVERY_FILE);
	MT_CHECK_EQ((int)rest.calls, 1000100);
	MT_CHECK_EQ(mt_block_rate_dearest(&plan, &counts, rest.stops, &rate), 0);
	free(plan.probed);
}

MT_TEST_MAIN
