/*
 * --blocks: the live blocks of allocators, by the path that allocated them. --blocks --all:
 * allocated and freed blocks, live blocks, and the calls that are anomalies. --temporary: blocks
 * that their thread freed before it allocated another one, which are heaptrack's temporary
 * allocations. --kernel-memory: memory that the kernel's own allocators returned and that was not
 * freed, by cache and kernel stack.
 */
#include "report/analyses/block_tables.h"

#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/analyses/rows/block_rows.h"
#include "report/blocks/blocks.h"
#include "report/session/session.h"
#include "report/tables/estimate.h"
#include "report/tables/facts.h"

/* ---- All blocks ---- */

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
	TOTAL_VALUES = TOTAL_ANOMALY + MT_BLOCK_ANOMALIES
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

static void end_temporary(void *context, const struct mt_blocks_space *space,
			  const struct mt_origin *origin, const struct mt_block *block,
			  const struct mt_block_end *end)
{
	add_temporary(context, space, origin, block, end->temporary);
}

static void live_temporary(void *context, const struct mt_blocks_space *space,
			   const struct mt_origin *origin, const struct mt_block *block,
			   bool doubtful)
{
	(void)doubtful;
	add_temporary(context, space, origin, block, false);
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

static void end_total(void *context, const struct mt_blocks_space *space,
		      const struct mt_origin *origin, const struct mt_block *block,
		      const struct mt_block_end *end)
{
	(void)end;
	add_total(context, space, origin, block, TOTAL_FREED, false);
}

static void live_total(void *context, const struct mt_blocks_space *space,
		       const struct mt_origin *origin, const struct mt_block *block, bool doubtful)
{
	add_total(context, space, origin, block, TOTAL_BYTES, doubtful);
}

static void anomaly_total(void *context, const struct mt_blocks_space *space,
			  const struct mt_origin *origin, enum mt_block_anomaly anomaly,
			  uint64_t calls)
{
	struct mt_value values[TOTAL_VALUES] = {{0}};

	values[TOTAL_ANOMALY + anomaly] = mt_value_exact((double)calls);
	mt_block_rows_add(context, space, origin, NULL, values);
}

static const struct mt_block_table totals = {
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

/* ---- Live blocks ---- */

enum {
	LIVE_BYTES,
	LIVE_BLOCKS,
	LIVE_USABLE,
	LIVE_AGE,  /* age of the oldest block */
	LIVE_LAST, /* time of the last allocation or resize, since the recording's start */
	LIVE_FAILED,
	LIVE_VALUES
};

static const struct mt_value_column live_columns[LIVE_VALUES] = {
	{"bytes", "B"}, {"blocks", ""}, {"usable", "B"},
	{"age", "s"},	{"last", "s"},	{"failed", "calls"},
};

static void add_live(void *context, const struct mt_blocks_space *space,
		     const struct mt_origin *origin, const struct mt_block *block, bool doubtful)
{
	struct mt_block_rows *rows = context;
	uint32_t one_in = mt_block_rows_one_in(rows, origin);
	double age = space->time > block->time ? (double)(space->time - block->time) / 1e9 : 0;
	uint64_t start =
		mt_session_facts(rows->rows.session)->recordings.items[space->recording].start;
	double last =
		mt_block_last(block) > start ? (double)(mt_block_last(block) - start) / 1e9 : 0;
	struct mt_value values[LIVE_VALUES] = {
		[LIVE_BYTES] = mt_value_sampled((double)block->bytes, one_in),
		[LIVE_BLOCKS] = mt_value_sampled(1, one_in),
		[LIVE_USABLE] = mt_value_sampled((double)block->usable, one_in),
		[LIVE_AGE] = mt_value_exact(age),
		[LIVE_LAST] = mt_value_exact(last),
	};

	if (age < rows->request->older_than)
		return;
	for (size_t i = LIVE_BYTES; doubtful && i <= LIVE_USABLE; i++)
		values[i].low = 0;
	mt_block_rows_add(rows, space, origin, block, values);
}

static void add_failed(void *context, const struct mt_blocks_space *space,
		       const struct mt_origin *origin, enum mt_block_anomaly anomaly,
		       uint64_t calls)
{
	struct mt_block_rows *rows = context;
	struct mt_value values[LIVE_VALUES] = {[LIVE_FAILED] = mt_value_exact((double)calls)};

	if (anomaly == MT_ANOMALY_FAILED && rows->request->older_than <= 0)
		mt_block_rows_add(rows, space, origin, NULL, values);
}

const struct mt_block_table mt_live_blocks = {
	.name = "blocks",
	.values = live_columns,
	.value_count = LIVE_VALUES,
	.count = LIVE_BLOCKS,
	.most = 1u << LIVE_AGE | 1u << LIVE_LAST,
	.options = {.block = add_live, .anomaly = add_failed},
};

static struct mt_error *run(const struct mt_analysis *analysis, struct mt_session *session,
			    const struct mt_analysis_request *request, struct mt_table **out)
{
	struct mt_listener *listener;

	if (request->all && (request->at.when == MT_AT_PEAK || request->older_than > 0))
		return mt_error_create(MT_ERR_USAGE,
				       "--all counts all blocks up to a moment: it takes no %s",
				       request->older_than > 0 ? "--older-than" : "--at peak");
	listener = request->all ? mt_block_rows_listen(&totals, session, request, false)
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

/* ---- The kernel's allocators ---- */

enum {
	KERNEL_BYTES, /* with the allocator's overhead, as /proc/slabinfo counts */
	KERNEL_OBJECTS,
	KERNEL_ASKED,
	KERNEL_AGE,
	KERNEL_VALUES
};

static const struct mt_value_column kernel_columns[KERNEL_VALUES] = {
	{"bytes", "B"},
	{"objects", ""},
	{"asked", "B"},
	{"age", "s"},
};

static void add_kernel(void *context, const struct mt_blocks_space *space,
		       const struct mt_origin *origin, const struct mt_block *block, bool doubtful)
{
	struct mt_block_rows *rows = context;
	uint32_t one_in = mt_block_rows_one_in(rows, origin);
	double age = space->time > block->time ? (double)(space->time - block->time) / 1e9 : 0;
	struct mt_value values[KERNEL_VALUES] = {
		[KERNEL_BYTES] = mt_value_sampled((double)block->usable, one_in),
		[KERNEL_OBJECTS] = mt_value_sampled(1, one_in),
		[KERNEL_ASKED] = mt_value_sampled((double)block->bytes, one_in),
		[KERNEL_AGE] = mt_value_exact(age),
	};

	if (age < rows->request->older_than)
		return;
	for (size_t i = KERNEL_BYTES; doubtful && i <= KERNEL_ASKED; i++)
		values[i].low = 0;
	mt_block_rows_add(rows, space, origin, block, values);
}

static const struct mt_block_table kernel_memory = {
	.name = "kernel-memory",
	.values = kernel_columns,
	.value_count = KERNEL_VALUES,
	.count = KERNEL_OBJECTS,
	.most = 1u << KERNEL_AGE,
	.options = {.kernel = true, .block = add_kernel},
};

const struct mt_analysis mt_analysis_kernel_memory = {
	.name = "kernel-memory",
	.help = "the kernel's own memory that it holds, by cache",
	.rare = true,
	.groups = true,
	.by = MT_BY_OF_BLOCKS | MT_BY_BIT(MT_BY_KIND),
	.default_by = {{MT_BY_KIND, MT_BY_STACK}, 2},
	.moments = true,
	.ages = true,
	.record = "kmem",
	.output = "paths",
	.listen = mt_block_table_listen,
	.rows = &kernel_memory,
};
