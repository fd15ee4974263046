/* Rows about blocks of allocators. */
#include "report/analyses/rows/block_rows.h"

#include <stdio.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/analyses/rows/suppressions.h"
#include "report/blocks/block_calls.h"
#include "report/cli/request.h"
#include "report/session/session.h"
#include "report/tables/facts.h"

enum {
	SMALLEST = 4, /* classes below 2^4 are one: allocators give no less */
};

struct mt_error *mt_block_rows_init(struct mt_block_rows *rows, struct mt_session *session,
				    const char *name, const struct mt_value_column *values,
				    size_t value_count, const struct mt_analysis_request *request)
{
	*rows = (struct mt_block_rows){
		.rows = {.session = session,
			 .stacks = request->stacks,
			 .ended = mt_ledger_rows_ended(request)},
		.suppress = request->suppress,
	};
	return mt_row_keys_create(session, name, values, value_count, request, &rows->grouping);
}

void mt_block_rows_deinit(struct mt_block_rows *rows)
{
	mt_ledger_rows_deinit(&rows->rows);
	mt_row_keys_destroy(rows->grouping);
}

/* "<=64", "<=4K". */
static void name_size(unsigned int class, char *out, size_t size)
{
	static const char units[] = "\0KMGTPE";
	unsigned int unit = class / 10;

	snprintf(out, size, "<=%u%.1s", 1u << (class % 10), &units[unit]);
}

/* The string id of the least power of two that holds so many bytes; false out of memory. */
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

bool mt_block_rows_add(struct mt_block_rows *rows, const struct mt_blocks_space *space,
		       const struct mt_origin *origin, const struct mt_block *block,
		       const struct mt_value *values)
{
	struct mt_row_facts facts;
	bool good;

	if (block && mt_suppressions_match(rows->suppress, mt_session_frames(rows->rows.session),
					   mt_session_stacks(rows->rows.session), origin->stack, 1,
					   (double)block->bytes))
		return true;
	if (block && mt_block_rows_one_in(rows, origin) > 1)
		mt_row_keys_cluster(rows->grouping, block->address);
	good = mt_origin_row_facts(&rows->rows, origin, &facts) &&
	       find_size(rows, block ? block->bytes : 0, &facts.size);
	facts.kind = origin->cache;
	return good && (!space->ended || mt_row_mark_ended(&rows->rows, space->execed, &facts)) &&
	       mt_row_keys_add(rows->grouping, &facts, values);
}

struct mt_error *mt_block_rows_run(struct mt_block_rows *rows,
				   const struct mt_blocks_options *options, size_t count,
				   struct mt_table **out)
{
	uint64_t lost;
	struct mt_error *err = mt_blocks_run(rows->rows.session, options, &lost);

	if (!err && !mt_row_keys_may_have(rows->grouping, lost, count))
		err = mt_error_nomem();
	if (!err)
		err = mt_row_keys_table(MT_TAKE(rows->grouping), out);
	mt_block_rows_deinit(rows);
	return err;
}
