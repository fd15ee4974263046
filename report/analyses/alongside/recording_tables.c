/* Runs every analysis that listens; each has a ledger of its own. */
#include "report/analyses/alongside/recording_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/strings.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "report/analyses/analyses.h"
#include "report/analyses/host/oom_kills.h"
#include "report/gauges/gauge_log.h"
#include "report/session/session.h"
#include "report/stacks/spaces.h"
#include "report/sums/sum_table.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/trace_fields.h"

enum {
	LISTENERS_MOST = 16,
	PROCESSES_MOST = 40, /* processes whose gauges are shown */
	EXECS_MOST = 200,    /* exec calls to mark; OOM kills are all marked */
};

struct listening {
	const struct mt_analysis *analysis;
	struct mt_analysis_request request;
	struct mt_listener *listener;
};

struct mt_recording_tables {
	struct mt_session *session;
	struct mt_observer observer; /* of marks */
	struct listening listening[LISTENERS_MOST];
	size_t listening_count;
	struct mt_sum_table *marks;
	size_t exec_count;
	MT_ARRAY(struct mt_named_table) tables;
};

void mt_recording_tables_destroy(struct mt_recording_tables *t)
{
	if (!t)
		return;
	mt_session_ignore(t->session, &t->observer);
	for (size_t i = 0; i < t->tables.count; i++) {
		mt_table_destroy(t->tables.items[i].table);
		free((char *)t->tables.items[i].limits);
	}
	mt_array_deinit(&t->tables);
	for (size_t i = 0; i < t->listening_count; i++)
		t->listening[i].listener->destroy(t->listening[i].listener);
	mt_sum_table_destroy(t->marks);
	free(t);
}

/* ---- Marks ---- */

static const struct mt_key_column mark_keys[] = {
	{"time", MT_KEY_TIME}, {"mark", MT_KEY_STRING}, {"process", MT_KEY_STRING}};
static const struct mt_value_column mark_values[] = {{"count", ""}};

static uint64_t since_start(const struct mt_session *session, uint32_t recording, uint64_t time)
{
	uint64_t start = mt_session_facts(session)->recordings.items[recording].start;

	return time > start ? time - start : 0;
}

static uint32_t intern(const struct mt_recording_tables *t, const char *text)
{
	return mt_strings_add(mt_session_strings(t->session), text);
}

static void add_mark(struct mt_recording_tables *t, const struct mt_observed *observed,
		     const char *mark, uint32_t process)
{
	const struct mt_value one = mt_value_exact(1);
	const uint64_t keys[] = {
		since_start(t->session, observed->recording, observed->time),
		intern(t, mark),
		process,
	};

	mt_sum_table_add(t->marks, keys, &one);
}

/* A victim of unknown name is shown by its number. */
static uint32_t victim_name(const struct mt_recording_tables *t, const struct mt_oom_mark *victim)
{
	char number[32];

	snprintf(number, sizeof(number), "process %d", (int)victim->pid);
	return victim->name != MT_STRING_NONE ? victim->name : intern(t, number);
}

static void observe(void *context, const struct mt_observed *observed)
{
	struct mt_recording_tables *t = context;
	struct mt_oom_mark victim;

	if (mt_oom_observed(t->session, observed, &victim))
		add_mark(t, observed, "oom", victim_name(t, &victim));
	else if (observed->kind == MT_OBSERVED_KERNEL && observed->kernel->type == MT_KERNEL_COMM &&
		 observed->kernel->exec && t->exec_count++ < EXECS_MOST)
		add_mark(t, observed, "exec", observed->task ? observed->task->comm : 0);
}

/* ---- Listening ---- */

struct mt_by_list mt_page_keys(const struct mt_analysis *analysis, bool timeline)
{
	static const uint8_t keys[] = {MT_BY_EVENT, MT_BY_TIME, MT_BY_THREAD, MT_BY_KIND,
				       MT_BY_STACK};
	struct mt_by_list by = {0};

	for (size_t i = 0; i < sizeof(keys); i++) {
		bool wanted = keys[i] == MT_BY_EVENT  ? analysis->events_apart
			      : keys[i] == MT_BY_TIME ? timeline && !analysis->moments
						      : true;

		if (wanted && (analysis->by & MT_BY_BIT(keys[i])))
			mt_by_add(&by, keys[i]);
	}
	return by;
}

static void listen_to(struct mt_recording_tables *t, const struct mt_analysis *analysis,
		      const struct mt_recording_how *how)
{
	struct listening *slot = &t->listening[t->listening_count];

	*slot = (struct listening){
		.analysis = analysis,
		.request =
			{
				.stacks = true,
				.unwind = true,
				.by = mt_page_keys(analysis, !how->compared),
				.time = how->time,
				.intervals = MT_PAGE_INTERVALS,
				.even = true,
				.page = true,
				.compared = how->compared,
			},
	};
	slot->listener = analysis->listen(analysis, t->session, &slot->request, true);
	t->listening_count++;
}

struct mt_recording_tables *mt_recording_tables_listen(struct mt_session *session,
						       const struct mt_recording_how *how)
{
	struct mt_recording_tables *t = mt_alloc(1, sizeof(*t));

	t->session = session;
	t->observer = (struct mt_observer){.context = t, .observe = observe};
	t->marks = mt_sum_table_plain("marks", mt_session_strings(session), mark_keys, 3,
				      mark_values, 1);
	mt_session_observe(session, &t->observer);
	for (size_t i = 0; how->analyses[i] && t->listening_count < LISTENERS_MOST; i++) {
		if (how->analyses[i]->listen && !how->analyses[i]->alone &&
		    !(how->part && how->analyses[i]->moments))
			listen_to(t, how->analyses[i], how);
	}
	return t;
}

/* ---- The end ---- */

/* Adds a table. Takes ownership of `limits` and `table`. */
static void add(struct mt_recording_tables *t, const char *name, char *limits,
		struct mt_table *table)
{
	*mt_array_push(&t->tables) =
		(struct mt_named_table){.name = name, .table = table, .limits = limits};
}

static struct mt_error *end(struct mt_recording_tables *t, struct listening *slot)
{
	struct mt_table *table = NULL;
	bool empty = true;
	struct mt_error *err = slot->listener->end(slot->listener, &table);

	err = err ? err : mt_table_is_empty(table, &empty);
	if (err || (empty && !slot->request.compared)) {
		mt_table_destroy(table);
		return err;
	}
	add(t, slot->analysis->name,
	    mt_preconditions_describe(slot->analysis->needs, mt_session_facts(t->session)), table);
	return NULL;
}

/* Keys of the tables of gauges. */
enum {
	GAUGE_PID,
	GAUGE_PROCESS,
	GAUGE_NAME,
	GAUGE_TIME,
	GAUGE_KEYS
};

/* Adds the values of a series. `keys` has all keys except the times. */
static void add_points(const struct mt_recording_tables *t, struct mt_sum_table *sums,
		       uint32_t recording, const struct mt_series *series,
		       uint64_t keys[GAUGE_KEYS])
{
	for (uint16_t i = 0; i <= series->count; i++) {
		bool last = i == series->count || !series->points;
		uint64_t time = last ? series->last_time : series->points[i].time;
		struct mt_value value =
			mt_value_exact(last ? series->last : series->points[i].value);

		if (!series->count || (i && last && series->points &&
				       series->points[i - 1].time >= series->last_time))
			break;
		keys[GAUGE_TIME] = since_start(t->session, recording, time);
		mt_sum_table_add(sums, keys, &value);
		if (last)
			break;
	}
}

static int compare_peaks(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x > y ? -1 : x < y;
}

/* The peak of the last process to show, by size of peaks; 0 if all are shown. */
static double least_peak(const struct mt_gauge_log *gauges)
{
	MT_ARRAY(double) peaks = {0};
	const struct mt_gauged_process *process;
	double least = 0;

	for (size_t i = 0; (process = mt_gauge_log_process(gauges, i)); i++) {
		if (process->selected && !process->other)
			*mt_array_push(&peaks) = process->series[MT_PROCESS_RESIDENT].most;
	}
	if (peaks.count > PROCESSES_MOST) {
		qsort(peaks.items, peaks.count, sizeof(*peaks.items), compare_peaks);
		least = peaks.items[PROCESSES_MOST - 1];
	}
	mt_array_deinit(&peaks);
	return least;
}

static struct mt_sum_table *create_gauges(const struct mt_recording_tables *t)
{
	static const struct mt_key_column keys[GAUGE_KEYS] = {
		[GAUGE_PID] = {"pid", MT_KEY_NUMBER},
		[GAUGE_PROCESS] = {"process", MT_KEY_STRING},
		[GAUGE_NAME] = {"gauge", MT_KEY_STRING},
		[GAUGE_TIME] = {"time", MT_KEY_TIME},
	};
	static const struct mt_value_column value = {"value", ""};
	return mt_sum_table_plain("gauges", mt_session_strings(t->session), keys, GAUGE_KEYS,
				  &value, 1);
}

static void add_gauge(const struct mt_recording_tables *t, struct mt_sum_table *sums,
		      const struct mt_gauged_process *process, const char *name,
		      enum mt_process_gauge gauge)
{
	uint64_t keys[GAUGE_KEYS] = {
		[GAUGE_PID] = (uint64_t)process->pid,
		[GAUGE_PROCESS] =
			process->comm != MT_STRING_NONE ? process->comm : intern(t, "[unknown]"),
		[GAUGE_NAME] = intern(t, name),
	};

	add_points(t, sums, process->recording, &process->series[gauge], keys);
}

static void add_gauges(struct mt_recording_tables *t, const struct mt_gauge_log *gauges)
{
	struct mt_sum_table *sums = create_gauges(t);
	const struct mt_gauged_process *process;
	double least = least_peak(gauges);

	for (size_t i = 0, shown = 0; (process = mt_gauge_log_process(gauges, i)); i++) {
		if (!process->selected || process->other ||
		    process->series[MT_PROCESS_RESIDENT].most < least || shown++ >= PROCESSES_MOST)
			continue;
		add_gauge(t, sums, process, "resident", MT_PROCESS_RESIDENT);
		add_gauge(t, sums, process, "mapped", MT_PROCESS_MAPPED);
	}
	add(t, "gauges", NULL, mt_sum_table_table(sums));
}

/* Adds gauges of the first recording: those that the summary shows on the line about the host. */
static void add_host(struct mt_recording_tables *t, const struct mt_gauge_log *gauges)
{
	static const char shown[] = "|meminfo MemAvailable|meminfo SwapTotal|meminfo SwapFree|"
				    "pressure memory some|vmstat oom_kill|";
	struct mt_sum_table *sums = create_gauges(t);
	const struct mt_host_gauge *gauge;
	char word[64];

	for (size_t i = 0; (gauge = mt_gauge_log_host(gauges, i)); i++) {
		uint64_t keys[GAUGE_KEYS] = {
			[GAUGE_PROCESS] = intern(t, "host"), [GAUGE_NAME] = gauge->name};

		snprintf(word, sizeof(word), "|%s|",
			 mt_strings_get(mt_session_strings(t->session), gauge->name));
		if (!gauge->recording && strstr(shown, word))
			add_points(t, sums, 0, &gauge->series, keys);
	}
	add(t, "host_gauges", NULL, mt_sum_table_table(sums));
}

struct mt_error *mt_recording_tables_finish(struct mt_recording_tables *t,
					    const struct mt_gauge_log *gauges)
{
	struct mt_error *err = NULL;

	for (size_t i = 0; i < t->listening_count && !err; i++)
		err = end(t, &t->listening[i]);
	if (err || !gauges)
		return err;
	add_gauges(t, gauges);
	add_host(t, gauges);
	add(t, "marks", NULL, mt_sum_table_table(MT_TAKE(t->marks)));
	return NULL;
}

struct mt_named_table *mt_recording_tables_get(struct mt_recording_tables *t, size_t *count)
{
	*count = t->tables.count;
	return t->tables.items;
}
