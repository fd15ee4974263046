/*
 * --outstanding: memory reserved and not returned, by its reserver. A process that ended or called
 * exec counts with the memory that it had just before. With --timeline, each interval shows bytes
 * reserved minus bytes returned; the intervals add up to the outstanding bytes at the end.
 */
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
	struct mt_ledger_run run; /* first */
	bool all;		  /* memory of all kinds is shown */
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
	if (o->run.request->all)
		return true;
	if (origin->kind == MT_ORIGIN_BEFORE || mt_ledger_inherited(space, region))
		return false;
	return mt_region_attrs_are_held(attrs) || (o->all && origin->kind != MT_ORIGIN_EXEC);
}

static void add_region(struct outstanding *o, const struct mt_ledger *ledger,
		       const struct mt_ledger_space *space, const struct mt_extent *region,
		       uint64_t time)
{
	const struct mt_origin *origin = mt_ledger_origin(ledger, region->origin);
	const struct mt_region_attrs *attrs = mt_attrs_get(mt_ledger_attrs(ledger), region->attrs);
	double age = time > region->time ? (double)(time - region->time) / 1e9 : 0;
	double size = (double)(region->end - region->start);
	struct mt_value values[VALUES], bytes = mt_value_exact(size);
	struct mt_row_facts facts;

	if (!counts(o, space, region, origin, attrs) || age < o->run.request->older_than)
		return;
	bytes.low -= (double)mt_ledger_doubtful(ledger, space, region);
	mt_memory_values(bytes, mt_value_exact(1), values);
	values[VALUE_AGE] = mt_value_exact(age);
	facts = mt_ledger_row_facts(&o->run.rows, ledger, origin, attrs, space->recording,
				    region->time);
	mt_ledger_row_mark(&o->run.rows, space, &facts);
	mt_row_keys_add(o->run.grouping, &facts, values);
}

static void add_space(void *context, const struct mt_ledger *ledger,
		      const struct mt_ledger_space *space, const struct mt_extents *regions,
		      uint64_t time)
{
	const struct mt_extent *region = mt_extents_after(regions, 0);

	for (; region; region = mt_extents_after(regions, region->end))
		add_region(context, ledger, space, region, time);
}

/* For --timeline: adds a change, counted for the call that had reserved the memory. */
static void add_change(void *context, const struct mt_ledger *ledger,
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
		return;
	mt_memory_values(mt_ledger_change_bytes(change), mt_value_exact(change->sign), values);
	facts = mt_ledger_row_facts(&o->run.rows, ledger, owner, post->attrs,
				    post->space->recording, change->time);
	mt_ledger_row_note(&o->run.rows, post->space, &facts);
	mt_row_keys_add(o->run.grouping, &facts, values);
}

static void add_access(void *context, const struct mt_ledger *ledger,
		       const struct mt_ledger_change *post)
{
	struct mt_change less;
	struct mt_ledger_change from = mt_ledger_access_from(ledger, post, &less);

	if (post->change->sign <= 0)
		return;
	add_change(context, ledger, &from);
	add_change(context, ledger, post);
}

static void set_up(struct mt_ledger_run *run)
{
	const struct mt_by_list *by = &run->request->by;

	((struct outstanding *)run)->all =
		mt_by_has(by, MT_BY_FILE) || (mt_by_has(by, MT_BY_KIND) && !run->request->page);
	run->options.at = run->request->at;
	run->options.context = run;
	if (run->timeline) {
		run->value_count = MT_MEMORY_VALUES;
		run->options.change = add_change;
		run->options.accessed = add_access;
	} else {
		run->options.remaining = add_space;
	}
}

static const struct mt_ledger_table outstanding = {
	.size = sizeof(struct outstanding),
	.values = value_columns,
	.value_count = VALUES,
	.most = 1u << VALUE_AGE,
	.set_up = set_up,
};

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
	.listen = mt_ledger_table_listen,
	.rows = &outstanding,
};
