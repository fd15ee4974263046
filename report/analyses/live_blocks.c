/*
 * --blocks: blocks that were allocated and not freed, by the path that allocated them. A process
 * that ended or called exec counts as of the moment before. Failed calls are counted in a column of
 * their own.
 */
#include "report/analyses/live_blocks.h"

#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/analyses/block_totals.h"
#include "report/analyses/rows/block_rows.h"
#include "report/blocks/blocks.h"
#include "report/session/session.h"
#include "report/tables/estimate.h"
#include "report/tables/facts.h"

enum {
	VALUE_BYTES,
	VALUE_BLOCKS,
	VALUE_USABLE,
	VALUE_AGE,  /* of the oldest */
	VALUE_LAST, /* time of its allocation or last resize, since the recording's start */
	VALUE_FAILED,
	VALUES
};

static const struct mt_value_column value_columns[VALUES] = {
	{"bytes", "B"}, {"blocks", ""}, {"usable", "B"},
	{"age", "s"},	{"last", "s"},	{"failed", "calls"},
};

static bool add_block(void *context, const struct mt_blocks_space *space,
		      const struct mt_origin *origin, const struct mt_block *block, bool doubtful)
{
	struct mt_block_rows *rows = context;
	uint32_t one_in = mt_block_rows_one_in(rows, origin);
	double age = space->time > block->time ? (double)(space->time - block->time) / 1e9 : 0;
	uint64_t start =
		mt_session_facts(rows->rows.session)->recordings.items[space->recording].start;
	double last =
		mt_block_last(block) > start ? (double)(mt_block_last(block) - start) / 1e9 : 0;
	struct mt_value values[VALUES] = {
		[VALUE_BYTES] = mt_value_sampled((double)block->bytes, one_in),
		[VALUE_BLOCKS] = mt_value_sampled(1, one_in),
		[VALUE_USABLE] = mt_value_sampled((double)block->usable, one_in),
		[VALUE_AGE] = mt_value_exact(age),
		[VALUE_LAST] = mt_value_exact(last),
	};

	if (age < rows->request->older_than)
		return true;
	for (size_t i = VALUE_BYTES; doubtful && i <= VALUE_USABLE; i++)
		values[i].low = 0;
	mt_block_rows_add(rows, space, origin, block, values);
	return true;
}

static bool add_failed(void *context, const struct mt_blocks_space *space,
		       const struct mt_origin *origin, enum mt_block_anomaly anomaly,
		       uint64_t calls)
{
	struct mt_block_rows *rows = context;
	struct mt_value values[VALUES] = {[VALUE_FAILED] = mt_value_exact((double)calls)};

	if (anomaly == MT_ANOMALY_FAILED && rows->request->older_than <= 0)
		mt_block_rows_add(rows, space, origin, NULL, values);
	return true;
}

const struct mt_block_table mt_live_blocks = {
	.name = "blocks",
	.values = value_columns,
	.value_count = VALUES,
	.count = VALUE_BLOCKS,
	.most = 1u << VALUE_AGE | 1u << VALUE_LAST,
	.options = {.block = add_block, .anomaly = add_failed},
};

static struct mt_error *run(const struct mt_analysis *analysis, struct mt_session *session,
			    const struct mt_analysis_request *request, struct mt_table **out)
{
	struct mt_listener *listener;

	if (request->all && (request->at.when == MT_AT_PEAK || request->older_than > 0))
		return mt_error_create(MT_ERR_USAGE,
				       "--all counts all blocks up to a moment: it takes no %s",
				       request->older_than > 0 ? "--older-than" : "--at peak");
	listener = request->all ? mt_block_rows_listen(&mt_block_totals, session, request, false)
				: mt_block_table_listen(analysis, session, request, false);
	return mt_listener_run(listener, session, out);
}

const struct mt_analysis mt_analysis_blocks = {
	.name = "blocks",
	.help = "blocks that allocators gave and nobody freed",
	.groups = true,
	.by = MT_BY_OF_BLOCKS,
	.default_by = {{MT_BY_COMM, MT_BY_STACK}, 2},
	.moments = true,
	.ages = true,
	.narrows = true,
	.dumps = true,
	.needs = MT_NEEDS_BLOCKS,
	.record = "malloc",
	.output = "paths",
	.listen = mt_block_table_listen,
	.rows = &mt_live_blocks,
	.run = run,
};
