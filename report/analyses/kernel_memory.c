/*
 * --kernel-memory: memory that the kernel's own allocators gave and that was not freed, by cache
 * and kernel stack.
 */
#include "report/analyses/analyses.h"
#include "report/analyses/rows/block_rows.h"
#include "report/tables/estimate.h"

enum {
	VALUE_BYTES, /* with the allocator's overhead, as /proc/slabinfo counts */
	VALUE_OBJECTS,
	VALUE_ASKED,
	VALUE_AGE,
	VALUES
};

static const struct mt_value_column value_columns[VALUES] = {
	{"bytes", "B"},
	{"objects", ""},
	{"asked", "B"},
	{"age", "s"},
};

static bool add_block(void *context, const struct mt_blocks_space *space,
		      const struct mt_origin *origin, const struct mt_block *block, bool doubtful)
{
	struct mt_block_rows *rows = context;
	uint32_t one_in = mt_block_rows_one_in(rows, origin);
	double age = space->time > block->time ? (double)(space->time - block->time) / 1e9 : 0;
	struct mt_value values[VALUES] = {
		[VALUE_BYTES] = mt_value_sampled((double)block->usable, one_in),
		[VALUE_OBJECTS] = mt_value_sampled(1, one_in),
		[VALUE_ASKED] = mt_value_sampled((double)block->bytes, one_in),
		[VALUE_AGE] = mt_value_exact(age),
	};

	if (age < rows->request->older_than)
		return true;
	for (size_t i = VALUE_BYTES; doubtful && i <= VALUE_ASKED; i++)
		values[i].low = 0;
	mt_block_rows_add(rows, space, origin, block, values);
	return true;
}

static const struct mt_block_table kernel_memory = {
	.name = "kernel-memory",
	.values = value_columns,
	.value_count = VALUES,
	.count = VALUE_OBJECTS,
	.most = 1u << VALUE_AGE,
	.options = {.kernel = true, .block = add_block},
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
