/* Interns origins and region attributes as strings and stacks. */
#include "report/analyses/rows/ledger_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/strings.h"
#include "formats/records/record.h"
#include "report/session/session.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/sums/analysis.h"
#include "report/tables/facts.h"

/* Words in place of the stack of a change that no call made. */
static const char *const words[MT_ORIGIN_KINDS + 1] = {
	[MT_ORIGIN_CALL] = "[unknown]",
	[MT_ORIGIN_BEFORE] = "[before the recording]",
	[MT_ORIGIN_EXEC] = "[exec]",
	[MT_ORIGIN_KERNEL] = "[kernel]",
	[MT_ORIGIN_LOST] = "[lost]",
	[MT_ORIGIN_POPULATED] = "[populated]",
	[MT_ORIGIN_PINNED] = "[pinned]",
	[MT_ORIGIN_FORKED] = "[fork]",
	[MT_ORIGIN_LOADED] = "[exec]",
	[MT_ORIGIN_COLLAPSED] = "[collapsed]",
	[MT_ORIGIN_UNMAPPED] = "[unmapped]",
	[MT_ORIGIN_ADVISED] = "[madvise]",
	[MT_ORIGIN_TRUNCATED] = "[truncated]",
	[MT_ORIGIN_RECLAIMED] = "[reclaimed]",
	[MT_ORIGIN_REPLACED] = "[copied on write]",
	[MT_ORIGIN_SPLIT] = "[split]",
	[MT_ORIGIN_UNSEEN] = "[unseen]",
	[MT_ORIGIN_KINDS] = MT_FRAME_STACKLESS,
};

/* Index of the words that replace the stack of an origin without one. */
static uint32_t words_of(const struct mt_ledger_rows *rows, const struct mt_origin *origin)
{
	const struct mt_facts *facts = mt_session_facts(rows->session);

	return origin->kind == MT_ORIGIN_CALL &&
			       facts->events.items[origin->event].role == MT_ROLE_MARK
		       ? MT_ORIGIN_KINDS
		       : origin->kind;
}

static uint32_t find_stack(struct mt_ledger_rows *rows, const struct mt_origin *origin)
{
	uint32_t kind = words_of(rows, origin), *known = &rows->words[kind], frame;

	if (!rows->stacks || origin->stack != MT_STACK_NONE)
		return origin->stack;
	if (!*known) {
		frame = mt_frames_words(mt_session_frames(rows->session), words[kind]);
		*known = mt_stacks_intern(mt_session_stacks(rows->session), &frame, 1) + 1;
	}
	return *known - 1;
}

static uint32_t find_kind(struct mt_ledger_rows *rows, const struct mt_region_attrs *attrs)
{
	uint32_t *known = &rows->kinds[attrs->kind];
	const char *name = mt_region_kind_name((enum mt_region_kind)attrs->kind);

	if (!*known)
		*known = mt_strings_add(mt_session_strings(rows->session), name) + 1;
	return *known - 1;
}

static uint32_t find_file(struct mt_ledger_rows *rows, const struct mt_ledger *ledger,
			  const struct mt_region_attrs *attrs)
{
	struct mt_file_identity file = mt_attr_table_file_get(mt_ledger_attrs(ledger), attrs->file);

	return mt_strings_add(mt_session_strings(rows->session),
			      mt_region_shown_name((enum mt_region_kind)attrs->kind, file.name));
}

struct mt_row_facts mt_origin_row_facts(struct mt_ledger_rows *rows, const struct mt_origin *origin)
{
	return (struct mt_row_facts){
		.event = origin->kind == MT_ORIGIN_CALL ? origin->event : MT_EVENT_NONE,
		.pid = origin->pid,
		.tid = origin->tid,
		.comm = origin->comm,
		.process = origin->process,
		.cgroup = origin->cgroup,
		.exe = origin->exe,
		.cpu = UINT32_MAX,
		.stack = find_stack(rows, origin),
	};
}

struct mt_row_facts mt_ledger_row_facts(struct mt_ledger_rows *rows, const struct mt_ledger *ledger,
					const struct mt_origin *origin,
					const struct mt_region_attrs *attrs, uint32_t recording,
					uint64_t time)
{
	uint64_t start = mt_session_facts(rows->session)->recordings.items[recording].start;
	struct mt_row_facts facts = mt_origin_row_facts(rows, origin);

	if (rows->last != attrs) { /* most calls concern the same kind of memory as the last */
		rows->last = attrs;
		rows->last_kind = find_kind(rows, attrs);
		rows->last_file = find_file(rows, ledger, attrs);
	}
	facts.kind = rows->last_kind;
	facts.file = rows->last_file;
	facts.time = time > start ? time - start : 0;
	return facts;
}

enum mt_ended_shown mt_ledger_rows_ended(const struct mt_analysis_request *request)
{
	return request->compared || request->living	? MT_ENDED_SILENT
	       : mt_by_has(&request->by, MT_BY_PROCESS) ? MT_ENDED_NAME
							: MT_ENDED_REMARK;
}

uint32_t mt_ended_name(struct mt_strings *strings, uint32_t process, bool execed)
{
	char name[80];
	int length = snprintf(name, sizeof(name), "%.64s [%s]", mt_strings_get(strings, process),
			      execed ? "exec" : "exited");

	return mt_strings_intern(strings, name, (size_t)length);
}

static uint32_t marked(struct mt_ledger_rows *rows, uint32_t process, bool execed)
{
	if (rows->marked && rows->process == process && rows->execed == execed)
		return rows->marked;
	rows->marked = mt_ended_name(mt_session_strings(rows->session), process, execed);
	rows->process = process;
	rows->execed = execed;
	return rows->marked;
}

void mt_row_mark_ended(struct mt_ledger_rows *rows, bool execed, struct mt_row_facts *facts)
{
	if (rows->ended == MT_ENDED_SILENT)
		return;
	if (rows->ended == MT_ENDED_REMARK) {
		mt_session_add_ended(rows->session);
		return;
	}
	facts->process = marked(rows, facts->process, execed);
}

void mt_ledger_row_mark(struct mt_ledger_rows *rows, const struct mt_ledger_space *space,
			struct mt_row_facts *facts)
{
	if (space->ended)
		mt_row_mark_ended(rows, space->execed, facts);
}

static uint64_t of_process(int32_t pid, uint32_t process)
{
	return (uint64_t)(uint32_t)pid << 32 | process;
}

/* The key of a space. It differs from the keys of processes, which lack the highest bit. */
static uint64_t of_space(const struct mt_ledger_space *space)
{
	return 1ull << 63 | (uintptr_t)space;
}

void mt_ledger_row_note(struct mt_ledger_rows *rows, const struct mt_ledger_space *space,
			const struct mt_row_facts *facts)
{
	if (rows->ended == MT_ENDED_SILENT)
		return;
	if (space == rows->noted && facts->process == rows->noted_name &&
	    facts->pid == rows->noted_pid)
		return;
	rows->noted = space;
	rows->noted_name = facts->process;
	rows->noted_pid = facts->pid;
	mt_map64_put(&rows->spaces, of_space(space), 1);
	mt_map64_put(&rows->spaces, of_process(facts->pid, facts->process), (uintptr_t)space);
}

void mt_ledger_rows_add_remaining(struct mt_ledger_rows *rows, const struct mt_ledger_space *space)
{
	uint64_t found;

	if (rows->ended == MT_ENDED_REMARK && space->ended &&
	    mt_map64_get(&rows->spaces, of_space(space), &found))
		mt_session_add_ended(rows->session);
}

static uint32_t name_of(void *context, int32_t pid, uint32_t process)
{
	struct mt_ledger_rows *rows = context;
	const struct mt_ledger_space *space;
	uint64_t found;

	if (!mt_map64_get(&rows->spaces, of_process(pid, process), &found))
		return process;
	space = (const struct mt_ledger_space *)(uintptr_t)found;
	return space->ended ? marked(rows, process, space->execed) : process;
}

void mt_ledger_rows_mark(struct mt_ledger_rows *rows, struct mt_row_keys *grouping)
{
	if (rows->ended == MT_ENDED_NAME)
		mt_row_keys_name_processes(grouping, name_of, rows);
}

void mt_ledger_rows_deinit(struct mt_ledger_rows *rows)
{
	mt_map64_deinit(&rows->spaces);
}

/* ---- Analyses ---- */

struct mt_ledger_change mt_ledger_access_from(const struct mt_ledger *ledger,
					      const struct mt_ledger_change *post,
					      struct mt_change *less)
{
	struct mt_ledger_change from = *post;

	*less = *post->change;
	less->sign = -1;
	from.change = less;
	from.origin = mt_ledger_origin(ledger, less->reserved_by);
	return from;
}

static void run_destroy(struct mt_listener *listener)
{
	struct mt_ledger_run *run = (struct mt_ledger_run *)listener;

	mt_ledger_destroy(run->ledger);
	if (run->of->destroy)
		run->of->destroy(run);
	mt_ledger_rows_deinit(&run->rows);
	mt_row_keys_destroy(run->grouping);
	free(run);
}

static struct mt_error *run_end(struct mt_listener *listener, struct mt_table **out)
{
	struct mt_ledger_run *run = (struct mt_ledger_run *)listener;

	mt_ledger_end(run->ledger);
	if (run->of->end)
		run->of->end(run);
	mt_ledger_rows_mark(&run->rows, run->grouping);
	return mt_row_keys_table(MT_TAKE(run->grouping), out);
}

struct mt_ledger_run *mt_ledger_run_create(const struct mt_analysis *analysis,
					   struct mt_session *session,
					   const struct mt_analysis_request *request)
{
	const struct mt_ledger_table *of = analysis->rows;
	struct mt_ledger_run *run = mt_alloc(1, of->size);

	run->listener = (struct mt_listener){.end = run_end, .destroy = run_destroy};
	run->of = of;
	run->analysis = analysis;
	run->request = request;
	run->timeline = mt_by_has(&request->by, MT_BY_TIME);
	run->rows = (struct mt_ledger_rows){
		.session = session,
		.stacks = request->unwind,
		.ended = mt_ledger_rows_ended(request),
	};
	run->value_count = of->value_count;
	of->set_up(run);
	run->grouping =
		mt_row_keys_create(session, analysis->name, of->values, run->value_count, request);
	for (size_t i = 0; i < run->value_count; i++) {
		if (of->most >> i & 1)
			mt_row_keys_most(run->grouping, i);
	}
	return run;
}

struct mt_listener *mt_ledger_run_begin(struct mt_ledger_run *run, bool alongside)
{
	run->ledger = mt_ledger_begin(run->rows.session, &run->options, alongside);
	return &run->listener;
}

struct mt_listener *mt_ledger_table_listen(const struct mt_analysis *analysis,
					   struct mt_session *session,
					   const struct mt_analysis_request *request,
					   bool alongside)
{
	return mt_ledger_run_begin(mt_ledger_run_create(analysis, session, request), alongside);
}
