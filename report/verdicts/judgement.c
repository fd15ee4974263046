/* Judges mappings and blocks while the session is read once, and merges the verdicts. */
#include "report/verdicts/judgement.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "report/account/call.h"
#include "report/blocks/block_calls.h"
#include "report/blocks/blocks.h"
#include "report/ledger/ledger.h"
#include "report/session/session.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/facts.h"
#include "report/verdicts/verdicts.h"

MT_DEFINE_CLEANUP(mt_ledger, struct mt_ledger)

struct mt_judgement {
	struct mt_session *session;
	struct mt_verdicts *verdicts;
	struct mt_leaks *leaks;
	struct mt_blocks_options options;
	struct mt_blocks *blocks;
	uint64_t lost;
	struct mt_map64 pids; /* pids with verdicts on blocks */
	MT_ARRAY(struct mt_verdict_row) rows;
};

void mt_judgement_destroy(struct mt_judgement *judgement)
{
	if (!judgement)
		return;
	mt_blocks_destroy(judgement->blocks);
	mt_leaks_destroy(judgement->leaks);
	mt_verdicts_destroy(judgement->verdicts);
	mt_map64_deinit(&judgement->pids);
	mt_array_deinit(&judgement->rows);
	free(judgement);
}

struct mt_judgement *mt_judgement_begin(struct mt_session *session,
					const struct mt_judgement_options *options)
{
	struct mt_judgement *judgement = mt_alloc(1, sizeof(*judgement));

	judgement->session = session;
	judgement->options =
		(struct mt_blocks_options){.at = mt_at_end_of(options->time), .alongside = true};
	judgement->verdicts = mt_verdicts_create(session, options->stacks, options->time);
	judgement->leaks = mt_leaks_create(session, options->stacks);
	mt_leaks_report_also(judgement->leaks, &options->also);
	mt_leaks_listen(judgement->leaks, &judgement->options);
	mt_leaks_listen_regions(judgement->leaks, judgement->verdicts);
	judgement->blocks = mt_blocks_begin(session, &judgement->options);
	return judgement;
}

struct mt_verdicts *mt_judgement_mapped(struct mt_judgement *judgement)
{
	return judgement->verdicts;
}

/* True for exits of calls that map memory, and for allocations of blocks. */
static bool wants(void *context, const struct mt_facts_event *event)
{
	enum mt_vm_call_kind kind;

	(void)context;
	return mt_block_operation_of(event->account) == MT_BLOCK_ALLOC ||
	       (mt_vm_call_moment(event->name, &kind) == MT_MOMENT_EXIT && kind != MT_VM_BY_NUMBER);
}

struct mt_error *mt_judgement_run(struct mt_judgement *judgement)
{
	MT_CLEANUP(mt_ledger_destroy_p) struct mt_ledger *ledger = NULL;
	const struct mt_observer chooser = {.wants = wants};
	struct mt_ledger_options options = {.at = judgement->options.at};
	struct mt_error *err;

	mt_verdicts_listen(judgement->verdicts, &options);
	mt_session_observe(judgement->session, &chooser);
	ledger = mt_ledger_begin(judgement->session, &options, true);
	err = mt_session_read(judgement->session, NULL, NULL);
	mt_ledger_end(ledger);
	mt_session_ignore(judgement->session, &chooser);
	return err;
}

/* ---- After the session's end ---- */

/* True for the name of an allocator function whose calls were recorded. */
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

static bool maps_in_allocator(const struct mt_judgement *judgement, uint32_t stack)
{
	struct mt_frames *frames = mt_session_frames(judgement->session);
	struct mt_strings *strings = mt_frames_strings(frames);
	size_t depth, count;
	const uint32_t *ids = mt_stacks_get(mt_session_stacks(judgement->session), stack, &depth);

	for (size_t i = 0; i < depth; i++) {
		const struct mt_frame_name *names = mt_frames_names(frames, ids[i], &count);

		for (size_t k = 0; names && k < count; k++) {
			if (is_allocator(mt_session_facts(judgement->session),
					 mt_strings_get(strings, names[k].name)))
				return true;
		}
	}
	return false;
}

static bool is_replaced(const struct mt_judgement *judgement, const struct mt_verdict_row *row)
{
	uint64_t has;

	return mt_map64_get(&judgement->pids, (uint32_t)row->pid, &has) &&
	       (row->of_heap || row->verdict.pathless ||
		(row->stack != MT_STACK_NONE && maps_in_allocator(judgement, row->stack)));
}

static void merge(struct mt_judgement *judgement)
{
	size_t count;
	const struct mt_verdict_row *rows = mt_leaks_rows(judgement->leaks, &count);

	for (size_t i = 0; i < count; i++) {
		mt_array_append(&judgement->rows, rows[i]);
		mt_map64_put(&judgement->pids, (uint32_t)rows[i].pid, 1);
	}
	rows = mt_verdicts_rows(judgement->verdicts, &count);
	for (size_t i = 0; i < count; i++) {
		if (!is_replaced(judgement, &rows[i]))
			mt_array_append(&judgement->rows, rows[i]);
	}
	mt_verdict_rows_sort(judgement->rows.items, judgement->rows.count);
}

void mt_judgement_end(struct mt_judgement *judgement)
{
	mt_verdicts_judge(judgement->verdicts);
	judgement->lost = mt_blocks_end(judgement->blocks);
	mt_leaks_judge(judgement->leaks);
	merge(judgement);
}

const struct mt_verdict_row *mt_judgement_rows(const struct mt_judgement *judgement, size_t *count)
{
	*count = judgement->rows.count;
	return judgement->rows.items;
}

const struct mt_verdict_row *mt_judgement_leaks(const struct mt_judgement *judgement, size_t *count)
{
	return mt_leaks_rows(judgement->leaks, count);
}

uint64_t mt_judgement_lost(const struct mt_judgement *judgement)
{
	return judgement->lost;
}

bool mt_judgement_has_blocks(const struct mt_judgement *judgement)
{
	return judgement->pids.count;
}

bool mt_judgement_is_of_blocks(void *context, int32_t pid, bool is_heap, uint32_t reserver)
{
	const struct mt_judgement *judgement = context;
	uint64_t has;

	return mt_map64_get(&judgement->pids, (uint32_t)pid, &has) &&
	       (is_heap || (reserver != MT_STACK_NONE && maps_in_allocator(judgement, reserver)));
}
