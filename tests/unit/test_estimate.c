/*
 * report/tables/estimate: the intervals of sampled values, and of their sums, hold the true value.
 */
#include "report/tables/estimate.h"
#include "tests/unit/unit.h"

enum {
	TRIALS = 2000,
	ONE_IN = 16,
};

static uint64_t drawn = 1;

static uint32_t draw(uint32_t below)
{
	drawn = drawn * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(drawn >> 33) % below;
}

/* Samples `count` clusters of 1 to `most` and adds them up, in rows of `row` clusters. */
static bool holds(unsigned int count, unsigned int most, unsigned int row)
{
	struct mt_value total = mt_value_exact(0), part = mt_value_exact(0);
	double truth = 0;

	for (unsigned int i = 0; i < count; i++) {
		double size = 1 + draw(most);
		struct mt_value value = mt_value_sampled(size, ONE_IN);

		truth += size;
		if (!draw(ONE_IN))
			mt_value_add(&part, &value, false);
		if ((i + 1) % row == 0 || i + 1 == count) {
			mt_value_add(&total, &part, false);
			part = mt_value_exact(0);
		}
	}
	if (!total.value)
		return truth <= 3.69 * ONE_IN * most;
	return total.low <= truth && truth <= total.high;
}

static unsigned int held(unsigned int count, unsigned int most, unsigned int row)
{
	unsigned int good = 0;

	for (unsigned int i = 0; i < TRIALS; i++)
		good += holds(count, most, row);
	return good;
}

MT_TEST(nineteen_of_twenty_intervals_hold)
{
	MT_CHECK(held(10, 1, 10) >= TRIALS * 95 / 100);
	MT_CHECK(held(100, 1, 100) >= TRIALS * 95 / 100);
	MT_CHECK(held(1000, 1, 1000) >= TRIALS * 95 / 100);
	MT_CHECK(held(100, 1000, 100) >= TRIALS * 93 / 100);
	MT_CHECK(held(1000, 1000, 1000) >= TRIALS * 95 / 100);
}

MT_TEST(a_sum_of_rows_has_the_interval_of_the_sum)
{
	MT_CHECK(held(1000, 1000, 1) >= TRIALS * 95 / 100);
	MT_CHECK(held(1000, 1000, 7) >= TRIALS * 95 / 100);
}

MT_TEST(intervals_are_no_wider_than_the_sample_makes_them)
{
	struct mt_value sum = mt_value_exact(0), one = mt_value_sampled(1, ONE_IN);

	for (unsigned int i = 0; i < 100; i++)
		mt_value_add(&sum, &one, false);
	MT_CHECK(sum.value == 1600 && sum.low > 1600 * 0.70 && sum.high < 1600 * 1.36);
}

MT_TEST(losses_add_their_doubt)
{
	struct mt_value sampled = mt_value_sampled(10, ONE_IN), lost = mt_value_exact(7), sum;

	lost.low = 3;
	lost.high = 12;
	sum = sampled;
	mt_value_add(&sum, &lost, false);
	MT_CHECK(sum.value == 167 && sum.low == sampled.low + 3 && sum.high == sampled.high + 12);
	mt_value_add(&sum, &lost, true);
	MT_CHECK(sum.value == 174 && sum.low == sampled.low + 10 && sum.high == sampled.high + 19);
}

MT_TEST(exact_values_stay_exact)
{
	struct mt_value all = mt_value_sampled(10, 1), base = mt_value_exact(4);
	struct mt_value change = mt_value_change(&base, &all);

	MT_CHECK(all.low == 10 && all.high == 10 && all.value == 10);
	MT_CHECK(change.low == 6 && change.high == 6 && change.value == 6);
	mt_value_none_seen(&all, &base);
	MT_CHECK(base.high == 4);
}

MT_TEST(one_cluster_twice_is_one_choice)
{
	struct mt_value sum = mt_value_sampled(5, ONE_IN), whole = mt_value_sampled(10, ONE_IN);
	struct mt_value again = mt_value_again(&sum, 1);

	mt_value_add(&sum, &again, false);
	MT_CHECK(sum.low == whole.low && sum.high == whole.high && sum.variance == whole.variance);
}

MT_TEST(a_change_is_as_doubtful_as_both_sides)
{
	struct mt_value base = mt_value_sampled(100, ONE_IN), now = mt_value_sampled(100, ONE_IN);
	struct mt_value change = mt_value_change(&base, &now), none = mt_value_exact(0);

	MT_CHECK(change.value == 0 && change.low < base.low - base.value &&
		 change.high < now.high - base.low);
	mt_value_none_seen(&now, &none);
	MT_CHECK(none.high > 3.6 * 1600 && none.high < 3.7 * 1600);
}

MT_TEST_MAIN
