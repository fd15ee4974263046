/*
 * report/sums/group_keys and report/cli/request: the keys of a table, by analysis, output and
 * words.
 */
#include "report/cli/request.h"

#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/cli/registry.h"
#include "report/outputs/outputs.h"
#include "tests/unit/unit.h"

/* "event,comm,stack" of the request; "listing"; or the message of the error. */
static const char *keys(const struct mt_analysis *analysis, const struct mt_output *output,
			const char *by, struct mt_wishes wishes)
{
	static char text[200];
	struct mt_analysis_request request;
	struct mt_error *err = by ? mt_by_parse("--by", by, &wishes.by) : NULL;
	size_t used = 0;

	err = err ? err : mt_request_make(analysis, output, &wishes, &request);
	if (err) {
		snprintf(text, sizeof(text), "%s", err->message);
		mt_error_destroy(err);
		return text;
	}
	snprintf(text, sizeof(text), "%s", request.listing ? "listing" : "");
	for (size_t i = 0; i < request.by.count; i++) {
		const struct mt_by_def *def = mt_by_def(request.by.keys[i]);

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? "," : "",
					 def->name ? def->name : "time");
	}
	return text;
}

MT_TEST(without_words_the_analysis_decides)
{
	struct mt_wishes none = {0};

	MT_CHECK_STR(keys(&mt_analysis_samples, &mt_output_folded, NULL, none), "event,comm,stack");
	MT_CHECK_STR(keys(&mt_analysis_samples, &mt_output_table, NULL, none), "event,comm");
	MT_CHECK_STR(keys(&mt_analysis_samples, &mt_output_csv, NULL, none), "event,comm,stack");
	MT_CHECK_STR(keys(&mt_analysis_samples, &mt_output_script, NULL, none), "listing");
	MT_CHECK_STR(keys(&mt_analysis_mmaps, &mt_output_csv, NULL, none), "listing");
}

MT_TEST(by_names_the_keys_events_first_and_stacks_last)
{
	struct mt_wishes none = {0}, stacks = {.stacks = true}, timeline = {.timeline = true};

	MT_CHECK_STR(keys(&mt_analysis_samples, &mt_output_csv, "cpu,process", none),
		     "event,cpu,process");
	MT_CHECK_STR(keys(&mt_analysis_samples, &mt_output_table, "stack,cpu,cpu", none),
		     "event,cpu,stack");
	MT_CHECK_STR(keys(&mt_analysis_samples, &mt_output_folded, "cpu", none), "event,cpu,stack");
	MT_CHECK_STR(keys(&mt_analysis_samples, &mt_output_table, "cpu", stacks),
		     "event,cpu,stack");
	MT_CHECK_STR(keys(&mt_analysis_faults, &mt_output_table, NULL, timeline),
		     "time,event,process,kind");
}

MT_TEST(what_cannot_be_is_refused)
{
	struct mt_wishes none = {0}, timeline = {.timeline = true};

	MT_CHECK_STR(keys(&mt_analysis_samples, &mt_output_csv, "kind", none),
		     "--by kind: --samples does not know it");
	MT_CHECK_STR(keys(&mt_analysis_samples, &mt_output_summary, "cpu", none),
		     "--by cpu: --summary takes one of process, cgroup, container, image");
	MT_CHECK_STR(keys(&mt_analysis_mmaps, &mt_output_folded, NULL, none),
		     "--mmaps lists single events, and --folded shows sums");
	MT_CHECK_STR(keys(&mt_analysis_mmaps, &mt_output_csv, NULL, timeline),
		     "--timeline makes sums, and --mmaps shows single events");
	MT_CHECK_STR(keys(&mt_analysis_samples, &mt_output_csv, "cpu,", none),
		     "--by : no such key");
}

MT_TEST_MAIN
