/*
 * --blocks: blocks that allocators gave and nobody freed, by the path that asked for them. A
 * process that ended or called exec counts as of the moment before. Calls that failed count beside
 * them.
 */
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/analyses/ledger_rows.h"
#include "report/blocks/blocks.h"
#include "report/session/session.h"
#include "report/tables/facts.h"

MT_DEFINE_CLEANUP(mt_row_keys, struct mt_row_keys)

enum {
	VALUE_BYTES,
	VALUE_BLOCKS,
	VALUE_USABLE,
	VALUE_AGE,
	VALUE_FAILED,
	VALUES
};

static const struct mt_value_column value_columns[VALUES] = {
	{"bytes", "B"}, {"blocks", ""}, {"usable", "B"}, {"age", "s"}, {"failed", "calls"},
};

struct live_blocks {
	struct mt_ledger_rows rows;
	struct mt_row_keys *grouping;
	const struct mt_analysis_request *request;
};

static bool add_row(struct live_blocks *live, const struct mt_blocks_space *space,
		    const struct mt_origin *origin, const struct mt_value values[VALUES])
{
	struct mt_row_facts facts;

	return mt_origin_row_facts(&live->rows, origin, &facts) &&
	       (!space->ended || mt_row_mark_ended(&live->rows, space->execed, &facts)) &&
	       mt_row_keys_add(live->grouping, &facts, values);
}

static bool add_block(void *context, const struct mt_blocks_space *space,
		      const struct mt_origin *origin, const struct mt_block *block, bool doubtful)
{
	struct live_blocks *live = context;
	double age = space->time > block->time ? (double)(space->time - block->time) / 1e9 : 0;
	struct mt_value values[VALUES] = {
		[VALUE_BYTES] = mt_value_exact((double)block->bytes),
		[VALUE_BLOCKS] = mt_value_exact(1),
		[VALUE_USABLE] = mt_value_exact((double)block->usable),
		[VALUE_AGE] = mt_value_exact(age),
	};

	if (age < live->request->older_than)
		return true;
	for (size_t i = VALUE_BYTES; doubtful && i <= VALUE_USABLE; i++)
		values[i].low = 0;
	return add_row(live, space, origin, values);
}

static bool add_failed(void *context, const struct mt_blocks_space *space,
		       const struct mt_origin *origin, uint64_t calls)
{
	struct live_blocks *live = context;
	struct mt_value values[VALUES] = {[VALUE_FAILED] = mt_value_exact((double)calls)};

	return live->request->older_than > 0 || add_row(live, space, origin, values);
}

static struct mt_error *run(struct mt_session *session, const struct mt_analysis_request *request,
			    struct mt_table **out)
{
	MT_CLEANUP(mt_row_keys_destroy_p) struct mt_row_keys *grouping = NULL;
	struct live_blocks live = {
		.rows = {.session = session,
			 .stacks = request->stacks,
			 .ended = mt_ledger_rows_ended(request)},
		.request = request,
	};
	const struct mt_blocks_options options = {
		.at = request->at,
		.block = add_block,
		.failed = add_failed,
		.context = &live,
	};
	struct mt_error *err = mt_row_keys_create(session, mt_analysis_blocks.name, value_columns,
						  VALUES, request, &grouping);
	uint64_t lost;

	if (err)
		return err;
	mt_row_keys_most(grouping, VALUE_AGE);
	live.grouping = grouping;
	err = mt_blocks_run(session, &options, &lost);
	if (!err && !mt_row_keys_may_have(grouping, lost, VALUE_BLOCKS))
		err = mt_error_nomem();
	mt_ledger_rows_deinit(&live.rows);
	return err ? err : mt_row_keys_table(MT_TAKE(grouping), out);
}

const struct mt_analysis mt_analysis_blocks = {
	.name = "blocks",
	.help = "blocks that allocators gave and nobody freed",
	.groups = true,
	.by = MT_BY_BIT(MT_BY_EVENT) | MT_BY_BIT(MT_BY_PROCESS) | MT_BY_BIT(MT_BY_THREAD) |
	      MT_BY_BIT(MT_BY_COMM) | MT_BY_BIT(MT_BY_CGROUP) | MT_BY_BIT(MT_BY_CONTAINER) |
	      MT_BY_BIT(MT_BY_IMAGE) | MT_BY_BIT(MT_BY_STACK),
	.default_by = {{MT_BY_COMM, MT_BY_STACK}, 2},
	.moments = true,
	.ages = true,
	.dumps = true,
	.needs = MT_NEEDS_BLOCKS,
	.record = "malloc",
	.output = "paths",
	.run = run,
};
