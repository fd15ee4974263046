/*
 * Blocks over the whole time, by the path that allocated them. --blocks --all: allocated and freed
 * blocks, live blocks, and the calls that are anomalies. --temporary: blocks that their thread
 * freed before it allocated another one, which are heaptrack's temporary allocations.
 */
#include "report/analyses/block_totals.h"

#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/analyses/rows/block_rows.h"
#include "report/tables/estimate.h"

enum {
	TEMPORARY_BLOCKS,
	TEMPORARY_BYTES,
	TEMPORARY_ALL, /* blocks */
	TEMPORARY_VALUES
};

static const struct mt_value_column temporary_columns[TEMPORARY_VALUES] = {
	{"temporary", "blocks"},
	{"temporary-bytes", "B"},
	{"allocations", "blocks"},
};

enum {
	TOTAL_BYTES,
	TOTAL_BLOCKS,
	TOTAL_ALLOCATED,
	TOTAL_ALLOCATIONS,
	TOTAL_FREED,
	TOTAL_FREES,
	TOTAL_ANOMALY, /* by enum mt_block_anomaly */
	TOTAL_VALUES = TOTAL_ANOMALY + MT_BLOCK_ODDS
};

static const struct mt_value_column total_columns[TOTAL_VALUES] = {
	{"bytes", "B"},
	{"blocks", ""},
	{"allocated", "B"},
	{"allocations", "blocks"},
	{"freed", "B"},
	{"frees", "blocks"},
	[TOTAL_ANOMALY + MT_ANOMALY_FAILED] = {"failed", "calls"},
	[TOTAL_ANOMALY + MT_ANOMALY_TWICE] = {"twice", "calls"},
	[TOTAL_ANOMALY + MT_ANOMALY_UNKNOWN] = {"unknown", "calls"},
};

static bool add_temporary(void *context, const struct mt_blocks_space *space,
			  const struct mt_origin *origin, const struct mt_block *block,
			  bool temporary)
{
	uint32_t one_in = mt_block_rows_one_in(context, origin);
	const struct mt_value values[TEMPORARY_VALUES] = {
		[TEMPORARY_BLOCKS] = mt_value_sampled(temporary, one_in),
		[TEMPORARY_BYTES] = mt_value_sampled(temporary ? (double)block->bytes : 0, one_in),
		[TEMPORARY_ALL] = mt_value_sampled(1, one_in),
	};

	mt_block_rows_add(context, space, origin, block, values);
	return true;
}

static bool end_temporary(void *context, const struct mt_blocks_space *space,
			  const struct mt_origin *origin, const struct mt_block *block,
			  const struct mt_block_end *end)
{
	add_temporary(context, space, origin, block, end->temporary);
	return true;
}

static bool live_temporary(void *context, const struct mt_blocks_space *space,
			   const struct mt_origin *origin, const struct mt_block *block,
			   bool doubtful)
{
	(void)doubtful;
	add_temporary(context, space, origin, block, false);
	return true;
}

/* Adds an allocation, and the block's later state in the columns from `at` on. */
static bool add_total(struct mt_block_rows *rows, const struct mt_blocks_space *space,
		      const struct mt_origin *origin, const struct mt_block *block, size_t at,
		      bool doubtful)
{
	uint32_t one_in = mt_block_rows_one_in(rows, origin);
	struct mt_value values[TOTAL_VALUES] = {{0}};

	values[at] = values[TOTAL_ALLOCATED] = mt_value_sampled((double)block->bytes, one_in);
	values[at + 1] = values[TOTAL_ALLOCATIONS] = mt_value_sampled(1, one_in);
	if (doubtful) {
		values[at].low = values[at + 1].low = 0;
		values[TOTAL_FREED].high = values[at].value;
		values[TOTAL_FREES].high = values[at + 1].value;
	}
	mt_block_rows_add(rows, space, origin, block, values);
	return true;
}

static bool end_total(void *context, const struct mt_blocks_space *space,
		      const struct mt_origin *origin, const struct mt_block *block,
		      const struct mt_block_end *end)
{
	(void)end;
	add_total(context, space, origin, block, TOTAL_FREED, false);
	return true;
}

static bool live_total(void *context, const struct mt_blocks_space *space,
		       const struct mt_origin *origin, const struct mt_block *block, bool doubtful)
{
	add_total(context, space, origin, block, TOTAL_BYTES, doubtful);
	return true;
}

static bool anomaly_total(void *context, const struct mt_blocks_space *space,
			  const struct mt_origin *origin, enum mt_block_anomaly anomaly,
			  uint64_t calls)
{
	struct mt_value values[TOTAL_VALUES] = {{0}};

	values[TOTAL_ANOMALY + anomaly] = mt_value_exact((double)calls);
	mt_block_rows_add(context, space, origin, NULL, values);
	return true;
}

const struct mt_block_table mt_block_totals = {
	.name = "blocks",
	.values = total_columns,
	.value_count = TOTAL_VALUES,
	.count = TOTAL_BLOCKS,
	.options = {.block = live_total, .gone = end_total, .anomaly = anomaly_total},
};

static const struct mt_block_table temporary = {
	.name = "temporary",
	.values = temporary_columns,
	.value_count = TEMPORARY_VALUES,
	.count = TEMPORARY_ALL,
	.options = {.block = live_temporary, .gone = end_temporary},
};

const struct mt_analysis mt_analysis_temporary = {
	.name = "temporary",
	.help = "blocks freed before the thread's next allocation",
	.rare = true,
	.groups = true,
	.by = MT_BY_OF_BLOCKS,
	.default_by = {{MT_BY_COMM, MT_BY_STACK}, 2},
	.dumps = true,
	.needs = MT_NEEDS_BLOCKS,
	.record = "malloc",
	.output = "paths",
	.listen = mt_block_table_listen,
	.rows = &temporary,
};
