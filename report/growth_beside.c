/*
 * Growth and verdicts beside another analysis.
 */
#include "report/growth_beside.h"

#include <sys/stat.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/analyses/growth.h"
#include "report/analyses/verdict_rows.h"
#include "report/facts.h"
#include "report/ledger/call.h"
#include "report/selection.h"
#include "report/session.h"
#include "report/table.h"
#include "report/verdicts/verdicts.h"

MT_DEFINE_CLEANUP(mt_verdicts, struct mt_verdicts)

void mt_growth_deinit(struct mt_growth *growth)
{
	mt_table_destroy(growth->table);
	mt_table_destroy(growth->verdicts);
	mt_session_destroy(growth->session);
}

static bool is_told_of(const struct mt_facts *facts)
{
	enum mt_vm_call_kind kind;

	for (size_t i = 0; i < facts->events.count; i++) {
		const struct mt_facts_event *event = &facts->events.items[i];

		if (event->selected &&
		    mt_vm_call_moment(event->name, event->alias, &kind) == MT_MOMENT_EXIT)
			return true;
	}
	return false;
}

static bool can_be_read_again(const struct mt_session_options *options)
{
	struct stat file;

	for (size_t i = 0; i < options->file_count; i++) {
		if (stat(options->files[i], &file) || !S_ISREG(file.st_mode))
			return false;
	}
	return true;
}

static struct mt_error *run_ledger(const struct mt_timespan *time, struct mt_growth *out)
{
	const struct mt_analysis_request request = {
		.stacks = true,
		.by = mt_analysis_growth.default_by,
		.time = *time,
		.unwind = true,
	};
	MT_CLEANUP(mt_verdicts_destroy_p) struct mt_verdicts *verdicts = NULL;
	struct mt_error *err = mt_verdicts_create(out->session, true, &request.time, &verdicts);

	err = err ? err : mt_growth_with_verdicts(out->session, &request, verdicts, &out->table);
	return err ? err : mt_verdict_table(out->session, &request, verdicts, &out->verdicts);
}

struct mt_error *mt_growth_read(const struct mt_session_options *options,
				const struct mt_facts *facts, struct mt_growth *out)
{
	struct mt_session_options again = *options;
	struct mt_error *err;

	if (!is_told_of(facts) || !can_be_read_again(options))
		return NULL;
	again.progress = NULL;
	again.stacks = true;
	err = mt_session_open(&again, &out->session);
	return err ? err : run_ledger(&options->selection->time, out);
}
