/* Rows about blocks of allocators. */
#include "report/analyses/rows/block_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/analyses/rows/suppressions.h"
#include "report/blocks/block_calls.h"
#include "report/session/session.h"
#include "report/sums/analysis.h"
#include "report/tables/facts.h"

enum {
	SMALLEST = 4, /* classes below 2^4 are merged: allocators use no smaller sizes */
};

/* "<=64", "<=4K". */
static void name_size(unsigned int class, char *out, size_t size)
{
	static const char units[] = "\0KMGTPE";
	unsigned int unit = class / 10;

	snprintf(out, size, "<=%u%.1s", 1u << (class % 10), &units[unit]);
}

/*
 * The string id of the smallest power of two that is at least so many bytes; false out of memory.
 */
static bool find_size(struct mt_block_rows *rows, uint64_t bytes, uint32_t *out)
{
	unsigned int class = bytes > 1 ? 64 - (unsigned int)__builtin_clzll(bytes - 1) : 0;
	uint32_t *known;
	char name[16];

	class = class < SMALLEST ? SMALLEST : class;
	known = &rows->sizes[class];
	if (!*known) {
		name_size(class, name, sizeof(name));
		*out = mt_strings_intern(mt_session_strings(rows->rows.session), name,
					 strlen(name));
		if (*out == MT_STRING_NONE)
			return false;
		*known = *out + 1;
	}
	*out = *known - 1;
	return true;
}

uint32_t mt_block_rows_one_in(const struct mt_block_rows *rows, const struct mt_origin *origin)
{
	const struct mt_facts *facts = mt_session_facts(rows->rows.session);

	return mt_block_one_in(facts->events.items[origin->event].account);
}

/* The summary shows processes that live in the last moments. */
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

bool mt_block_rows_add(struct mt_block_rows *rows, const struct mt_blocks_space *space,
		       const struct mt_origin *origin, const struct mt_block *block,
		       const struct mt_value *values)
{
	struct mt_row_facts facts;
	bool good;

	if (is_left_out(rows, space))
		return !block || space->execed ||
		       mt_ended_blocks_add(&rows->ended, space, origin, block, values,
					   rows->of->value_count, rows->of->most);
	if (block && is_suppressed(rows, origin, 1, (double)block->bytes))
		return true;
	if (block && mt_block_rows_one_in(rows, origin) > 1)
		mt_row_keys_cluster(rows->grouping, block->address);
	good = mt_origin_row_facts(&rows->rows, origin, &facts) &&
	       find_size(rows, block ? block->bytes : 0, &facts.size);
	facts.kind = origin->cache;
	facts.took = block && space->time > block->time ? space->time - block->time : 0;
	return good && (!space->ended || mt_row_mark_ended(&rows->rows, space->execed, &facts)) &&
	       mt_row_keys_add(rows->grouping, &facts, values);
}

/* "worker [exited]", or of the two largest of a name "worker [exited] x2". */
static uint32_t name_ended(struct mt_strings *strings, uint32_t process, bool both)
{
	uint32_t ended = mt_ended_name(strings, process, false);
	char name[80];
	int length;

	if (!both || ended == MT_STRING_NONE)
		return ended;
	length = snprintf(name, sizeof(name), "%.70s x2", mt_strings_get(strings, ended));
	return mt_strings_intern(strings, name, (size_t)length);
}

static bool add_ended(struct mt_block_rows *rows, const struct mt_ended_space *space, bool both)
{
	struct mt_strings *strings = mt_session_strings(rows->rows.session);
	struct mt_row_facts facts;

	for (size_t i = 0; i < space->paths.count; i++) {
		const struct mt_ended_path *path = &space->paths.items[i];

		if (is_suppressed(rows, &path->origin, path->blocks, path->values[0].value))
			continue;
		if (!mt_origin_row_facts(&rows->rows, &path->origin, &facts))
			return false;
		facts.process = name_ended(strings, facts.process, both);
		if (facts.process == MT_STRING_NONE ||
		    !mt_row_keys_add(rows->grouping, &facts, path->values))
			return false;
	}
	return true;
}

bool mt_block_rows_add_ended(struct mt_block_rows *rows, int32_t pid, int32_t *second_pid)
{
	const struct mt_ended_space *shown = mt_ended_blocks_of(&rows->ended, pid);
	const struct mt_ended_space *second =
		shown ? mt_ended_blocks_alike(&rows->ended, shown) : NULL;

	if (second)
		*second_pid = second->pid;
	return !shown ||
	       (add_ended(rows, shown, second) && (!second || add_ended(rows, second, true)));
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

MT_DEFINE_CLEANUP(mt_block_rows, struct mt_block_rows)

static struct mt_error *end_listening(struct mt_listener *listener, struct mt_table **out)
{
	struct mt_block_rows *rows = (struct mt_block_rows *)listener;

	return mt_block_rows_table(rows, mt_blocks_end(rows->blocks), out);
}

struct mt_error *mt_block_rows_table(struct mt_block_rows *rows, uint64_t lost,
				     struct mt_table **out)
{
	if (!mt_row_keys_may_have(rows->grouping, lost, rows->of->count))
		return mt_error_nomem();
	return mt_row_keys_table(MT_TAKE(rows->grouping), out);
}

static void stop_listening(struct mt_listener *listener)
{
	mt_block_rows_destroy((struct mt_block_rows *)listener);
}

struct mt_error *mt_block_rows_create(struct mt_session *session,
				      const struct mt_analysis_request *request,
				      const struct mt_block_table *of, struct mt_block_rows **out)
{
	MT_CLEANUP(mt_block_rows_destroy_p) struct mt_block_rows *rows = mt_alloc(1, sizeof(*rows));
	struct mt_error *err;

	if (!rows)
		return mt_error_nomem();
	*rows = (struct mt_block_rows){
		.listener = {.end = end_listening, .destroy = stop_listening},
		.of = of,
		.request = request,
		.options = of->options,
		.rows = {.session = session,
			 .stacks = request->stacks,
			 /* When a block is freed, it is not known yet how its process will end. */
			 .ended = request->living || of->options.gone
					  ? MT_ENDED_SILENT
					  : mt_ledger_rows_ended(request)},
		.suppress = request->suppress,
	};
	err = mt_row_keys_create(session, of->name, of->values, of->value_count, request,
				 &rows->grouping);
	for (size_t i = 0; !err && i < of->value_count; i++) {
		if (of->most >> i & 1)
			mt_row_keys_most(rows->grouping, i);
	}
	if (!err)
		*out = MT_TAKE(rows);
	return err;
}

static struct mt_error *begin(struct mt_session *session, const struct mt_analysis_request *request,
			      const struct mt_block_table *of, bool alongside,
			      struct mt_listener **out)
{
	MT_CLEANUP(mt_block_rows_destroy_p) struct mt_block_rows *rows = NULL;
	struct mt_error *err = mt_block_rows_create(session, request, of, &rows);

	if (err)
		return err;
	rows->options.at = request->at;
	rows->options.alongside = alongside;
	rows->options.context = rows;
	err = mt_blocks_begin(session, &rows->options, &rows->blocks);
	if (!err)
		*out = &MT_TAKE(rows)->listener;
	return err;
}

struct mt_error *mt_block_rows_listen(struct mt_session *session,
				      const struct mt_analysis_request *request,
				      const struct mt_block_table *of, struct mt_listener **out)
{
	return begin(session, request, of, true, out);
}

struct mt_error *mt_block_rows_run(struct mt_session *session,
				   const struct mt_analysis_request *request,
				   const struct mt_block_table *of, struct mt_table **out)
{
	struct mt_session_sample sample;
	struct mt_listener *listener;
	struct mt_error *err = begin(session, request, of, false, &listener);
	bool more = true;

	if (err)
		return err;
	while (!err && more)
		err = mt_session_next(session, &sample, &more);
	err = err ? err : end_listening(listener, out);
	stop_listening(listener);
	return err;
}
