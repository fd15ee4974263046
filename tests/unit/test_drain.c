/* record/rings/drain: waiting for drains that do not respond. */
#include "record/rings/drain.h"

#include "formats/records/events.h"
#include "record/open/clock.h"
#include "record/open/ring.h"
#include "tests/unit/unit.h"

#define DRAINS 20
#define DEADLINE_NS 100000000ull

/* Drains whose threads never run and that have no rings. */
MT_TEST(one_deadline_is_for_all)
{
	struct mt_ring none[MT_CLASSES] = {0};
	struct mt_stream_config config = {0};
	struct mt_drain *drains[DRAINS];
	uint64_t began, took;

	for (uint32_t i = 0; i < DRAINS; i++) {
		MT_REQUIRE(MT_CHECK_OK(mt_drain_create((int)i, i, none, &config, &drains[i])));
		mt_drain_flush(drains[i]);
		MT_CHECK(!mt_drain_flushed(drains[i]));
	}
	began = mt_clock_monotonic();
	for (size_t i = 0; i < DRAINS; i++)
		MT_CHECK(!mt_drain_wait(drains[i], began + DEADLINE_NS));
	took = mt_clock_monotonic() - began;
	MT_CHECK(took >= DEADLINE_NS);
	MT_CHECK(took < DRAINS * DEADLINE_NS / 2);
	for (size_t i = 0; i < DRAINS; i++)
		mt_drain_destroy(drains[i]);
}

MT_TEST(a_drain_that_runs_answers)
{
	struct mt_ring none[MT_CLASSES] = {0};
	struct mt_stream_config config = {0};
	struct mt_drain *drain;

	MT_REQUIRE(MT_CHECK_OK(mt_drain_create(0, 0, none, &config, &drain)));
	MT_CHECK_OK(mt_drain_start(drain, NULL));
	for (int i = 0; i < 100; i++) {
		mt_drain_flush(drain);
		MT_CHECK(mt_drain_wait(drain, mt_clock_monotonic() + 10000000000ull));
	}
	mt_drain_destroy(drain);
}

MT_TEST_MAIN
