/*
 * --blocks: blocks that allocators gave and nobody freed, by the path that asked for them. A
 * process that ended or called exec counts as of the moment before. Calls that failed count beside
 * them.
 */
#include <stdlib.h>

#include "formats/base/cleanup.h"
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
	VALUE_LAST, /* when the youngest was given, since the recording's start */
	VALUE_FAILED,
	VALUES
};

static const struct mt_value_column value_columns[VALUES] = {
	{"bytes", "B"}, {"blocks", ""}, {"usable", "B"},
	{"age", "s"},	{"last", "s"},	{"failed", "calls"},
};

struct live_blocks {
	struct mt_listener listener; /* first: ops get a pointer to it */
	struct mt_block_rows rows;
	const struct mt_analysis_request *request;
	struct mt_blocks_options options;
	struct mt_blocks *blocks;
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
		       const struct mt_origin *origin, enum mt_block_odd odd, uint64_t calls)
{
	struct live_blocks *live = context;
	struct mt_value values[VALUES] = {[VALUE_FAILED] = mt_value_exact((double)calls)};

	return odd != MT_ODD_FAILED || live->request->older_than > 0 ||
	       mt_block_rows_add(&live->rows, space, origin, NULL, values);
}

static void live_blocks_destroy(struct live_blocks *live)
{
	if (!live)
		return;
	mt_blocks_destroy(live->blocks);
	mt_block_rows_deinit(&live->rows);
	free(live);
}

MT_DEFINE_CLEANUP(live_blocks, struct live_blocks)

static struct mt_error *end_listening(struct mt_listener *listener, struct mt_table **out)
{
	struct live_blocks *live = (struct live_blocks *)listener;
	uint64_t lost = mt_blocks_end(live->blocks);

	if (!mt_row_keys_may_have(live->rows.grouping, lost, VALUE_BLOCKS))
		return mt_error_nomem();
	return mt_row_keys_table(MT_TAKE(live->rows.grouping), out);
}

static void stop_listening(struct mt_listener *listener)
{
	live_blocks_destroy((struct live_blocks *)listener);
}

static struct mt_error *begin(struct mt_session *session, const struct mt_analysis_request *request,
			      bool beside, struct mt_listener **out)
{
	MT_CLEANUP(live_blocks_destroy_p) struct live_blocks *live = calloc(1, sizeof(*live));
	struct mt_error *err;

	if (!live)
		return mt_error_nomem();
	live->request = request;
	live->listener = (struct mt_listener){.end = end_listening, .destroy = stop_listening};
	live->options = (struct mt_blocks_options){
		.at = request->at,
		.beside = beside,
		.block = add_block,
		.odd = add_failed,
		.context = live,
	};
	err = mt_block_rows_init(&live->rows, session, mt_analysis_blocks.name, value_columns,
				 VALUES, request);
	if (err)
		return err;
	mt_row_keys_most(live->rows.grouping, VALUE_AGE);
	mt_row_keys_most(live->rows.grouping, VALUE_LAST);
	err = mt_blocks_begin(session, &live->options, &live->blocks);
	if (!err)
		*out = &MT_TAKE(live)->listener;
	return err;
}

static struct mt_error *listen(struct mt_session *session,
			       const struct mt_analysis_request *request, struct mt_listener **out)
{
	return begin(session, request, true, out);
}

static struct mt_error *run(struct mt_session *session, const struct mt_analysis_request *request,
			    struct mt_table **out)
{
	struct mt_session_sample sample;
	struct mt_listener *listener;
	struct mt_error *err;
	bool more = true;

	if (request->all)
		return mt_block_totals_run(session, request, out);
	err = begin(session, request, false, &listener);
	if (err)
		return err;
	while (!err && more)
		err = mt_session_next(session, &sample, &more);
	err = err ? err : end_listening(listener, out);
	stop_listening(listener);
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
	.narrows = true,
	.dumps = true,
	.needs = MT_NEEDS_BLOCKS,
	.record = "malloc",
	.output = "paths",
	.run = run,
	.listen = listen,
};
