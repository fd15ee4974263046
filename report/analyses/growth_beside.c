/*
 * Runs growth and verdicts during another analysis.
 */
#include "report/analyses/growth_beside.h"

#include "formats/base/cleanup.h"
#include "report/account/call.h"
#include "report/analyses/analyses.h"
#include "report/analyses/verdict_rows.h"
#include "report/session/session.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/verdicts/verdicts.h"

MT_DEFINE_CLEANUP(mt_table, struct mt_table)

void mt_growth_deinit(struct mt_growth *growth)
{
	mt_table_destroy(growth->table);
	mt_table_destroy(growth->verdicts);
	mt_growth_run_destroy(growth->run);
	mt_verdicts_destroy(growth->judges);
}

static bool is_told_of(const struct mt_facts *facts)
{
	enum mt_vm_call_kind kind;

	if (facts->marks)
		return true;
	for (size_t i = 0; i < facts->events.count; i++) {
		const struct mt_facts_event *event = &facts->events.items[i];

		if (event->selected && mt_vm_call_moment(event->name, &kind) == MT_MOMENT_EXIT &&
		    kind != MT_VM_BY_NUMBER)
			return true;
	}
	return false;
}

struct mt_error *mt_growth_listen(struct mt_session *session, const struct mt_timespan *time,
				  struct mt_growth *growth)
{
	struct mt_growth_beside beside = {.sums = &growth->sums};
	struct mt_error *err;

	growth->session = session;
	growth->request = (struct mt_analysis_request){
		.stacks = true,
		.by = mt_analysis_growth.default_by,
		.time = *time,
		.unwind = true,
	};
	err = mt_verdicts_create(session, true, &growth->request.time, &growth->judges);
	beside.verdicts = growth->judges;
	return err ? err : mt_growth_begin(session, &growth->request, &beside, &growth->run);
}

struct mt_error *mt_growth_finish(struct mt_growth *growth)
{
	MT_CLEANUP(mt_table_destroy_p) struct mt_table *table = NULL;
	struct mt_error *err = mt_growth_end(growth->run, &table);

	if (err || !is_told_of(mt_session_facts(growth->session)))
		return err;
	err = mt_verdict_table(growth->session, &growth->request, growth->judges,
			       &growth->verdicts);
	if (!err)
		growth->table = MT_TAKE(table);
	return err;
}
