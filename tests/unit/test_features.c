/* record/open/perf_event and record/open/clock: the code accepts whatever this kernel supports. */
#include "record/open/perf_event.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "record/open/clock.h"
#include "tests/unit/unit.h"

static bool probed(struct mt_perf_features *features)
{
	struct mt_error *err = mt_features_probe(features);

	mt_error_destroy(err);
	return !err;
}

MT_TEST(every_feature_says_since_when_it_is_there_and_what_its_loss_costs)
{
	size_t count;
	const struct mt_feature *rows = mt_feature_rows(&count);

	MT_CHECK(count >= 10);
	for (size_t i = 0; i < count; i++)
		MT_CHECK(*rows[i].name && *rows[i].since && *rows[i].cost);
}

MT_TEST(each_feature_has_a_place_of_its_own)
{
	struct mt_perf_features features;
	size_t count;
	const struct mt_feature *rows = mt_feature_rows(&count);

	for (size_t i = 0; i < count; i++) {
		memset(&features, 0, sizeof(features));
		*((bool *)((char *)&features + rows[i].offset)) = true;
		for (size_t k = 0; k < count; k++)
			MT_CHECK_EQ(mt_feature_has(&features, &rows[k]), k == i);
	}
	MT_CHECK_EQ(count, offsetof(struct mt_perf_features, inherited_reads) / sizeof(bool));
}

MT_TEST(the_perf_clock_is_related_to_the_monotonic_one)
{
	struct mt_perf_features features;
	struct mt_clock clock;
	int64_t before, after;

	if (!probed(&features))
		MT_SKIP("no perf events here");
	features.clockid = false;
	MT_REQUIRE(MT_CHECK(mt_clock_open(&features, &clock)));
	MT_CHECK(clock.perf);
	MT_CHECK(clock.within < 1000000);
	before = clock.ahead;
	MT_CHECK(mt_clock_sync(&clock));
	after = clock.ahead;
	/* both are nanoseconds and advance at the same rate */
	MT_CHECK(after - before < 5000000 && before - after < 5000000);
	mt_clock_close(&clock);
}

MT_TEST(the_monotonic_clock_needs_no_relating)
{
	struct mt_perf_features features = {.clockid = true};
	struct mt_clock clock;
	struct timespec t;
	uint64_t before, now;

	MT_REQUIRE(MT_CHECK(mt_clock_open(&features, &clock)));
	clock_gettime(CLOCK_MONOTONIC, &t);
	before = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	now = mt_clock_now(&clock);
	MT_CHECK(now >= before && now - before < 1000000000u);
	usleep(1000);
	MT_CHECK(mt_clock_now(&clock) - now >= 1000000);
	MT_CHECK(!clock.perf && !clock.page);
	mt_clock_close(&clock);
}

MT_TEST_MAIN
