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

MT_DEFINE_CLEANUP(mt_table, struct mt_table)

void mt_growth_deinit(struct mt_growth *growth)
{
	mt_table_destroy(growth->table);
	mt_table_destroy(growth->verdicts);
	mt_growth_run_destroy(growth->run);
	mt_verdicts_destroy(growth->judges);
	mt_session_destroy(growth->session);
}

static bool is_told_of(const struct mt_facts *facts)
{
	enum mt_vm_call_kind kind;

	for (size_t i = 0; i < facts->events.count; i++) {
		const struct mt_facts_event *event = &facts->events.items[i];

		if (event->selected && mt_vm_call_moment(event->name, &kind) == MT_MOMENT_EXIT &&
		    kind != MT_VM_BY_NUMBER)
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

static struct mt_error *prepare(struct mt_session *session, const struct mt_timespan *time,
				struct mt_growth *growth)
{
	growth->listened_to = session;
	growth->request = (struct mt_analysis_request){
		.stacks = true,
		.by = mt_analysis_growth.default_by,
		.time = *time,
		.unwind = true,
	};
	return mt_verdicts_create(session, true, &growth->request.time, &growth->judges);
}

struct mt_error *mt_growth_listen(struct mt_session *session,
				  const struct mt_session_options *options,
				  struct mt_growth *growth)
{
	struct mt_error *err;

	if (!options->stacks)
		return NULL;
	err = prepare(session, &options->selection->time, growth);
	return err ? err : mt_growth_begin(session, &growth->request, growth->judges, &growth->run);
}

/* What was heard, where it was about such calls. */
static struct mt_error *heard(const struct mt_facts *facts, struct mt_growth *growth)
{
	MT_CLEANUP(mt_table_destroy_p) struct mt_table *table = NULL;
	struct mt_error *err = mt_growth_end(growth->run, &table);

	if (err || !is_told_of(facts))
		return err;
	err = mt_verdict_table(growth->listened_to, &growth->request, growth->judges,
			       &growth->verdicts);
	if (!err)
		growth->table = MT_TAKE(table);
	return err;
}

static struct mt_error *read_again(const struct mt_session_options *options,
				   struct mt_growth *growth)
{
	struct mt_session_options again = *options;
	struct mt_error *err;

	again.progress = NULL;
	again.stacks = true;
	err = mt_session_open(&again, &growth->session);
	err = err ? err : prepare(growth->session, &options->selection->time, growth);
	err = err ? err
		  : mt_growth_with_verdicts(growth->session, &growth->request, growth->judges,
					    &growth->table);
	return err ? err
		   : mt_verdict_table(growth->session, &growth->request, growth->judges,
				      &growth->verdicts);
}

struct mt_error *mt_growth_finish(const struct mt_session_options *options,
				  const struct mt_facts *facts, struct mt_growth *growth)
{
	if (growth->run)
		return heard(facts, growth);
	if (!is_told_of(facts) || !can_be_read_again(options))
		return NULL;
	return read_again(options, growth);
}

const struct mt_facts *mt_growth_facts(const struct mt_growth *growth)
{
	return growth->table ? mt_session_facts(growth->listened_to) : NULL;
}
