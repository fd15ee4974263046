/* Gauges over time: bounded memory, and descriptions in words. */
#include "report/gauges/series.h"
#include "tests/unit/unit.h"

#define SECOND ((uint64_t)1000000000)
#define MB ((double)(1 << 20))

/* A series with one value a second. */
static struct mt_series make(const double *values, size_t count)
{
	struct mt_series series = {0};

	for (size_t i = 0; i < count; i++)
		mt_series_add(&series, (i + 1) * SECOND, values[i] * MB);
	return series;
}

static const char *trend_of(const double *values, size_t count)
{
	struct mt_series series = make(values, count);
	const char *trend = mt_series_trend(&series, false, SECOND, count * SECOND, SECOND);

	mt_series_deinit(&series);
	return trend;
}

#define TREND(...)                              \
	trend_of((const double[]){__VA_ARGS__}, \
		 sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

MT_TEST(courses_have_words)
{
	MT_CHECK_STR(TREND(10, 20, 30, 40, 50, 60, 70, 80), "steady");
	MT_CHECK_STR(TREND(10, 10, 10, 10, 10, 10, 10, 10), "flat");
	MT_CHECK_STR(TREND(10, 10, 10.1, 10, 10.1, 10, 10, 10), "flat");
	MT_CHECK_STR(TREND(10, 90, 90, 90, 90, 90, 90, 90, 90, 90), "one step, flat");
	MT_CHECK_STR(TREND(10, 10, 40, 40, 40, 80, 80, 80, 80, 80, 80, 80), "two steps, flat");
	MT_CHECK_STR(TREND(10, 10, 10, 10, 10, 10, 10, 10, 80), "one step");
	MT_CHECK_STR(TREND(80, 70, 60, 50, 40, 30, 20, 10), "falls");
	MT_CHECK_STR(TREND(10, 80, 20, 90, 20, 80, 20, 90), "up and down");
	MT_CHECK_STR(TREND(10, 60, 80, 80, 10, 10, 10, 10), "up, then down");
}

MT_TEST(a_new_process_began_at_nothing)
{
	struct mt_series series = make((const double[]){20, 20, 20, 20, 20, 20, 20, 20}, 8);

	MT_CHECK_STR(mt_series_trend(&series, true, 0, 8 * SECOND, SECOND), "one step, flat");
	MT_CHECK_STR(mt_series_trend(&series, false, 0, 8 * SECOND, SECOND), "flat");
	mt_series_deinit(&series);
}

MT_TEST(too_few_readings_have_none)
{
	MT_CHECK_STR(TREND(10, 50, 90), "-");
	MT_CHECK_STR(TREND(10, 10), "flat");
}

MT_TEST(a_value_holds_until_the_next)
{
	struct mt_series series = make((const double[]){10, 20, 30}, 3);

	MT_CHECK(mt_series_at(&series, 0) == 10 * MB);
	MT_CHECK(mt_series_at(&series, 2 * SECOND - 1) == 10 * MB);
	MT_CHECK(mt_series_at(&series, 2 * SECOND) == 20 * MB);
	MT_CHECK(mt_series_at(&series, 9 * SECOND) == 30 * MB);
	mt_series_deinit(&series);
}

MT_TEST(a_day_takes_as_much_room_as_a_minute)
{
	struct mt_series series = {0};
	double worst = 0;

	for (uint64_t i = 1; i <= 86400; i++)
		mt_series_add(&series, i * SECOND, (double)i * 4096);
	MT_CHECK(series.count <= MT_SERIES_POINTS);
	MT_CHECK(series.most == 86400.0 * 4096 && series.last == series.most);
	MT_CHECK(mt_series_at(&series, 86400 * SECOND) == series.last);
	for (uint64_t i = 1; i <= 86400; i += 600) {
		double off = (double)i * 4096 - mt_series_at(&series, i * SECOND);

		worst = off > worst ? off : worst;
	}
	MT_CHECK(worst < 86400.0 * 4096 / 10);
	MT_CHECK_STR(mt_series_trend(&series, false, SECOND, 86400 * SECOND, SECOND), "steady");
	mt_series_deinit(&series);
}

MT_TEST(one_value_takes_no_points)
{
	struct mt_series series = {0};

	mt_series_add(&series, SECOND, 4096);
	MT_CHECK(!series.points && series.count == 1);
	MT_CHECK(mt_series_at(&series, 0) == 4096 && mt_series_at(&series, 9 * SECOND) == 4096);
	mt_series_add(&series, SECOND, 8192);
	MT_CHECK(mt_series_at(&series, 0) == 4096 && mt_series_at(&series, SECOND) == 8192);
	mt_series_deinit(&series);
}

MT_TEST_MAIN
