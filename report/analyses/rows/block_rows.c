/* Rows about blocks of allocators. */
#include "report/analyses/rows/block_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/strings.h"
#include "report/analyses/rows/suppressions.h"
#include "report/blocks/block_calls.h"
#include "report/session/session.h"
#include "report/sums/analysis.h"
#include "report/tables/facts.h"

enum {
	SMALLEST = 4, /* classes below 2^4 are merged: allocators use no smaller sizes */
};

/* Writes the name of a size class: "<=64", "<=4K". */
static void name_size(unsigned int class, char *out, size_t size)
{
	static const char units[] = "\0KMGTPE";
	unsigned int unit = class / 10;

	snprintf(out, size, "<=%u%.1s", 1u << (class % 10), &units[unit]);
}

/* The string id of the smallest power of two that is at least `bytes`. */
static uint32_t find_size(struct mt_block_rows *rows, uint64_t bytes)
{
	unsigned int class = bytes > 1 ? 64 - (unsigned int)__builtin_clzll(bytes - 1) : 0;
	uint32_t *known;
	char name[16];

	class = class < SMALLEST ? SMALLEST : class;
	known = &rows->sizes[class];
	if (!*known) {
		name_size(class, name, sizeof(name));
		*known = mt_strings_add(mt_session_strings(rows->rows.session), name) + 1;
	}
	return *known - 1;
}

uint32_t mt_block_rows_one_in(const struct mt_block_rows *rows, const struct mt_origin *origin)
{
	const struct mt_facts *facts = mt_session_facts(rows->rows.session);

	return mt_block_one_in(facts->events.items[origin->event].account);
}

/* The summary leaves out spaces of processes that ended early. */
static bool is_left_out(const struct mt_block_rows *rows, const struct mt_blocks_space *space)
{
	const struct mt_facts_recording *recording =
		&mt_session_facts(rows->rows.session)->recordings.items[space->recording];

	return rows->request->living && space->ended &&
	       mt_facts_ended_early(recording, space->pid, recording->start, space->time);
}

static bool is_suppressed(struct mt_block_rows *rows, const struct mt_origin *origin, size_t blocks,
			  double bytes)
{
	return mt_suppressions_match(rows->suppress, mt_session_frames(rows->rows.session),
				     mt_session_stacks(rows->rows.session), origin->stack,
				     (double)blocks, bytes);
}

void mt_block_rows_add(struct mt_block_rows *rows, const struct mt_blocks_space *space,
		       const struct mt_origin *origin, const struct mt_block *block,
		       const struct mt_value *values)
{
	struct mt_row_facts facts;

	if (is_left_out(rows, space)) {
		if (block && !space->execed)
			mt_ended_blocks_add(&rows->ended, space, origin, block, values,
					    rows->of->value_count, rows->of->most);
		return;
	}
	if (block && is_suppressed(rows, origin, 1, (double)block->bytes))
		return;
	if (block && mt_block_rows_one_in(rows, origin) > 1)
		mt_row_keys_cluster(rows->grouping, block->address);
	facts = mt_origin_row_facts(&rows->rows, origin);
	facts.size = find_size(rows, block ? block->bytes : 0);
	facts.kind = origin->cache;
	facts.took = block && space->time > block->time ? space->time - block->time : 0;
	if (space->ended)
		mt_row_mark_ended(&rows->rows, space->execed, &facts);
	mt_row_keys_add(rows->grouping, &facts, values);
}

/* "worker [exited]", or "worker [exited] x2" for two processes of the same name. */
static uint32_t name_ended(struct mt_strings *strings, uint32_t process, bool both)
{
	uint32_t ended = mt_ended_name(strings, process, false);
	char name[80];

	if (!both)
		return ended;
	snprintf(name, sizeof(name), "%.70s x2", mt_strings_get(strings, ended));
	return mt_strings_add(strings, name);
}

static void add_ended(struct mt_block_rows *rows, const struct mt_ended_space *space, bool both)
{
	struct mt_strings *strings = mt_session_strings(rows->rows.session);
	struct mt_row_facts facts;

	for (size_t i = 0; i < space->paths.count; i++) {
		const struct mt_ended_path *path = &space->paths.items[i];

		if (is_suppressed(rows, &path->origin, path->blocks, path->values[0].value))
			continue;
		facts = mt_origin_row_facts(&rows->rows, &path->origin);
		facts.process = name_ended(strings, facts.process, both);
		mt_row_keys_add(rows->grouping, &facts, path->values);
	}
}

void mt_block_rows_add_ended(struct mt_block_rows *rows, int32_t pid, int32_t *second_pid)
{
	const struct mt_ended_space *shown = mt_ended_blocks_of(&rows->ended, pid);
	const struct mt_ended_space *second =
		shown ? mt_ended_blocks_alike(&rows->ended, shown) : NULL;

	if (second)
		*second_pid = second->pid;
	if (shown) {
		add_ended(rows, shown, second);
		if (second)
			add_ended(rows, second, true);
	}
}

/* ---- Running ---- */

void mt_block_rows_destroy(struct mt_block_rows *rows)
{
	if (!rows)
		return;
	mt_blocks_destroy(rows->blocks);
	mt_ended_blocks_deinit(&rows->ended);
	mt_ledger_rows_deinit(&rows->rows);
	mt_row_keys_destroy(rows->grouping);
	free(rows);
}

static struct mt_error *end_listening(struct mt_listener *listener, struct mt_table **out)
{
	struct mt_block_rows *rows = (struct mt_block_rows *)listener;

	return mt_block_rows_table(rows, mt_blocks_end(rows->blocks), out);
}

struct mt_error *mt_block_rows_table(struct mt_block_rows *rows, uint64_t lost,
				     struct mt_table **out)
{
	mt_row_keys_may_have(rows->grouping, lost, rows->of->count);
	return mt_row_keys_table(MT_TAKE(rows->grouping), out);
}

static void stop_listening(struct mt_listener *listener)
{
	mt_block_rows_destroy((struct mt_block_rows *)listener);
}

struct mt_block_rows *mt_block_rows_create(struct mt_session *session,
					   const struct mt_analysis_request *request,
					   const struct mt_block_table *of)
{
	struct mt_block_rows *rows = mt_alloc(1, sizeof(*rows));

	*rows = (struct mt_block_rows){
		.listener = {.end = end_listening, .destroy = stop_listening},
		.of = of,
		.request = request,
		.options = of->options,
		.rows = {.session = session,
			 .stacks = request->stacks,
			 /* When a block is freed, it is not known yet how its process will end. */
			 .ended = of->options.gone ? MT_ENDED_SILENT
						   : mt_ledger_rows_ended(request)},
		.suppress = request->suppress,
		.grouping =
			mt_row_keys_create(session, of->name, of->values, of->value_count, request),
	};
	for (size_t i = 0; i < of->value_count; i++) {
		if (of->most >> i & 1)
			mt_row_keys_most(rows->grouping, i);
	}
	return rows;
}

struct mt_listener *mt_block_rows_listen(const struct mt_block_table *of,
					 struct mt_session *session,
					 const struct mt_analysis_request *request, bool alongside)
{
	struct mt_block_rows *rows = mt_block_rows_create(session, request, of);

	rows->options.at = request->at;
	rows->options.alongside = alongside;
	rows->options.context = rows;
	rows->blocks = mt_blocks_begin(session, &rows->options);
	return &rows->listener;
}

struct mt_listener *mt_block_table_listen(const struct mt_analysis *analysis,
					  struct mt_session *session,
					  const struct mt_analysis_request *request, bool alongside)
{
	return mt_block_rows_listen(analysis->rows, session, request, alongside);
}
