/*
 * --faults and --files: page faults by mode and stack, or by the file mapped at the address. Minor
 * and major faults are separate if they were recorded separately.
 */
#include <string.h>

#include "report/analyses/analyses.h"
#include "report/sums/row_keys.h"

static bool is_fault(const char *event)
{
	static const char *const names[] = {"page-faults", "faults", "minor-faults",
					    "major-faults"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t length = strlen(names[i]);

		/* perf appends modifiers: page-faults:u */
		if (!strncmp(event, names[i], length) && (!event[length] || event[length] == ':'))
			return true;
	}
	return false;
}

static struct mt_error *run_faults(struct mt_session *session,
				   const struct mt_analysis_request *request, struct mt_table **out)
{
	return mt_row_keys_of_samples(session, mt_analysis_faults.name, request, out);
}

static struct mt_error *run_files(struct mt_session *session,
				  const struct mt_analysis_request *request, struct mt_table **out)
{
	return mt_row_keys_of_samples(session, mt_analysis_files.name, request, out);
}

#define KEYS (MT_BY_OF_SAMPLES | MT_BY_BIT(MT_BY_KIND) | MT_BY_BIT(MT_BY_FILE))
#define RECORD "page-faults; minor and major apart: minor-faults,major-faults"

const struct mt_analysis mt_analysis_faults = {
	.name = "faults",
	.help = "page faults by event, user or kernel, and stack",
	.groups = true,
	.by = KEYS,
	.default_by = {{MT_BY_EVENT, MT_BY_MODE, MT_BY_COMM, MT_BY_STACK}, 4},
	.reported = true,
	.events_apart = true,
	.wants = is_fault,
	.regions = true,
	.record = RECORD,
	.output = "table",
	.run = run_faults,
};

const struct mt_analysis mt_analysis_files = {
	.name = "files",
	.help = "page faults by mapped file, heap, stack, anonymous",
	.rare = true,
	.groups = true,
	.by = KEYS,
	.default_by = {{MT_BY_EVENT, MT_BY_KIND, MT_BY_FILE}, 3},
	.events_apart = true,
	.wants = is_fault,
	.regions = true,
	.record = RECORD,
	.output = "table",
	.run = run_files,
};
