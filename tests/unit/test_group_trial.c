/* record/open/trials: the kernel is asked which events can be counted together. */
#include "record/open/trials.h"

#include <linux/perf_event.h>

#include "record/open/perf_event.h"
#include "tests/unit/unit.h"

static struct perf_event_attr software(uint64_t config)
{
	return (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
					.size = sizeof(struct perf_event_attr),
					.config = config,
					.sample_period = 1,
					.disabled = 1,
					.inherit = 1,
					.exclude_kernel = 1,
					.exclude_hv = 1};
}

MT_TEST(a_group_is_possible_where_the_kernel_opens_it)
{
	const struct mt_perf_features features = {0};
	struct mt_trials trials = {0};
	struct mt_group_trial trial = {.features = &features, .trials = &trials};
	struct perf_event_attr attrs[3] = {software(PERF_COUNT_SW_PAGE_FAULTS),
					   software(PERF_COUNT_SW_TASK_CLOCK),
					   software(PERF_COUNT_SW_CONTEXT_SWITCHES)};

	MT_CHECK(mt_group_trial_together(&trial, attrs, 3));
	if (!trials.kept.count) /* perf_event_open is not permitted */
		MT_SKIP("this kernel opens no event for us");
	MT_CHECK_EQ(trials.kept.count, 3);
	attrs[2].sample_period = UINT64_C(1) << 63; /* an invalid value for the kernel */
	MT_CHECK(!mt_group_trial_together(&trial, attrs, 3));
	attrs[0].sample_period = UINT64_C(1) << 63; /* invalid alone: not the group's fault */
	MT_CHECK(mt_group_trial_together(&trial, attrs, 3));
	MT_CHECK(mt_group_trial_together(&trial, attrs + 1, 1));
	MT_CHECK(!mt_group_trial_together(&trial, attrs, 1));
	mt_trials_end(&trials);
}

MT_TEST_MAIN
