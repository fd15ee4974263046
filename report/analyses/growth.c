/*
 * --growth: by how much each stack changed the mapped memory: bytes added minus bytes removed by
 * brk, mmap and related calls. Over a space's life the sum is the change of its size.
 */
#include "report/analyses/growth.h"

#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/analyses/rows/ledger_rows.h"
#include "report/session/session.h"
#include "report/verdicts/verdicts.h"

MT_DEFINE_CLEANUP(mt_growth_run, struct mt_growth_run)

struct growth {
	struct mt_ledger_rows rows;
	struct mt_row_keys *grouping;
	bool held;	      /* a return counts against the reserver, not the returning call */
	struct mt_value lost; /* low: lost records that unmapped memory; high: that mapped memory */
};

/*
 * The origin that a change counts for. With growth->held, memory that one call returns and another
 * one reserved counts for the latter, so the sum is the memory that its path still holds.
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

static bool add_bytes(struct growth *growth, const struct mt_ledger *ledger,
		      const struct mt_ledger_change *post, bool counted)
{
	const struct mt_change *change = post->change;
	struct mt_value values[MT_MEMORY_VALUES];
	struct mt_row_facts facts;

	if ((post->origin->kind == MT_ORIGIN_BEFORE && change->sign > 0) || !post->origin->selected)
		return true;
	mt_memory_values(mt_ledger_change_bytes(change), mt_value_exact(counted), values);
	if (post->origin->kind == MT_ORIGIN_LOST)
		*(change->sign < 0 ? &growth->lost.low : &growth->lost.high) += values[0].value;
	return mt_ledger_row_facts(&growth->rows, ledger, account_of(growth, ledger, post),
				   post->attrs, post->space->recording, change->time, &facts) &&
	       mt_ledger_row_note(&growth->rows, post->space, &facts) &&
	       mt_row_keys_add(growth->grouping, &facts, values);
}

static bool add_change(void *context, const struct mt_ledger *ledger,
		       const struct mt_ledger_change *post)
{
	return add_bytes(context, ledger, post, post->change->sign != 0);
}

/*
 * The call that gives memory its first access reserves it, and the path that had reserved the
 * address space holds that much less. The total of mapped memory stays the same.
 */
static bool add_access(void *context, const struct mt_ledger *ledger,
		       const struct mt_ledger_change *post)
{
	struct mt_ledger_change from = *post;
	struct mt_change less = *post->change;

	if (post->change->sign <= 0)
		return true;
	less.sign = -1;
	from.change = &less;
	from.origin = mt_ledger_origin(ledger, less.reserved_by);
	return add_bytes(context, ledger, &from, false) && add_change(context, ledger, post);
}

static bool add_space(void *context, const struct mt_ledger *ledger,
		      const struct mt_ledger_space *space, const struct mt_extents *regions,
		      uint64_t time)
{
	struct growth *growth = context;

	(void)ledger;
	(void)regions;
	(void)time;
	mt_ledger_rows_add_remaining(&growth->rows, space);
	return true;
}

struct mt_growth_run {
	struct mt_listener listener; /* first: ops get a pointer to it */
	struct growth growth;
	struct mt_row_keys *grouping;
	struct mt_ledger_options options;
	struct mt_ledger *ledger;
};

void mt_growth_run_destroy(struct mt_growth_run *run)
{
	if (!run)
		return;
	mt_ledger_destroy(run->ledger);
	mt_ledger_rows_deinit(&run->growth.rows);
	mt_row_keys_destroy(run->grouping);
	free(run);
}

static struct mt_error *make_run(struct mt_session *session,
				 const struct mt_analysis_request *request,
				 struct mt_verdicts *verdicts, struct mt_growth_run **out)
{
	MT_CLEANUP(mt_growth_run_destroy_p) struct mt_growth_run *run = calloc(1, sizeof(*run));
	struct mt_error *err;

	if (!run)
		return mt_error_nomem();
	err = mt_row_keys_create(session, mt_analysis_growth.name, mt_memory_columns,
				 MT_MEMORY_VALUES, request, &run->grouping);
	if (err)
		return err;
	run->growth = (struct growth){
		.rows = {.session = session,
			 .stacks = request->unwind,
			 .ended = verdicts ? MT_ENDED_SILENT : mt_ledger_rows_ended(request)},
		.grouping = run->grouping,
	};
	run->options = (struct mt_ledger_options){
		.change = add_change,
		.accessed = add_access,
		.remaining = add_space,
		.context = &run->growth,
	};
	if (verdicts) {
		run->growth.held = true;
		mt_verdicts_report_also(verdicts,
					&(struct mt_verdicts_also){add_change, &run->growth});
		mt_verdicts_listen(verdicts, &run->options);
	}
	*out = MT_TAKE(run);
	return NULL;
}

struct mt_error *mt_growth_begin(struct mt_session *session,
				 const struct mt_analysis_request *request,
				 struct mt_verdicts *verdicts, struct mt_growth_run **out)
{
	MT_CLEANUP(mt_growth_run_destroy_p) struct mt_growth_run *run = NULL;
	struct mt_error *err = make_run(session, request, verdicts, &run);

	err = err ? err : mt_ledger_begin(session, &run->options, &run->ledger);
	if (err)
		return err;
	*out = MT_TAKE(run);
	return NULL;
}

/* Makes the table after the ledger's run. */
static struct mt_error *conclude(struct mt_growth_run *run, struct mt_table **out)
{
	const uint32_t *lost = &run->growth.rows.words[MT_ORIGIN_LOST];

	if (*lost && !mt_row_keys_doubt_paths(run->grouping, &run->growth.lost, *lost - 1))
		return mt_error_nomem();
	if (!mt_ledger_rows_mark(&run->growth.rows, run->grouping))
		return mt_error_nomem();
	return mt_row_keys_table(MT_TAKE(run->grouping), out);
}

struct mt_error *mt_growth_end(struct mt_growth_run *run, struct mt_table **out)
{
	mt_ledger_end(run->ledger);
	return conclude(run, out);
}

static struct mt_error *run_alone(struct mt_session *session,
				  const struct mt_analysis_request *request, struct mt_table **out)
{
	MT_CLEANUP(mt_growth_run_destroy_p) struct mt_growth_run *run = NULL;
	struct mt_error *err = make_run(session, request, NULL, &run);

	err = err ? err : mt_ledger_run(session, &run->options, &run->ledger);
	return err ? err : conclude(run, out);
}

static struct mt_error *end_listening(struct mt_listener *listener, struct mt_table **out)
{
	return mt_growth_end((struct mt_growth_run *)listener, out);
}

static void stop_listening(struct mt_listener *listener)
{
	mt_growth_run_destroy((struct mt_growth_run *)listener);
}

static struct mt_error *listen(struct mt_session *session,
			       const struct mt_analysis_request *request, struct mt_listener **out)
{
	struct mt_growth_run *run;
	struct mt_error *err = mt_growth_begin(session, request, NULL, &run);

	if (err)
		return err;
	run->listener = (struct mt_listener){.end = end_listening, .destroy = stop_listening};
	*out = &run->listener;
	return NULL;
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
	.run = run_alone,
	.listen = listen,
};
