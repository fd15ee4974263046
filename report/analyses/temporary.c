/*
 * --temporary: blocks that the thread which asked for them freed again before it asked for another
 * one, by the path that asked: heaptrack's temporary allocations.
 */
#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/analyses/rows/block_rows.h"
#include "report/tables/estimate.h"

enum {
	VALUE_TEMPORARY,
	VALUE_SIZE,	   /* of the temporary ones */
	VALUE_ALLOCATIONS, /* all */
	VALUES
};

static const struct mt_value_column value_columns[VALUES] = {
	{"temporary", "blocks"},
	{"temporary-bytes", "B"},
	{"allocations", "blocks"},
};

static bool add(void *context, const struct mt_blocks_space *space, const struct mt_origin *origin,
		const struct mt_block *block, bool temporary)
{
	uint32_t one_in = mt_block_rows_one_in(context, origin);
	const struct mt_value values[VALUES] = {
		[VALUE_TEMPORARY] = mt_value_sampled(temporary, one_in),
		[VALUE_SIZE] = mt_value_sampled(temporary ? (double)block->bytes : 0, one_in),
		[VALUE_ALLOCATIONS] = mt_value_sampled(1, one_in),
	};

	return mt_block_rows_add(context, space, origin, block, values);
}

static bool add_gone(void *context, const struct mt_blocks_space *space,
		     const struct mt_origin *origin, const struct mt_block *block,
		     const struct mt_block_end *end)
{
	return add(context, space, origin, block, end->temporary);
}

static bool add_live(void *context, const struct mt_blocks_space *space,
		     const struct mt_origin *origin, const struct mt_block *block, bool doubtful)
{
	(void)doubtful;
	return add(context, space, origin, block, false);
}

static struct mt_error *run(struct mt_session *session, const struct mt_analysis_request *request,
			    struct mt_table **out)
{
	struct mt_block_rows rows;
	const struct mt_blocks_options options = {
		.block = add_live,
		.gone = add_gone,
		.context = &rows,
	};
	struct mt_error *err = mt_block_rows_init(&rows, session, mt_analysis_temporary.name,
						  value_columns, VALUES, request);

	if (err)
		return err;
	return mt_block_rows_run(&rows, &options, VALUE_ALLOCATIONS, out);
}

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
	.run = run,
};
