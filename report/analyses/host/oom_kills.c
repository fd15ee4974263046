/*
 * --oom: each process that was killed for lack of memory, one fact per row: the process whose
 * request failed, the cgroup at its limit, the victim's memory, and the paths by which it had
 * grown.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "report/analyses/analyses.h"
#include "report/analyses/host/oom_kills.h"
#include "report/analyses/rows/ledger_rows.h"
#include "report/gauges/gauge_log.h"
#include "report/session/session.h"
#include "report/stacks/spaces.h"
#include "report/stacks/stacks.h"
#include "report/sums/sum_table.h"
#include "report/tables/facts.h"
#include "report/tables/text.h"
#include "report/tables/trace_fields.h"

MT_DEFINE_CLEANUP(mt_table, struct mt_table)

#define KILL "oom:mark_victim"

enum {
	PATHS_MOST = 5, /* paths shown of each victim, and of all other processes */
	NAME_MOST = 64,
};

enum {
	KEY_TIME,
	KEY_PID,
	KEY_PROCESS,
	KEY_FACT,
	KEY_FIGURE,
	KEY_STACK,
	KEYS
};

static const struct mt_key_column key_columns[KEYS] = {
	[KEY_TIME] = {"time", MT_KEY_TIME},	    [KEY_PID] = {"pid", MT_KEY_NUMBER},
	[KEY_PROCESS] = {"process", MT_KEY_STRING}, [KEY_FACT] = {"fact", MT_KEY_STRING},
	[KEY_FIGURE] = {"figure", MT_KEY_STRING},   [KEY_STACK] = {"stack", MT_KEY_STACK},
};

static const struct mt_value_column value_columns[] = {{"value", ""}};

/* A fact about the victim, from the event or else from its last gauge. */
static const struct fact {
	const char *name;
	const char *field; /* field of the event, from Linux 6.9 on; NULL: none */
	bool kib;	   /* else a plain number */
	int gauge;	   /* enum mt_process_gauge; -1: none */
} victim_facts[] = {
	{"total_vm", "total_vm", true, MT_PROCESS_MAPPED},
	{"anon", "anon_rss", true, MT_PROCESS_ANONYMOUS},
	{"file", "file_rss", true, MT_PROCESS_FILE},
	{"shmem", "shmem_rss", true, MT_PROCESS_SHARED},
	{"swap", NULL, true, MT_PROCESS_SWAPPED},
	{"page tables", "pgtables", true, -1},
	{"oom_score_adj", "oom_score_adj", false, -1},
	{"uid", "uid", false, -1},
};

enum {
	FACTS = sizeof(victim_facts) / sizeof(*victim_facts),
};

/* One kill, from its event. */
struct kill {
	uint32_t recording;
	uint64_t time; /* ns on the recording's clock */
	int32_t pid;
	uint32_t name;	 /* string id; MT_STRING_NONE: not in the event */
	uint32_t killer; /* string id of its name */
	int32_t killer_pid;
	uint32_t cgroup; /* string id */
	uint32_t stack;
	double facts[FACTS]; /* NaN: not in the event */
};

struct oom {
	struct mt_session *session;
	struct mt_gauge_log *gauges;
	struct mt_sum_table *table;
	MT_ARRAY(struct kill) kills;
	uint32_t no_stack; /* the id of the empty stack */
};

/* ---- Kills ---- */

static uint32_t name_in(struct mt_session *session, const struct mt_text *format,
			const struct mt_sample *sample)
{
	struct mt_field field = mt_field_find(format, "comm");
	size_t length;
	const char *name = mt_field_text(&field, sample, &length);

	if (!name || length > NAME_MOST)
		return MT_STRING_NONE;
	return mt_strings_intern(mt_session_strings(session), name, length);
}

bool mt_oom_recorded(const struct mt_facts_event *event)
{
	return !strcmp(event->name, KILL);
}

static struct mt_text format_of(const struct mt_session *session, uint32_t event)
{
	const char *text = mt_session_facts(session)->events.items[event].format;

	return (struct mt_text){.bytes = text, .size = strlen(text)};
}

/* The victim's pid; -1: not known. */
static int32_t pid_in(const struct mt_text *format, const struct mt_sample *sample)
{
	struct mt_field field = mt_field_find(format, "pid");
	double pid;

	return mt_field_number(&field, sample, &pid) ? (int32_t)pid : -1;
}

bool mt_oom_victim(const struct mt_session *session, const struct mt_session_sample *sample,
		   struct mt_oom_victim *out)
{
	const struct mt_text format = format_of(session, sample->event);

	if (!mt_oom_recorded(&mt_session_facts(session)->events.items[sample->event]))
		return false;
	out->pid = pid_in(&format, sample->kernel);
	out->cgroup = out->pid < 0 ? 0 : mt_session_cgroup(session, out->pid);
	if (!out->cgroup)
		out->cgroup = sample->cgroup;
	return true;
}

bool mt_oom_observed(struct mt_session *session, const struct mt_observed *observed,
		     struct mt_oom_mark *out)
{
	const struct mt_facts *facts = mt_session_facts(session);
	struct mt_text format;

	if (observed->kind != MT_OBSERVED_SAMPLE || observed->event >= facts->events.count ||
	    !mt_oom_recorded(&facts->events.items[observed->event]))
		return false;
	format = format_of(session, observed->event);
	*out = (struct mt_oom_mark){.pid = pid_in(&format, observed->sample),
				    .name = name_in(session, &format, observed->sample)};
	if (out->name == MT_STRING_NONE && observed->task &&
	    (out->pid < 0 || out->pid == observed->task->pid))
		out->name = observed->task->comm;
	return true;
}

static void take_kill(void *context, const struct mt_session_sample *sample)
{
	struct oom *oom = context;
	const struct mt_text format = format_of(oom->session, sample->event);
	struct mt_oom_victim victim;
	struct mt_field field;
	struct kill *kill;

	if (!mt_oom_victim(oom->session, sample, &victim))
		return;
	kill = mt_array_push(&oom->kills);
	*kill = (struct kill){
		.recording = sample->recording,
		.time = sample->time,
		.pid = victim.pid,
		.name = name_in(oom->session, &format, sample->kernel),
		.killer = sample->process,
		.killer_pid = sample->task->pid,
		.cgroup = victim.cgroup,
		.stack = sample->stack,
	};
	for (size_t i = 0; i < FACTS; i++) {
		const char *name = victim_facts[i].field;

		field = name ? mt_field_find(&format, name) : (struct mt_field){0};
		if (!mt_field_number(&field, sample->kernel, &kill->facts[i]))
			kill->facts[i] = NAN;
		else if (victim_facts[i].kib)
			kill->facts[i] *= 1024;
	}
}

/* ---- Rows ---- */

/* A row. If `figure` is NULL, the row shows the value in bytes. */
struct fact_row {
	uint64_t time;
	int32_t pid;
	uint32_t process; /* string id */
	const char *fact, *figure;
	double value;
	uint32_t stack;
};

static void put_row(const struct oom *oom, const struct fact_row *row)
{
	struct mt_strings *strings = mt_session_strings(oom->session);
	struct mt_snippet bytes = mt_text_bytes(isfinite(row->value) ? row->value : 0);
	const struct mt_value value = mt_value_exact(row->value);
	const uint64_t keys[KEYS] = {
		[KEY_TIME] = row->time,
		[KEY_PID] = row->pid < 0 ? UINT64_MAX : (uint64_t)row->pid,
		[KEY_PROCESS] = row->process,
		[KEY_FACT] = mt_strings_add(strings, row->fact),
		[KEY_FIGURE] = mt_strings_add(strings, row->figure ? row->figure : bytes.text),
		[KEY_STACK] = row->stack,
	};

	mt_sum_table_add(oom->table, keys, &value);
}

/* The process of a kill in the gauges, which is the one that ran at that time; NULL if unknown. */
static const struct mt_gauged_process *gauged(const struct oom *oom, const struct kill *kill)
{
	const struct mt_gauged_process *process, *found = NULL;

	for (size_t i = 0; (process = mt_gauge_log_process(oom->gauges, i)); i++) {
		if (process->recording == kill->recording && process->pid == kill->pid &&
		    process->series[MT_PROCESS_RESIDENT].count &&
		    process->series[MT_PROCESS_RESIDENT].first_time <= kill->time)
			found = process;
	}
	return found;
}

static void put_facts(const struct oom *oom, const struct kill *kill, struct fact_row row)
{
	const struct mt_gauged_process *process = gauged(oom, kill);
	char figure[80];

	for (size_t i = 0; i < FACTS; i++) {
		const struct fact *fact = &victim_facts[i];
		const struct mt_series *series =
			process && fact->gauge >= 0 ? &process->series[fact->gauge] : NULL;

		row.fact = fact->name;
		row.figure = NULL;
		row.value = kill->facts[i];
		if (isnan(row.value) && series && series->count) {
			row.value = mt_series_at(series, kill->time);
			snprintf(figure, sizeof(figure), "%s, read before",
				 mt_text_bytes(row.value).text);
			row.figure = figure;
		} else if (isnan(row.value)) {
			row.figure = "not known";
		} else if (!fact->kib) {
			snprintf(figure, sizeof(figure), "%.0f", row.value);
			row.figure = figure;
		}
		put_row(oom, &row);
	}
}

/* A gauge of the host at the time of the kill; NaN if there is none. */
static double host_gauge(const struct oom *oom, const struct kill *kill, const char *name)
{
	const struct mt_host_gauge *gauge;

	for (size_t i = 0; (gauge = mt_gauge_log_host(oom->gauges, i)); i++) {
		if (gauge->recording == kill->recording &&
		    !strcmp(mt_strings_get(mt_session_strings(oom->session), gauge->name), name))
			return mt_series_at(&gauge->series, kill->time);
	}
	return NAN;
}

static double cgroup_gauge(const struct oom *oom, const struct kill *kill, const char *what,
			   const char *path)
{
	char name[PATH_MAX + 64];

	snprintf(name, sizeof(name), "cgroup %s %s", what, path);
	return host_gauge(oom, kill, name);
}

/* Adds the smallest limit of a cgroup and its ancestors, whose limits all apply. */
static void put_limit(const struct oom *oom, const struct kill *kill, struct fact_row row,
		      const char *path)
{
	char above[PATH_MAX], figure[PATH_MAX + 64];
	size_t whose = strlen(path);
	char *cut;

	snprintf(above, sizeof(above), "%s", path);
	row.fact = "cgroup's limit";
	row.value = cgroup_gauge(oom, kill, "limit", path);
	row.figure = NULL;
	while ((cut = strrchr(above, '/')) && cut > above) {
		double limit;

		*cut = '\0';
		limit = cgroup_gauge(oom, kill, "limit", above);
		if (isnan(limit) || row.value <= limit)
			continue;
		row.value = limit;
		whose = strlen(above);
	}
	if (isnan(row.value)) {
		/* Limits that exist are recorded together with the usage. */
		row.figure = isnan(cgroup_gauge(oom, kill, "usage", path)) ? "not known" : "none";
	} else if (path[whose]) {
		snprintf(figure, sizeof(figure), "%s, of %.*s", mt_text_bytes(row.value).text,
			 (int)whose, path);
		row.figure = figure;
	}
	put_row(oom, &row);
}

static void put_cgroup(const struct oom *oom, const struct kill *kill, struct fact_row row)
{
	const char *path = mt_strings_get(mt_session_strings(oom->session), kill->cgroup);

	row.fact = "cgroup";
	row.figure = *path ? path : "not known";
	put_row(oom, &row);
	put_limit(oom, kill, row, path);
}

static void put_load(const struct oom *oom, const struct kill *kill, struct fact_row row)
{
	double load = host_gauge(oom, kill, "loadavg 1") / 100;
	char figure[40] = "not known";

	if (!isnan(load))
		snprintf(figure, sizeof(figure), "%.2f", load);
	row.fact = "load average";
	row.figure = figure;
	row.value = load;
	put_row(oom, &row);
}

static uint64_t since_start(const struct oom *oom, const struct kill *kill)
{
	uint64_t start = mt_session_facts(oom->session)->recordings.items[kill->recording].start;

	return kill->time > start ? kill->time - start : 0;
}

static uint32_t victim_name(const struct oom *oom, const struct kill *kill)
{
	const struct mt_gauged_process *process = gauged(oom, kill);
	uint32_t name = kill->name != MT_STRING_NONE ? kill->name
			: process		     ? process->comm
						     : MT_STRING_NONE;

	return name != MT_STRING_NONE ? name : kill->pid == kill->killer_pid ? kill->killer : 0;
}

static void put_kill(const struct oom *oom, const struct kill *kill)
{
	struct fact_row row = {
		.time = since_start(oom, kill),
		.pid = kill->pid,
		.process = victim_name(oom, kill),
		.fact = "killed for",
		.value = NAN,
		.stack = kill->stack,
	};
	char killer[NAME_MOST + 32];

	snprintf(killer, sizeof(killer), "%.*s %d", NAME_MOST,
		 mt_strings_get(mt_session_strings(oom->session), kill->killer),
		 (int)kill->killer_pid);
	row.figure = killer;
	put_row(oom, &row);
	row.stack = oom->no_stack;
	put_cgroup(oom, kill, row);
	put_facts(oom, kill, row);
	put_load(oom, kill, row);
}

/* ---- Paths ---- */

/* Whether the name of a process has the mark: "as [exited]", "sh [exec]". */
static bool is_marked(const struct oom *oom, uint64_t process, const char *mark)
{
	return strstr(mt_strings_get(mt_session_strings(oom->session), (uint32_t)process), mark);
}

static bool is_victim(const struct oom *oom, uint64_t pid)
{
	for (size_t i = 0; i < oom->kills.count; i++) {
		if ((uint64_t)oom->kills.items[i].pid == pid)
			return true;
	}
	return false;
}

/* Adds the heaviest paths of a victim or, if `kill` is NULL, of other processes that survive. */
static struct mt_error *put_paths(const struct oom *oom, struct mt_table *paths,
				  const struct kill *kill)
{
	size_t pid = mt_table_key(paths, "pid"), process = mt_table_key(paths, "process"),
	       stack = mt_table_key_of_kind(paths, MT_KEY_STACK),
	       bytes = mt_table_value(paths, "bytes");
	struct mt_error *err = mt_table_rewind(paths);
	struct mt_row row;

	for (size_t put = 0; put < PATHS_MOST && mt_table_read(paths, &row, &err);) {
		struct fact_row fact = {.fact = kill ? "grew" : "others grew"};

		if (kill ? row.keys[pid] != (uint64_t)kill->pid ||
				    is_marked(oom, row.keys[process], " [exec]")
			 : is_victim(oom, row.keys[pid]) || is_marked(oom, row.keys[process], " ["))
			continue;
		fact.time = since_start(oom, kill ? kill : &oom->kills.items[0]);
		fact.pid = (int32_t)row.keys[pid];
		fact.process = kill ? victim_name(oom, kill) : (uint32_t)row.keys[process];
		fact.value = row.values[bytes].value;
		fact.stack = (uint32_t)row.keys[stack];
		if (fact.value <= 0)
			break;
		put++;
		put_row(oom, &fact);
	}
	return err;
}

static struct mt_error *put_all(const struct oom *oom, struct mt_table *paths)
{
	struct mt_error *err = NULL;

	for (size_t i = 0; i < oom->kills.count && !err; i++) {
		put_kill(oom, &oom->kills.items[i]);
		err = put_paths(oom, paths, &oom->kills.items[i]);
	}
	return err || !oom->kills.count ? err : put_paths(oom, paths, NULL);
}

/* ---- The analysis ---- */

static void oom_deinit(struct oom *oom)
{
	mt_gauge_log_destroy(oom->gauges);
	mt_sum_table_destroy(oom->table);
	mt_array_deinit(&oom->kills);
}

static struct mt_error *read_session(struct oom *oom, struct mt_table **paths)
{
	const struct mt_analysis_request growth = {
		.stacks = true, .unwind = true, .by = {{MT_BY_PROCESS, MT_BY_STACK}, 2}};
	struct mt_listener *resident =
		mt_ledger_table_listen(&mt_analysis_resident, oom->session, &growth, true);
	struct mt_error *err;

	oom->gauges = mt_gauge_log_listen(oom->session);
	err = mt_session_read(oom->session, take_kill, oom);
	if (!err) {
		mt_gauge_log_finish(oom->gauges);
		err = resident->end(resident, paths);
	}
	resident->destroy(resident);
	return err;
}

/* The error if there was no kill, or if the selectors leave out the recorded kills. */
static struct mt_error *no_kill(const struct mt_session *session)
{
	const struct mt_facts *facts = mt_session_facts(session);
	uint64_t kills = 0;
	bool recorded = false;

	for (size_t i = 0; i < facts->events.count; i++) {
		if (!mt_oom_recorded(&facts->events.items[i]))
			continue;
		recorded = true;
		kills += facts->events.items[i].samples;
	}
	if (kills)
		return mt_error_create(MT_ERR_NOT_FOUND,
				       "of %s OOM kills in it none matches the selectors",
				       mt_text_count((double)kills).text);
	return mt_error_hint(mt_error_create(MT_ERR_NOT_FOUND, "no OOM kill in it"),
			     recorded ? "they were recorded: there was none"
				      : "mtrec -e oom,vm,rss -a records them");
}

static struct mt_error *run(const struct mt_analysis *analysis, struct mt_session *session,
			    const struct mt_analysis_request *request, struct mt_table **out)
{
	MT_CLEANUP(oom_deinit) struct oom oom = {.session = session};
	MT_CLEANUP(mt_table_destroy_p) struct mt_table *paths = NULL;
	const struct mt_table shape = {
		.name = analysis->name,
		.keys = key_columns,
		.key_count = KEYS,
		.values = value_columns,
		.value_count = 1,
		.quiet_values = 1,
		.ordered = true,
		.strings = mt_session_strings(session),
		.stacks = mt_session_stacks(session),
		.frames = mt_session_frames(session),
	};
	struct mt_error *err = read_session(&oom, &paths);

	(void)request;
	if (err)
		return err;
	if (!oom.kills.count)
		return no_kill(session);
	oom.table = mt_sum_table_create(&shape);
	oom.no_stack = mt_stacks_intern(shape.stacks, NULL, 0);
	err = put_all(&oom, paths);
	if (!err)
		*out = mt_sum_table_table(MT_TAKE(oom.table));
	return err;
}

const struct mt_analysis mt_analysis_oom = {
	.name = "oom",
	.help = "OOM kills: victim, for whom, its memory, its paths",
	.rare = true,
	.groups = true,
	.default_by = {{MT_BY_STACK}, 1},
	.judges = true,
	.needs = MT_NEEDS_PAGES,
	.record = "oom,vm,rss",
	.output = "table",
	.run = run,
};
