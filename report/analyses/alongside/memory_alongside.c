/* Makes the tables about memory for outputs of another analysis. */
#include "report/analyses/alongside/memory_alongside.h"

#include <stdlib.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/strings.h"
#include "report/account/call.h"
#include "report/analyses/analyses.h"
#include "report/analyses/block_tables.h"
#include "report/analyses/growth.h"
#include "report/analyses/host/oom_kills.h"
#include "report/analyses/memory_verdicts.h"
#include "report/analyses/processes.h"
#include "report/analyses/resident.h"
#include "report/analyses/rows/block_rows.h"
#include "report/analyses/rows/ledger_rows.h"
#include "report/gauges/gauge_log.h"
#include "report/ledger/page_events.h"
#include "report/session/session.h"
#include "report/sums/sum_table.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/verdicts/judgement.h"

struct mt_memory_alongside {
	struct mt_session *session;
	struct mt_analysis_request of_processes, of_paths;
	struct mt_gauge_log *gauges;
	const struct mt_gauged_process *ended_largest; /* shown although it ended; or NULL */
	struct mt_judgement *judgement;
	struct mt_block_rows *live;
	struct mt_listener *growth, *resident;
	struct mt_observer observer; /* of OOM kills */
	MT_ARRAY(struct mt_oom_mark) victims;
	MT_ARRAY(struct mt_named_table) tables;
};

void mt_memory_alongside_destroy(struct mt_memory_alongside *memory)
{
	if (!memory)
		return;
	mt_session_ignore(memory->session, &memory->observer);
	mt_array_deinit(&memory->victims);
	for (size_t i = 0; i < memory->tables.count; i++)
		mt_table_destroy(memory->tables.items[i].table);
	mt_array_deinit(&memory->tables);
	if (memory->growth)
		memory->growth->destroy(memory->growth);
	if (memory->resident)
		memory->resident->destroy(memory->resident);
	mt_judgement_destroy(memory->judgement);
	mt_block_rows_destroy(memory->live);
	mt_gauge_log_destroy(memory->gauges);
	free(memory);
}

/* Replaces the key: an image as a key groups processes that run the same file, not frames. */
static void regroup(struct mt_memory_alongside *memory, const struct mt_by_list *by)
{
	enum mt_by key = by->count ? by->keys[0] : MT_BY_PROCESS;

	if (key == MT_BY_PROCESS)
		return;
	key = key == MT_BY_IMAGE ? MT_BY_EXE : key;
	mt_by_add(&memory->of_processes.by, key);
	memory->of_paths.by.keys[0] = (uint8_t)key;
}

/* Verdicts, blocks and growth come from one reading, and verdicts and growth from one ledger. */
static void listen_to_verdicts(struct mt_memory_alongside *memory)
{
	struct mt_judgement_options options = {.stacks = true, .time = &memory->of_paths.time};

	memory->live = mt_block_rows_create(memory->session, &memory->of_paths, &mt_live_blocks);
	options.also = (struct mt_leaks_also){mt_live_blocks.options.block, memory->live};
	memory->judgement = mt_judgement_begin(memory->session, &options);
	memory->growth = mt_growth_listen(memory->session, &memory->of_paths,
					  mt_judgement_mapped(memory->judgement));
}

static void observe(void *context, const struct mt_observed *observed)
{
	struct mt_memory_alongside *memory = context;
	struct mt_oom_mark victim;

	if (mt_oom_observed(memory->session, observed, &victim) && observed->selected)
		mt_array_append(&memory->victims, victim);
}

struct mt_memory_alongside *mt_memory_listen(struct mt_session *session,
					     const struct mt_timespan *time,
					     const struct mt_by_list *by)
{
	struct mt_memory_alongside *memory = mt_alloc(1, sizeof(*memory));

	memory->session = session;
	memory->of_processes =
		(struct mt_analysis_request){.by = mt_analysis_processes.default_by, .time = *time};
	memory->of_paths = (struct mt_analysis_request){
		.stacks = true,
		.by = {{MT_BY_PROGRAM, MT_BY_STACK}, 2},
		.time = *time,
		.at = mt_at_end_of(time),
		.unwind = true,
		.living = true,
	};
	memory->observer = (struct mt_observer){.context = memory, .observe = observe};
	mt_session_observe(session, &memory->observer);
	regroup(memory, by);
	memory->gauges = mt_gauge_log_listen(session);
	listen_to_verdicts(memory);
	memory->resident =
		mt_ledger_table_listen(&mt_analysis_resident, session, &memory->of_paths, true);
	return memory;
}

/* Adds a table, and takes ownership of it. */
static void add(struct mt_memory_alongside *memory, const char *name, struct mt_table *table)
{
	*mt_array_push(&memory->tables) = (struct mt_named_table){.name = name, .table = table};
}

/* ---- The host ---- */

static void add_host(struct mt_memory_alongside *memory)
{
	static const struct mt_key_column keys[] = {{"gauge", MT_KEY_STRING}};
	static const struct mt_value_column values[] = {
		{"before", ""}, {"now", ""}, {"least", ""}, {"most", ""}};
	struct mt_sum_table *sums =
		mt_sum_table_plain("host", mt_session_strings(memory->session), keys, 1, values, 4);
	const struct mt_host_gauge *gauge;

	for (size_t i = 0; (gauge = mt_gauge_log_host(memory->gauges, i)); i++) {
		const struct mt_value row[] = {
			mt_value_exact(mt_series_at(&gauge->series, gauge->from)),
			mt_value_exact(mt_series_at(&gauge->series, gauge->to)),
			mt_value_exact(gauge->series.least),
			mt_value_exact(gauge->series.most),
		};
		uint64_t key = gauge->name;

		if (!gauge->recording)
			mt_sum_table_add(sums, &key, row);
	}
	add(memory, "host", mt_sum_table_table(sums));
}

/* ---- OOM kills ---- */

/* The last process with that pid in the gauges; NULL: none. */
static const struct mt_gauged_process *find_gauged(const struct mt_memory_alongside *memory,
						   int32_t pid)
{
	const struct mt_gauged_process *process, *found = NULL;

	for (size_t i = 0; (process = mt_gauge_log_process(memory->gauges, i)); i++)
		found = process->pid == pid ? process : found;
	return found;
}

static void add_victims(struct mt_memory_alongside *memory)
{
	static const struct mt_key_column keys[] = {{"pid", MT_KEY_NUMBER},
						    {"process", MT_KEY_STRING}};
	static const struct mt_value_column values[] = {{"peak", "B"}};
	struct mt_strings *strings = mt_session_strings(memory->session);
	struct mt_sum_table *sums = mt_sum_table_plain("victims", strings, keys, 2, values, 1);

	for (size_t i = 0; i < memory->victims.count; i++) {
		const struct mt_oom_mark *victim = &memory->victims.items[i];
		const struct mt_gauged_process *gauged = find_gauged(memory, victim->pid);
		uint32_t name =
			victim->name == MT_STRING_NONE && gauged ? gauged->comm : victim->name;
		const uint64_t row[] = {
			victim->pid < 0 ? UINT64_MAX : (uint64_t)victim->pid,
			name != MT_STRING_NONE ? name : mt_strings_add(strings, "process"),
		};
		const struct mt_value peak = mt_value_exact(gauged ? mt_process_peak(gauged) : 0);

		mt_sum_table_add(sums, row, &peak);
	}
	add(memory, "victims", mt_sum_table_table(sums));
}

/* ---- Paths ---- */

static bool is_growth(const struct mt_facts_event *event)
{
	enum mt_vm_call_kind kind;

	return mt_vm_call_moment(event->name, &kind) == MT_MOMENT_EXIT && kind != MT_VM_BY_NUMBER;
}

static bool is_count(const struct mt_facts_event *event)
{
	return mt_page_event_of(event).moment == MT_PAGE_COUNT;
}

static bool is_fault(const struct mt_facts_event *event)
{
	return mt_page_event_of(event).moment == MT_PAGE_FAULT;
}

/*
 * Whether such an event was recorded, and selected or gauged. If gauges of processes exist, the
 * recording is by mtrec, so it also shows that an event never happened in the selected processes.
 */
static bool has_event(const struct mt_memory_alongside *memory,
		      bool (*is)(const struct mt_facts_event *event))
{
	const struct mt_facts *facts = mt_session_facts(memory->session);
	bool gauged = mt_gauge_log_process(memory->gauges, 0);

	for (size_t i = 0; i < facts->events.count; i++) {
		const struct mt_facts_event *event = &facts->events.items[i];

		if (event->wanted && (event->selected || gauged) && is(event))
			return true;
	}
	return false;
}

static bool knows_growth(const struct mt_memory_alongside *memory)
{
	return mt_session_facts(memory->session)->marks || has_event(memory, is_growth);
}

static struct mt_error *add_growth(struct mt_memory_alongside *memory)
{
	struct mt_table *table = NULL;
	struct mt_error *err = memory->growth->end(memory->growth, &table);

	if (!err && knows_growth(memory))
		add(memory, "growth", table);
	else
		mt_table_destroy(table);
	return err;
}

/* Adds the blocks of a process that ended, if no growth and no pages are known for its peak. */
static void keep_ended(struct mt_memory_alongside *memory)
{
	if (memory->ended_largest && !knows_growth(memory) && !has_event(memory, is_count) &&
	    !has_event(memory, is_fault))
		mt_block_rows_add_ended(memory->live, memory->ended_largest->pid,
					&memory->of_paths.kept_second);
}

static struct mt_error *add_verdicts(struct mt_memory_alongside *memory)
{
	const struct mt_verdict_row *rows;
	struct mt_table *table;
	struct mt_error *err;
	size_t count;

	mt_judgement_end(memory->judgement);
	if (!knows_growth(memory) && !mt_judgement_has_blocks(memory->judgement))
		return NULL;
	keep_ended(memory);
	rows = mt_judgement_rows(memory->judgement, &count);
	err = mt_verdict_table(memory->session, &memory->of_paths, mt_analysis_verdict.name, rows,
			       count, &table);
	if (!err)
		add(memory, "verdict", table);
	return err;
}

static struct mt_error *add_blocks(struct mt_memory_alongside *memory)
{
	struct mt_table *table;
	struct mt_error *err;

	if (!mt_judgement_has_blocks(memory->judgement))
		return NULL;
	err = mt_block_rows_table(memory->live, mt_judgement_lost(memory->judgement), &table);
	if (!err)
		add(memory, "blocks", table);
	return err;
}

static struct mt_error *add_resident(struct mt_memory_alongside *memory)
{
	struct mt_table *table = NULL;
	struct mt_error *err;

	mt_resident_leave_out(memory->resident,
			      &(struct mt_resident_apart){mt_judgement_is_of_blocks,
							  memory->judgement});
	err = memory->resident->end(memory->resident, &table);

	/*
	 * Faults show which stack touched a page. Only calls, or counts, show that it was given
	 * back.
	 */
	if (!err &&
	    (has_event(memory, is_count) || (has_event(memory, is_fault) && knows_growth(memory))))
		add(memory, "resident", table);
	else
		mt_table_destroy(table);
	return err;
}

static struct mt_error *add_processes(struct mt_memory_alongside *memory)
{
	const struct mt_process_more more = {
		.ledger = knows_growth(memory) ? mt_judgement_mapped(memory->judgement) : NULL,
		.ended_largest = memory->ended_largest};
	struct mt_table *table = NULL;
	struct mt_error *err;

	if (!mt_gauge_log_has_sizes(memory->gauges))
		return NULL;
	err = mt_process_table(memory->session, memory->gauges, &more, &memory->of_processes,
			       &table);
	if (!err)
		add(memory, "processes", table);
	return err;
}

struct mt_error *mt_memory_finish(struct mt_memory_alongside *memory)
{
	struct mt_error *err;

	mt_gauge_log_finish(memory->gauges);
	if (memory->of_paths.by.keys[0] == MT_BY_PROGRAM)
		memory->ended_largest = mt_process_ended_largest(memory->session, memory->gauges);
	if (memory->ended_largest)
		memory->of_paths.kept = memory->ended_largest->pid;
	err = add_growth(memory);
	err = err ? err : add_verdicts(memory);
	err = err ? err : add_blocks(memory);
	err = err ? err : add_resident(memory);
	err = err ? err : add_processes(memory);
	if (err)
		return err;
	if (memory->victims.count)
		add_victims(memory);
	add_host(memory);
	return NULL;
}

const struct mt_named_table *mt_memory_tables(const struct mt_memory_alongside *memory,
					      size_t *count)
{
	*count = memory->tables.count;
	return memory->tables.items;
}

const struct mt_gauge_log *mt_memory_gauges(const struct mt_memory_alongside *memory)
{
	return memory->gauges;
}
