/*
 * Faults, counts and calls of a few threads, in any order. Computes resident pages by holder, with
 * and without counts from the kernel, at the end, at the peak and over time.
 */
#include "tests/fuzz/ledger_feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct mt_wishes end = {0}, peak = {.at = {.when = MT_AT_PEAK}},
			       timeline = {.timeline = true, .interval = 1e-7};
	struct mt_builder b;

	if (size > FEED_BYTES)
		return 0;
	feed_recording(&b, size % 2 ? "6.18.0" : "5.10.0", data, size);
	feed_analysis(mt_builder_file(&b), &mt_analysis_resident, &end);
	feed_analysis(mt_builder_file(&b), &mt_analysis_resident, &peak);
	feed_analysis(mt_builder_file(&b), &mt_analysis_resident, &timeline);
	mt_builder_deinit(&b);
	return 0;
}
