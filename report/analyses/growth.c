/*
 * --growth: by how much each stack changed the mapped memory: bytes added minus bytes removed by
 * brk, mmap and related calls. Over the life of a space, the sum is the change of the space's size.
 */
#include "report/analyses/growth.h"

#include "report/analyses/analyses.h"
#include "report/analyses/rows/ledger_rows.h"
#include "report/session/session.h"
#include "report/verdicts/verdicts.h"

struct growth {
	struct mt_ledger_run run; /* first */
	bool held;		  /* a return counts against the reserver, not the returning call */
	struct mt_value lost;	  /* bytes that lost calls unmapped (low) and mapped (high) */
};

/*
 * The origin that a change counts for. With growth->held, memory that one call returns counts for
 * the call that had reserved it. So the sum of a path is the memory that it still holds.
 */
static const struct mt_origin *account_of(const struct growth *growth,
					  const struct mt_ledger *ledger,
					  const struct mt_ledger_change *post)
{
	const struct mt_origin *reserver;

	if (!growth->held || post->change->sign >= 0 || post->origin->kind != MT_ORIGIN_CALL)
		return post->origin;
	reserver = mt_ledger_origin(ledger, post->change->reserved_by);
	return reserver->kind == MT_ORIGIN_CALL && reserver->selected ? reserver : post->origin;
}

static void add_bytes(struct growth *growth, const struct mt_ledger *ledger,
		      const struct mt_ledger_change *post, bool counted)
{
	const struct mt_change *change = post->change;
	struct mt_value values[MT_MEMORY_VALUES];
	struct mt_row_facts facts;

	if ((post->origin->kind == MT_ORIGIN_BEFORE && change->sign > 0) || !post->origin->selected)
		return;
	mt_memory_values(mt_ledger_change_bytes(change), mt_value_exact(counted), values);
	if (post->origin->kind == MT_ORIGIN_LOST)
		*(change->sign < 0 ? &growth->lost.low : &growth->lost.high) += values[0].value;
	facts = mt_ledger_row_facts(&growth->run.rows, ledger, account_of(growth, ledger, post),
				    post->attrs, post->space->recording, change->time);
	mt_ledger_row_note(&growth->run.rows, post->space, &facts);
	mt_row_keys_add(growth->run.grouping, &facts, values);
}

static void add_change(void *context, const struct mt_ledger *ledger,
		       const struct mt_ledger_change *post)
{
	add_bytes(context, ledger, post, post->change->sign != 0);
}

/* Counts memory for the call that gave it access. The total of mapped memory stays the same. */
static void add_access(void *context, const struct mt_ledger *ledger,
		       const struct mt_ledger_change *post)
{
	struct mt_change less;
	struct mt_ledger_change from = mt_ledger_access_from(ledger, post, &less);

	if (post->change->sign <= 0)
		return;
	add_bytes(context, ledger, &from, false);
	add_change(context, ledger, post);
}

static void add_space(void *context, const struct mt_ledger *ledger,
		      const struct mt_ledger_space *space, const struct mt_extents *regions,
		      uint64_t time)
{
	struct growth *growth = context;

	(void)ledger;
	(void)regions;
	(void)time;
	mt_ledger_rows_add_remaining(&growth->run.rows, space);
}

static void set_up(struct mt_ledger_run *run)
{
	run->options = (struct mt_ledger_options){
		.change = add_change,
		.accessed = add_access,
		.remaining = add_space,
		.context = run,
	};
}

static void end(struct mt_ledger_run *run)
{
	const uint32_t *lost = &run->rows.words[MT_ORIGIN_LOST];

	if (*lost)
		mt_row_keys_doubt_paths(run->grouping, &((struct growth *)run)->lost, *lost - 1);
}

static const struct mt_ledger_table growth_table = {
	.size = sizeof(struct growth),
	.values = mt_memory_columns,
	.value_count = MT_MEMORY_VALUES,
	.set_up = set_up,
	.end = end,
};

struct mt_listener *mt_growth_listen(struct mt_session *session,
				     const struct mt_analysis_request *request,
				     struct mt_verdicts *verdicts)
{
	struct mt_ledger_run *run = mt_ledger_run_create(&mt_analysis_growth, session, request);

	((struct growth *)run)->held = true;
	mt_verdicts_report_also(verdicts, &(struct mt_verdicts_also){add_change, run});
	mt_verdicts_listen(verdicts, &run->options);
	return mt_ledger_run_begin(run, true);
}

const struct mt_analysis mt_analysis_growth = {
	.name = "growth",
	.help = "bytes each stack mapped, less the bytes it unmapped",
	.groups = true,
	.by = MT_BY_OF_MEMORY | MT_BY_BIT(MT_BY_TIME),
	.default_by = {{MT_BY_COMM, MT_BY_STACK}, 2},
	.needs = MT_NEEDS_GROWTH,
	.record = "vm",
	.output = "paths",
	.listen = mt_ledger_table_listen,
	.rows = &growth_table,
};
