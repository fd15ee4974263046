/*
 * --growth: by how much each stack changed what is mapped: bytes that it added less those that it
 * took away, by brk, mmap and their like. Over a space's life it adds up to the change of its size.
 */
#include "report/analyses/growth.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/analyses/ledger_rows.h"
#include "report/session.h"
#include "report/verdicts/verdicts.h"

MT_DEFINE_CLEANUP(mt_grouping, struct mt_grouping)
MT_DEFINE_CLEANUP(mt_ledger, struct mt_ledger)

struct growth {
	struct mt_ledger_rows rows;
	struct mt_grouping *grouping;
	struct mt_value lost; /* low: what went in records that were lost; high: what came */
};

static bool add_change(void *context, const struct mt_ledger *ledger,
		       const struct mt_ledger_change *told)
{
	struct growth *growth = context;
	const struct mt_change *change = told->change;
	struct mt_value values[MT_MEMORY_VALUES];
	struct mt_row_facts facts;

	if (told->origin->kind == MT_ORIGIN_BEFORE || !told->origin->selected)
		return true;
	mt_memory_values(mt_ledger_change_bytes(change), mt_value_exact(change->sign != 0), values);
	if (told->origin->kind == MT_ORIGIN_LOST)
		*(change->sign < 0 ? &growth->lost.low : &growth->lost.high) += values[0].value;
	return mt_ledger_row_facts(&growth->rows, ledger, told->origin, told->nature,
				   told->space->recording, change->time, &facts) &&
	       mt_grouping_add(growth->grouping, &facts, values);
}

struct mt_error *mt_growth_with_verdicts(struct mt_session *session,
					 const struct mt_analysis_request *request,
					 struct mt_verdicts *verdicts, struct mt_table **out)
{
	MT_CLEANUP(mt_grouping_destroy_p) struct mt_grouping *grouping = NULL;
	MT_CLEANUP(mt_ledger_destroy_p) struct mt_ledger *ledger = NULL;
	struct growth growth = {.rows = {.session = session, .stacks = request->unwind}};
	struct mt_ledger_options options = {.change = add_change, .context = &growth};
	struct mt_error *err =
		mt_grouping_create(session, mt_analysis_growth.name, mt_memory_columns,
				   MT_MEMORY_VALUES, request, &grouping);

	growth.grouping = grouping;
	if (verdicts) {
		mt_verdicts_tell_also(verdicts, &(struct mt_verdicts_also){add_change, &growth});
		mt_verdicts_listen(verdicts, &options);
	}
	err = err ? err : mt_ledger_run(session, &options, &ledger);
	err = err || !verdicts ? err : mt_verdicts_judge(verdicts);
	if (!err && growth.rows.words[MT_ORIGIN_LOST])
		mt_grouping_doubt_paths(grouping, &growth.lost,
					growth.rows.words[MT_ORIGIN_LOST] - 1);
	return err ? err : mt_grouping_table(MT_TAKE(grouping), out);
}

static struct mt_error *run(struct mt_session *session, const struct mt_analysis_request *request,
			    struct mt_table **out)
{
	return mt_growth_with_verdicts(session, request, NULL, out);
}

const struct mt_analysis mt_analysis_growth = {
	.name = "growth",
	.help = "bytes that each stack added to what is mapped, less those it took away",
	.groups = true,
	.by = MT_BY_OF_MEMORY | MT_BY_BIT(MT_BY_TIME),
	.default_by = {{MT_BY_COMM, MT_BY_STACK}, 2},
	.record = "vm",
	.output = "paths",
	.run = run,
};
