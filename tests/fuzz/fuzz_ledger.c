/*
 * Calls of a few threads, in any order. Computes growth, outstanding memory and mapped memory, at
 * the end, at the peak and at a moment.
 */
#include "tests/fuzz/ledger_feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct mt_wishes end = {0}, old = {.older_than = 1e-8},
			       peak = {.at = {.when = MT_AT_PEAK}},
			       moment = {.at = {.when = MT_AT_TIME, .seconds = -1, .part = 0.5}};
	struct mt_builder b;

	if (size > FEED_BYTES)
		return 0;
	feed_recording(&b, size % 2 ? "6.18.0" : "5.10.0", data, size);
	feed_analysis(mt_builder_file(&b), &mt_analysis_growth, &end);
	feed_analysis(mt_builder_file(&b), &mt_analysis_outstanding, &peak);
	feed_analysis(mt_builder_file(&b), &mt_analysis_outstanding, &old);
	feed_analysis(mt_builder_file(&b), &mt_analysis_maps, &end);
	feed_analysis(mt_builder_file(&b), &mt_analysis_maps, &moment);
	mt_builder_deinit(&b);
	return 0;
}
