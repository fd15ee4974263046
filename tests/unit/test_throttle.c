/* The throttle: lowers the rate at once, raises it only after calm, and stays within the levels. */
#include "record/plan/throttle.h"

#include "tests/unit/unit.h"

/*
 * The input of a tenth of a second at a rate of `events` a second, counted with the variant of
 * `level`.
 */
static struct mt_throttle_input moment(double events, int level, unsigned fill)
{
	uint64_t samples = (uint64_t)(events / 10 / mt_levels[level].thinning);

	return (struct mt_throttle_input){.seconds = 0.1,
					  .recorder_cpu = (double)samples * 5e-6,
					  .spool_fill = fill,
					  .samples = samples,
					  .all_samples = samples,
					  .small_dumps = true,
					  .thins = true,
					  .dump_size = 16384};
}

/* The level that is reached under a steady load. */
static int settle(const struct mt_throttle_limits *limits, double events, unsigned fill)
{
	struct mt_throttle throttle = {.level = mt_throttle_start(limits)};

	for (int i = 0; i < 200; i++) {
		struct mt_throttle_input in = moment(events, throttle.level, fill);

		(void)mt_throttle_step(limits, &in, &throttle);
	}
	return throttle.level;
}

MT_TEST(without_limits_everything_is_recorded)
{
	struct mt_throttle_limits none = {0};

	MT_CHECK_EQ(mt_throttle_start(&none), MT_LEVEL_FULL);
	MT_CHECK_EQ(settle(&none, 400000, 0), MT_LEVEL_FULL);
}

MT_TEST(a_spool_that_fills_first_costs_dumps_then_samples)
{
	struct mt_throttle_limits none = {0};
	struct mt_throttle throttle = {.level = MT_LEVEL_FULL};
	struct mt_throttle_input in = moment(400000, MT_LEVEL_FULL, 80);

	MT_CHECK(mt_throttle_step(&none, &in, &throttle));
	MT_CHECK_EQ(throttle.level, MT_LEVEL_SMALL);
	MT_CHECK(mt_throttle_step(&none, &in, &throttle));
	MT_CHECK_EQ(throttle.level, MT_LEVEL_16);
	in.small_dumps = false;
	throttle.level = MT_LEVEL_FULL;
	MT_CHECK(mt_throttle_step(&none, &in, &throttle));
	MT_CHECK_EQ(throttle.level, MT_LEVEL_16);
}

MT_TEST(without_thinning_variants_a_spool_costs_dumps_alone)
{
	struct mt_throttle_limits none = {0};
	struct mt_throttle throttle = {.level = MT_LEVEL_FULL};
	struct mt_throttle_input in = moment(400000, MT_LEVEL_FULL, 80);

	in.thins = false;
	MT_CHECK(mt_throttle_step(&none, &in, &throttle));
	MT_CHECK(!mt_throttle_step(&none, &in, &throttle));
	MT_CHECK_EQ(throttle.level, MT_LEVEL_SMALL);
	in.spool_fill = 0;
	for (int i = 0; i < 100; i++)
		(void)mt_throttle_step(&none, &in, &throttle);
	MT_CHECK_EQ(throttle.level, MT_LEVEL_FULL);
	in.small_dumps = false;
	in.spool_fill = 80;
	MT_CHECK(!mt_throttle_step(&none, &in, &throttle));
}

MT_TEST(it_comes_back_when_the_spool_is_calm)
{
	struct mt_throttle_limits none = {0};
	struct mt_throttle throttle = {.level = MT_LEVEL_4096};
	struct mt_throttle_input in = moment(1000, MT_LEVEL_4096, 0);
	int steps = 0;

	while (throttle.level != MT_LEVEL_FULL && steps < 1000) {
		(void)mt_throttle_step(&none, &in, &throttle);
		steps++;
	}
	MT_CHECK(steps >= 4 * 5 && steps < 1000);
}

MT_TEST(a_rate_limit_is_kept)
{
	struct mt_throttle_limits limits = {.max_rate = 1000};

	MT_CHECK_EQ(settle(&limits, 500, 0), MT_LEVEL_FULL);
	MT_CHECK_EQ(settle(&limits, 5000, 0), MT_LEVEL_16);
	MT_CHECK_EQ(settle(&limits, 60000, 0), MT_LEVEL_256);
	MT_CHECK_EQ(settle(&limits, 3e6, 0), MT_LEVEL_4096);
	MT_CHECK_EQ(settle(&limits, 1e12, 0), MT_LEVEL_4096);
}

MT_TEST(a_budget_is_kept)
{
	struct mt_throttle_limits tight = {.budget = 0.01}, wide = {.budget = 2};

	MT_CHECK(settle(&tight, 60000, 0) >= MT_LEVEL_256);
	MT_CHECK_EQ(settle(&wide, 60000, 0), MT_LEVEL_FULL);
}

MT_TEST(no_time_no_decision)
{
	struct mt_throttle_limits limits = {.max_rate = 1};
	struct mt_throttle throttle = {.level = MT_LEVEL_FULL};
	struct mt_throttle_input in = {.samples = 1000};

	MT_CHECK(!mt_throttle_step(&limits, &in, &throttle));
	MT_CHECK_EQ(throttle.level, MT_LEVEL_FULL);
}

MT_TEST_MAIN
