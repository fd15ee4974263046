/*
 * --blocks: blocks that allocators gave and nobody freed, by the path that asked for them. A
 * process that ended or called exec counts as of the moment before. Calls that failed count beside
 * them.
 */
#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/analyses/block_rows.h"
#include "report/blocks/blocks.h"
#include "report/session/session.h"
#include "report/tables/estimate.h"
#include "report/tables/facts.h"

enum {
	VALUE_BYTES,
	VALUE_BLOCKS,
	VALUE_USABLE,
	VALUE_AGE,  /* of the oldest */
	VALUE_LAST, /* when the youngest was given, since the recording's start */
	VALUE_FAILED,
	VALUES
};

static const struct mt_value_column value_columns[VALUES] = {
	{"bytes", "B"}, {"blocks", ""}, {"usable", "B"},
	{"age", "s"},	{"last", "s"},	{"failed", "calls"},
};

struct live_blocks {
	struct mt_block_rows rows;
	const struct mt_analysis_request *request;
};

static bool add_block(void *context, const struct mt_blocks_space *space,
		      const struct mt_origin *origin, const struct mt_block *block, bool doubtful)
{
	struct live_blocks *live = context;
	uint32_t one_in = mt_block_rows_one_in(&live->rows, origin);
	double age = space->time > block->time ? (double)(space->time - block->time) / 1e9 : 0;
	uint64_t start =
		mt_session_facts(live->rows.rows.session)->recordings.items[space->recording].start;
	double last = block->time > start ? (double)(block->time - start) / 1e9 : 0;
	struct mt_value values[VALUES] = {
		[VALUE_BYTES] = mt_value_sampled((double)block->bytes, one_in),
		[VALUE_BLOCKS] = mt_value_sampled(1, one_in),
		[VALUE_USABLE] = mt_value_sampled((double)block->usable, one_in),
		[VALUE_AGE] = mt_value_exact(age),
		[VALUE_LAST] = mt_value_exact(last),
	};

	if (age < live->request->older_than)
		return true;
	for (size_t i = VALUE_BYTES; doubtful && i <= VALUE_USABLE; i++)
		values[i].low = 0;
	return mt_block_rows_add(&live->rows, space, origin, block, values);
}

static bool add_failed(void *context, const struct mt_blocks_space *space,
		       const struct mt_origin *origin, uint64_t calls)
{
	struct live_blocks *live = context;
	struct mt_value values[VALUES] = {[VALUE_FAILED] = mt_value_exact((double)calls)};

	return live->request->older_than > 0 ||
	       mt_block_rows_add(&live->rows, space, origin, NULL, values);
}

static struct mt_error *run(struct mt_session *session, const struct mt_analysis_request *request,
			    struct mt_table **out)
{
	struct live_blocks live = {.request = request};
	const struct mt_blocks_options options = {
		.at = request->at,
		.block = add_block,
		.failed = add_failed,
		.context = &live,
	};
	uint64_t lost;
	struct mt_error *err = mt_block_rows_init(&live.rows, session, mt_analysis_blocks.name,
						  value_columns, VALUES, request);

	if (err)
		return err;
	mt_row_keys_most(live.rows.grouping, VALUE_AGE);
	mt_row_keys_most(live.rows.grouping, VALUE_LAST);
	err = mt_blocks_run(session, &options, &lost);
	if (!err && !mt_row_keys_may_have(live.rows.grouping, lost, VALUE_BLOCKS))
		err = mt_error_nomem();
	if (!err) {
		err = mt_row_keys_table(live.rows.grouping, out);
		live.rows.grouping = NULL;
	}
	mt_block_rows_deinit(&live.rows);
	return err;
}

const struct mt_analysis mt_analysis_blocks = {
	.name = "blocks",
	.help = "blocks that allocators gave and nobody freed",
	.groups = true,
	.by = MT_BY_OF_BLOCKS,
	.default_by = {{MT_BY_COMM, MT_BY_STACK}, 2},
	.moments = true,
	.ages = true,
	.dumps = true,
	.needs = MT_NEEDS_BLOCKS,
	.record = "malloc",
	.output = "paths",
	.run = run,
};
