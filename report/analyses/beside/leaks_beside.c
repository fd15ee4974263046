/*
 * What malloc maps is judged by its blocks: of a process with verdicts on blocks, those on its heap
 * go, and those on paths that map memory within an allocator's function.
 */
#include "report/analyses/beside/leaks_beside.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "report/analyses/analyses.h"
#include "report/analyses/live_blocks.h"
#include "report/analyses/rows/block_rows.h"
#include "report/analyses/verdicts/memory_verdicts.h"
#include "report/blocks/block_calls.h"
#include "report/blocks/blocks.h"
#include "report/session/session.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/facts.h"
#include "report/verdicts/leaks.h"

MT_DEFINE_CLEANUP(mt_leaks_beside, struct mt_leaks_beside)

struct mt_leaks_beside {
	struct mt_session *session;
	const struct mt_analysis_request *request;
	struct mt_verdicts *verdicts;
	struct mt_blocks_options options;
	struct mt_blocks *blocks;
	struct mt_leaks *leaks;
	struct mt_block_rows *live;
	struct mt_map64 pids; /* with verdicts on blocks */
	MT_ARRAY(struct mt_verdict_row) rows;
};

void mt_leaks_beside_destroy(struct mt_leaks_beside *beside)
{
	if (!beside)
		return;
	mt_blocks_destroy(beside->blocks);
	mt_leaks_destroy(beside->leaks);
	mt_block_rows_destroy(beside->live);
	mt_map64_deinit(&beside->pids);
	mt_array_deinit(&beside->rows);
	free(beside);
}

struct mt_error *mt_leaks_beside_listen(struct mt_session *session,
					const struct mt_analysis_request *request,
					struct mt_verdicts *verdicts, struct mt_leaks_beside **out)
{
	MT_CLEANUP(mt_leaks_beside_destroy_p)
	struct mt_leaks_beside *beside = calloc(1, sizeof(*beside));
	struct mt_error *err;

	if (!beside)
		return mt_error_nomem();
	beside->session = session;
	beside->request = request;
	beside->verdicts = verdicts;
	beside->options = (struct mt_blocks_options){.at = request->at, .beside = true};
	err = mt_leaks_create(session, &beside->leaks);
	err = err ? err : mt_block_rows_create(session, request, &mt_live_blocks, &beside->live);
	if (err)
		return err;
	mt_leaks_tell_also(beside->leaks,
			   &(struct mt_leaks_also){mt_live_blocks.options.block, beside->live});
	mt_leaks_listen(beside->leaks, &beside->options);
	mt_leaks_listen_regions(beside->leaks, verdicts);
	err = mt_blocks_begin(session, &beside->options, &beside->blocks);
	if (!err)
		*out = MT_TAKE(beside);
	return err;
}

/* Whether a function's name is that of an allocator whose calls were recorded. */
static bool is_allocator(const struct mt_facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->events.count; i++) {
		const char *account = facts->events.items[i].account;
		const char *of = mt_block_operation_of(account) == MT_BLOCK_ALLOC
					 ? strstr(account, " of=")
					 : NULL;
		size_t length = of ? strcspn(of + strlen(" of="), " ") : 0;

		if (length && strlen(name) == length && !memcmp(name, of + strlen(" of="), length))
			return true;
	}
	return false;
}

static bool maps_in_allocator(const struct mt_leaks_beside *beside, uint32_t stack)
{
	struct mt_frames *frames = mt_session_frames(beside->session);
	struct mt_strings *strings = mt_frames_strings(frames);
	size_t depth, count;
	const uint32_t *ids = mt_stacks_get(mt_session_stacks(beside->session), stack, &depth);

	for (size_t i = 0; i < depth; i++) {
		const struct mt_frame_name *names = mt_frames_names(frames, ids[i], &count);

		for (size_t k = 0; names && k < count; k++) {
			if (is_allocator(mt_session_facts(beside->session),
					 mt_strings_get(strings, names[k].name)))
				return true;
		}
	}
	return false;
}

static bool add_row(struct mt_leaks_beside *beside, const struct mt_verdict_row *row)
{
	struct mt_verdict_row *slot = mt_array_push(&beside->rows);

	if (slot)
		*slot = *row;
	return slot;
}

static bool merge(struct mt_leaks_beside *beside)
{
	size_t count;
	const struct mt_verdict_row *rows = mt_leaks_rows(beside->leaks, &count);
	uint64_t has;

	for (size_t i = 0; i < count; i++) {
		if (!add_row(beside, &rows[i]) ||
		    !mt_map64_put(&beside->pids, (uint32_t)rows[i].pid, 1))
			return false;
	}
	rows = mt_verdicts_rows(beside->verdicts, &count);
	for (size_t i = 0; i < count; i++) {
		bool replaced = mt_map64_get(&beside->pids, (uint32_t)rows[i].pid, &has) &&
				(rows[i].of_heap || rows[i].verdict.pathless ||
				 maps_in_allocator(beside, rows[i].stack));

		if (!replaced && !add_row(beside, &rows[i]))
			return false;
	}
	mt_verdict_rows_sort(beside->rows.items, beside->rows.count);
	return true;
}

bool mt_leaks_beside_has(void *context, int32_t pid, bool is_heap, uint32_t reserver)
{
	const struct mt_leaks_beside *beside = context;
	uint64_t has;

	return mt_map64_get(&beside->pids, (uint32_t)pid, &has) &&
	       (is_heap || (reserver != MT_STACK_NONE && maps_in_allocator(beside, reserver)));
}

struct mt_error *mt_leaks_beside_table(struct mt_leaks_beside *beside, struct mt_table **out,
				       struct mt_table **blocks)
{
	uint64_t lost = mt_blocks_end(beside->blocks);
	struct mt_error *err = mt_leaks_judge(beside->leaks);

	if (err)
		return err;
	if (!merge(beside))
		return mt_error_nomem();
	*blocks = NULL;
	if (beside->pids.count)
		err = mt_block_rows_table(beside->live, lost, blocks);
	return err ? err
		   : mt_verdict_table(beside->session, beside->request, mt_analysis_verdict.name,
				      beside->rows.items, beside->rows.count, out);
}
