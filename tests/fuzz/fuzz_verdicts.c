/*
 * Calls and faults of a few threads, in any order. Computes verdicts on the memory they reserved.
 */
#include "tests/fuzz/ledger_feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct mt_wishes wishes = {0},
			       half = {.time = {.given = true, .from = 0, .to = 1e-6}};
	struct mt_builder b;

	if (size > FEED_BYTES)
		return 0;
	feed_recording(&b, "6.18.0", data, size);
	feed_analysis(mt_builder_file(&b), &mt_analysis_verdict, &wishes);
	feed_analysis(mt_builder_file(&b), &mt_analysis_verdict, &half);
	mt_builder_deinit(&b);
	return 0;
}
