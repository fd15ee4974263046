/*
 * --outstanding: memory reserved and not returned, by its reserver. A process that ended or called
 * exec counts with the memory that it had just before. With --timeline, each interval shows bytes
 * reserved minus bytes returned; the intervals add up to the outstanding bytes at the end.
 */
#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/analyses/rows/ledger_rows.h"
#include "report/session/session.h"

enum {
	VALUE_AGE = MT_MEMORY_VALUES,
	VALUES
};

static const struct mt_value_column value_columns[VALUES] = {
	{"bytes", "B"},
	{"count", "blocks"},
	{"pages", "pages"},
	{"age", "s"},
};

struct outstanding {
	struct mt_ledger_rows rows;
	struct mt_row_keys *grouping;
	const struct mt_analysis_request *request;
	bool all;
};

/*
 * Whether a program requested the memory. Pages of files do not count, nor do mappings that exec
 * made for the program.
 */
static bool counts(const struct outstanding *o, const struct mt_ledger_space *space,
		   const struct mt_extent *region, const struct mt_origin *origin,
		   const struct mt_region_attrs *attrs)
{
	if (!origin->selected)
		return false;
	if (o->request->all)
		return true;
	if (origin->kind == MT_ORIGIN_BEFORE || mt_ledger_inherited(space, region))
		return false;
	return mt_region_attrs_are_held(attrs) || (o->all && origin->kind != MT_ORIGIN_EXEC);
}

static bool add_region(struct outstanding *o, const struct mt_ledger *ledger,
		       const struct mt_ledger_space *space, const struct mt_extent *region,
		       uint64_t time)
{
	const struct mt_origin *origin = mt_ledger_origin(ledger, region->origin);
	const struct mt_region_attrs *attrs = mt_attrs_get(mt_ledger_attrs(ledger), region->attrs);
	double age = time > region->time ? (double)(time - region->time) / 1e9 : 0;
	double size = (double)(region->end - region->start);
	struct mt_value values[VALUES], bytes = mt_value_exact(size);
	struct mt_row_facts facts;

	if (!counts(o, space, region, origin, attrs) || age < o->request->older_than)
		return true;
	bytes.low -= (double)mt_ledger_doubtful(ledger, space, region);
	mt_memory_values(bytes, mt_value_exact(1), values);
	values[VALUE_AGE] = mt_value_exact(age);
	return mt_ledger_row_facts(&o->rows, ledger, origin, attrs, space->recording, region->time,
				   &facts) &&
	       mt_ledger_row_mark(&o->rows, space, &facts) &&
	       mt_row_keys_add(o->grouping, &facts, values);
}

static bool add_space(void *context, const struct mt_ledger *ledger,
		      const struct mt_ledger_space *space, const struct mt_extents *regions,
		      uint64_t time)
{
	const struct mt_extent *region = mt_extents_after(regions, 0);

	for (; region; region = mt_extents_after(regions, region->end)) {
		if (!add_region(context, ledger, space, region, time))
			return false;
	}
	return true;
}

/* --timeline: changes, counted for the call that had reserved the memory. */
static bool add_change(void *context, const struct mt_ledger *ledger,
		       const struct mt_ledger_change *post)
{
	struct outstanding *o = context;
	const struct mt_change *change = post->change;
	const struct mt_origin *owner =
		change->sign < 0 ? mt_ledger_origin(ledger, change->reserved_by) : post->origin;
	const struct mt_extent region = {
		.start = change->start,
		.end = change->end,
		.time = change->sign < 0 ? change->reserved : change->time,
	};
	struct mt_value values[MT_MEMORY_VALUES];
	struct mt_row_facts facts;

	if (!counts(o, post->space, &region, owner, post->attrs))
		return true;
	mt_memory_values(mt_ledger_change_bytes(change), mt_value_exact(change->sign), values);
	return mt_ledger_row_facts(&o->rows, ledger, owner, post->attrs, post->space->recording,
				   change->time, &facts) &&
	       mt_ledger_row_note(&o->rows, post->space, &facts) &&
	       mt_row_keys_add(o->grouping, &facts, values);
}

/*
 * When a call (mprotect) gives access to memory that had none, the memory moves from the call that
 * had reserved it to this call.
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
	return add_change(context, ledger, &from) && add_change(context, ledger, post);
}

struct outstanding_run {
	struct mt_listener listener; /* first: ops get a pointer to it */
	struct outstanding outstanding;
	struct mt_row_keys *grouping;
	struct mt_ledger_options options;
	struct mt_ledger *ledger;
	bool timeline;
};

static void outstanding_run_destroy(struct outstanding_run *run)
{
	if (!run)
		return;
	mt_ledger_destroy(run->ledger);
	mt_ledger_rows_deinit(&run->outstanding.rows);
	mt_row_keys_destroy(run->grouping);
	free(run);
}

MT_DEFINE_CLEANUP(outstanding_run, struct outstanding_run)

static struct mt_error *make_run(struct mt_session *session,
				 const struct mt_analysis_request *request,
				 struct outstanding_run **out)
{
	MT_CLEANUP(outstanding_run_destroy_p) struct outstanding_run *run = calloc(1, sizeof(*run));
	struct mt_error *err;

	if (!run)
		return mt_error_nomem();
	run->timeline = mt_by_has(&request->by, MT_BY_TIME);
	err = mt_row_keys_create(session, mt_analysis_outstanding.name, value_columns,
				 run->timeline ? MT_MEMORY_VALUES : VALUES, request,
				 &run->grouping);
	if (err)
		return err;
	if (!run->timeline)
		mt_row_keys_most(run->grouping, VALUE_AGE);
	run->outstanding = (struct outstanding){
		.rows = {.session = session,
			 .stacks = request->unwind,
			 .ended = mt_ledger_rows_ended(request)},
		.grouping = run->grouping,
		.request = request,
		.all = mt_by_has(&request->by, MT_BY_FILE) ||
		       (mt_by_has(&request->by, MT_BY_KIND) && !request->page),
	};
	run->options = (struct mt_ledger_options){
		.at = request->at,
		.change = run->timeline ? add_change : NULL,
		.accessed = run->timeline ? add_access : NULL,
		.remaining = run->timeline ? NULL : add_space,
		.context = &run->outstanding,
	};
	*out = MT_TAKE(run);
	return NULL;
}

static struct mt_error *conclude(struct outstanding_run *run, struct mt_table **out)
{
	if (run->timeline && !mt_ledger_rows_mark(&run->outstanding.rows, run->grouping))
		return mt_error_nomem();
	return mt_row_keys_table(MT_TAKE(run->grouping), out);
}

static struct mt_error *end_listening(struct mt_listener *listener, struct mt_table **out)
{
	struct outstanding_run *run = (struct outstanding_run *)listener;

	mt_ledger_end(run->ledger);
	return conclude(run, out);
}

static void stop_listening(struct mt_listener *listener)
{
	outstanding_run_destroy((struct outstanding_run *)listener);
}

static struct mt_error *listen(struct mt_session *session,
			       const struct mt_analysis_request *request, struct mt_listener **out)
{
	MT_CLEANUP(outstanding_run_destroy_p) struct outstanding_run *run = NULL;
	struct mt_error *err = make_run(session, request, &run);

	err = err ? err : mt_ledger_begin(session, &run->options, &run->ledger);
	if (err)
		return err;
	run->listener = (struct mt_listener){.end = end_listening, .destroy = stop_listening};
	*out = &MT_TAKE(run)->listener;
	return NULL;
}

static struct mt_error *run_alone(struct mt_session *session,
				  const struct mt_analysis_request *request, struct mt_table **out)
{
	MT_CLEANUP(outstanding_run_destroy_p) struct outstanding_run *run = NULL;
	struct mt_error *err = make_run(session, request, &run);

	err = err ? err : mt_ledger_run(session, &run->options, &run->ledger);
	return err ? err : conclude(run, out);
}

const struct mt_analysis mt_analysis_outstanding = {
	.name = "outstanding",
	.help = "memory reserved and not given back, by stack",
	.groups = true,
	.by = MT_BY_OF_MEMORY | MT_BY_BIT(MT_BY_TIME),
	.default_by = {{MT_BY_COMM, MT_BY_STACK}, 2},
	.moments = true,
	.ages = true,
	.narrows = true,
	.needs = MT_NEEDS_GROWTH | MT_NEEDS_HELD,
	.record = "vm",
	.output = "paths",
	.run = run_alone,
	.listen = listen,
};
