/* Collects gauges. */
#include "report/gauges/gauge_log.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "report/gauges/lives.h"
#include "report/session/selection.h"
#include "report/session/session.h"
#include "report/stacks/spaces.h"
#include "report/tables/facts.h"

#define NONE UINT64_MAX
/* A hostile recording may name any number of processes and gauges. */
#define PROCESSES_MAX 1000000
#define HOST_GAUGES_MAX 4096

struct process {
	struct mt_gauged_process reported;
	uint64_t first_time, last_time; /* times of the first and the last gauge */
	uint64_t next;			/* index of the next process of that pid; NONE */
};

/*
 * Records about a process before its first gauge. In a growing recording gauges come after data;
 * otherwise all gauges come first.
 */
struct early {
	uint32_t comm, cgroup, exe;
	bool named, judged, other;
};

enum early_kind {
	EARLY_NAMES, /* a COMM, FORK or EXIT */
	EARLY_EXE,   /* a mapping */
	EARLY_SAMPLE,
};

/* When the gauges of a recording were read. */
struct readings {
	uint64_t first, last;
	uint64_t count;
};

struct mt_gauge_log {
	struct mt_session *session;
	struct mt_observer observer;
	MT_ARRAY(struct process) all;
	struct mt_lives lives;
	size_t lives_judged; /* ended lives that were checked and have no gauges */
	MT_ARRAY(struct mt_brief_processes) brief;
	struct mt_map64 by_pid; /* of this recording: pid to index of the first process */
	MT_ARRAY(struct early) early;
	struct mt_map64 early_by_pid;
	const struct mt_space *sampled;	    /* the space of the last sample */
	MT_ARRAY(struct readings) readings; /* by recording */
	MT_ARRAY(struct mt_host_gauge) host;
	struct mt_map64 by_name; /* recording and string id to index in host */
};

void mt_gauge_log_destroy(struct mt_gauge_log *gauges)
{
	if (!gauges)
		return;
	mt_session_ignore(gauges->session, &gauges->observer);
	for (size_t i = 0; i < gauges->all.count; i++) {
		for (size_t j = 0; j < MT_PROCESS_GAUGES; j++)
			mt_series_deinit(&gauges->all.items[i].reported.series[j]);
	}
	mt_array_deinit(&gauges->all);
	mt_lives_deinit(&gauges->lives);
	mt_array_deinit(&gauges->brief);
	for (size_t i = 0; i < gauges->host.count; i++)
		mt_series_deinit(&gauges->host.items[i].series);
	mt_array_deinit(&gauges->early);
	mt_map64_deinit(&gauges->early_by_pid);
	mt_array_deinit(&gauges->host);
	mt_array_deinit(&gauges->readings);
	mt_map64_deinit(&gauges->by_pid);
	mt_map64_deinit(&gauges->by_name);
	free(gauges);
}

/* ---- Gauges ---- */

/* In ns. Gauges of one reading are microseconds apart, those of two readings more than this. */
#define APART ((uint64_t)50000000)

static void note_reading(struct mt_gauge_log *gauges, uint32_t recording, uint64_t time)
{
	struct readings *readings = mt_array_at(&gauges->readings, recording);

	if (readings->count && time - readings->last < APART)
		return;
	readings->first = readings->count++ ? readings->first : time;
	readings->last = time;
}

static void take_host(struct mt_gauge_log *gauges, uint32_t recording,
		      const struct mt_gauge_record *record)
{
	uint32_t name = mt_strings_intern(mt_session_strings(gauges->session), record->name.bytes,
					  record->name.size);
	uint64_t key = (uint64_t)recording << 32 | name, index;
	struct mt_host_gauge *gauge;

	note_reading(gauges, recording, record->after);
	if (gauges->host.count >= HOST_GAUGES_MAX && !mt_map64_get(&gauges->by_name, key, &index))
		return;
	gauge = mt_map64_element(&gauges->by_name, &gauges->host, key);
	gauge->recording = recording;
	gauge->name = name;
	mt_series_add(&gauge->series, record->after, (double)record->value);
}

static struct process *find_process(struct mt_gauge_log *gauges,
				    const struct mt_gauge_record *record)
{
	uint64_t index;

	if (!mt_map64_get(&gauges->by_pid, (uint64_t)record->pid, &index))
		return NULL;
	while (gauges->all.items[index].reported.start_time != record->start_time &&
	       gauges->all.items[index].next != NONE)
		index = gauges->all.items[index].next;
	return &gauges->all.items[index];
}

static void report_early(const struct mt_gauge_log *gauges, struct mt_gauged_process *reported)
{
	const struct early *early;
	uint64_t index;

	if (!mt_map64_get(&gauges->early_by_pid, (uint64_t)reported->pid, &index))
		return;
	early = &gauges->early.items[index];
	if (early->named) {
		reported->comm = early->comm;
		reported->cgroup = early->cgroup ? early->cgroup : reported->cgroup;
	}
	reported->exe = early->exe ? early->exe : reported->exe;
	reported->other = early->judged ? early->other : reported->other;
}

/* The process of a gauge, created if new. */
static struct process *see_process(struct mt_gauge_log *gauges, const struct mt_observed *observed)
{
	const struct mt_gauge_record *record = observed->gauge;
	struct process *before = find_process(gauges, record), *process;
	const struct mt_task *task = observed->task;
	bool known = task && task->space && !task->space->recorder &&
		     task->space->start_time == record->start_time;
	size_t last = before ? (size_t)(before - gauges->all.items) : 0;

	if (before && before->reported.start_time == record->start_time)
		return before;
	process = mt_array_push(&gauges->all);
	*process = (struct process){
		.reported = {.recording = observed->recording,
			     .pid = record->pid,
			     .start_time = record->start_time,
			     .comm = known ? task->comm : MT_STRING_NONE,
			     .cgroup = known ? task->space->cgroup : 0,
			     .exe = known ? task->space->exe : 0,
			     .is_new = !known,
			     .began = record->after,
			     .other = known && !mt_space_is_target(task->space)},
		.first_time = record->after,
		.next = NONE,
	};
	if (!before)
		report_early(gauges, &process->reported);
	if (before)
		gauges->all.items[last].next = gauges->all.count - 1;
	else
		mt_map64_put(&gauges->by_pid, (uint64_t)record->pid, gauges->all.count - 1);
	return process;
}

static void take_process(struct mt_gauge_log *gauges, const struct mt_observed *observed)
{
	static const char *const names[MT_PROCESS_GAUGES] = {
		[MT_PROCESS_RESIDENT] = "VmRSS",
		[MT_PROCESS_MAPPED] = "VmSize",
		[MT_PROCESS_ANONYMOUS] = "RssAnon",
		[MT_PROCESS_FILE] = "RssFile",
		[MT_PROCESS_SHARED] = "RssShmem",
		[MT_PROCESS_SWAPPED] = "VmSwap",
		[MT_PROCESS_MAJOR_FAULTS] = "MajorFaults",
		[MT_PROCESS_HUGE] = "smaps_rollup AnonHugePages",
	};
	const struct mt_gauge_record *record = observed->gauge;
	struct process *process;
	size_t which = 0;

	while (which < MT_PROCESS_GAUGES &&
	       (record->name.size != strlen(names[which]) ||
		memcmp(record->name.bytes, names[which], record->name.size) != 0))
		which++;
	if (which == MT_PROCESS_GAUGES || gauges->all.count >= PROCESSES_MAX)
		return;
	process = see_process(gauges, observed);
	process->last_time = record->after;
	mt_series_add(&process->reported.series[which], record->after, (double)record->value);
}

/* ---- Names and ends ---- */

/*
 * Finds the process that a kernel record of this pid belongs to. Processes with the same pid follow
 * one another. A record up to the last gauge of a process belongs to it; a record after all gauges
 * belongs to the last process.
 */
static struct process *process_at(struct mt_gauge_log *gauges, int32_t pid, uint64_t time)
{
	uint64_t index;

	if (!mt_map64_get(&gauges->by_pid, (uint64_t)pid, &index))
		return NULL;
	while (gauges->all.items[index].next != NONE &&
	       (gauges->all.items[index].reported.ended ||
		gauges->all.items[index].last_time < time) &&
	       gauges->all.items[gauges->all.items[index].next].first_time <= time)
		index = gauges->all.items[index].next;
	return &gauges->all.items[index];
}

static void keep_early(struct mt_gauge_log *gauges, const struct mt_task *task,
		       enum early_kind kind)
{
	const struct mt_space *space = task->space;
	struct early *early;

	if (!mt_session_grows(gauges->session))
		return;
	early = mt_map64_element(&gauges->early_by_pid, &gauges->early, (uint64_t)task->pid);
	if (kind != EARLY_EXE) {
		early->judged = true;
		early->other = kind == EARLY_NAMES && space && !mt_space_is_target(space);
	}
	if (kind != EARLY_SAMPLE)
		early->exe = space ? space->exe : early->exe;
	if (kind == EARLY_NAMES) {
		early->named = true;
		early->comm = task->comm;
		early->cgroup = space ? space->cgroup : early->cgroup;
	}
}

static void take_kernel(struct mt_gauge_log *gauges, const struct mt_observed *observed)
{
	const struct mt_task *task = observed->task;
	struct mt_gauged_process *reported;
	struct process *process;
	uint32_t type = observed->kernel->type;
	bool maps = type == MT_KERNEL_MMAP || type == MT_KERNEL_MMAP2; /* may show the program */

	if (!task || task->tid != task->pid ||
	    (!maps && type != MT_KERNEL_FORK && type != MT_KERNEL_COMM && type != MT_KERNEL_EXIT))
		return;
	process = process_at(gauges, task->pid, observed->time);
	if (!process) {
		keep_early(gauges, task, maps ? EARLY_EXE : EARLY_NAMES);
		return;
	}
	reported = &process->reported;
	if (reported->ended)
		return;
	reported->exe = task->space ? task->space->exe : reported->exe;
	if (maps)
		return;
	reported->comm = task->comm;
	reported->cgroup = task->space ? task->space->cgroup : reported->cgroup;
	reported->other = task->space && !mt_space_is_target(task->space);
	reported->ended = type == MT_KERNEL_EXIT && process->first_time <= observed->time;
	if (reported->ended)
		reported->to = observed->time;
}

/* Marks the process of a sample as a target of mtrec. */
static void take_sample(struct mt_gauge_log *gauges, const struct mt_observed *observed)
{
	struct process *process;

	if (observed->task->space == gauges->sampled)
		return;
	gauges->sampled = observed->task->space;
	process = process_at(gauges, observed->task->pid, observed->time);
	if (!process) {
		keep_early(gauges, observed->task, EARLY_SAMPLE);
		return;
	}
	process->reported.other = false;
}

/* The process that has gauges during this life, or NULL. */
static struct process *gauged_in(struct mt_gauge_log *gauges, const struct mt_life *life)
{
	struct process *process;
	uint64_t index;

	if (!mt_map64_get(&gauges->by_pid, (uint64_t)life->pid, &index))
		return NULL;
	for (; index != NONE; index = process->next) {
		process = &gauges->all.items[index];
		if (process->first_time <= life->ended && process->last_time >= life->began)
			return process;
	}
	return NULL;
}

/*
 * Drops the lives of processes that have gauges, after copying start and peak to the process.
 * Called at the end of a recording, because in a growing one gauges may come after other records of
 * the same time.
 */
static void end_recording(struct mt_gauge_log *gauges)
{
	size_t kept = gauges->lives_judged;

	for (size_t i = kept; i < gauges->lives.over.count; i++) {
		const struct mt_life *life = &gauges->lives.over.items[i];
		struct process *process = gauged_in(gauges, life);

		if (!process) {
			gauges->lives.over.items[kept++] = *life;
			continue;
		}
		if (process->reported.is_new && life->began < process->reported.began)
			process->reported.began = life->began;
		process->reported.peak = (double)life->peak;
	}
	gauges->lives.over.count = gauges->lives_judged = kept;
	mt_lives_end(&gauges->lives);
	gauges->sampled = NULL;
	mt_map64_deinit(&gauges->by_pid);
}

static void observe(void *context, const struct mt_observed *observed)
{
	struct mt_gauge_log *gauges = context;

	mt_lives_take(&gauges->lives, mt_session_facts(gauges->session), observed);
	switch (observed->kind) {
	case MT_OBSERVED_GAUGE:
		if (observed->gauge->pid > 0)
			take_process(gauges, observed);
		else
			take_host(gauges, observed->recording, observed->gauge);
		break;
	case MT_OBSERVED_KERNEL:
		take_kernel(gauges, observed);
		break;
	case MT_OBSERVED_SAMPLE:
		take_sample(gauges, observed);
		break;
	case MT_OBSERVED_END:
		end_recording(gauges);
		break;
	default:
		break;
	}
}

struct mt_gauge_log *mt_gauge_log_listen(struct mt_session *session)
{
	struct mt_gauge_log *gauges = mt_alloc(1, sizeof(*gauges));

	gauges->session = session;
	gauges->observer = (struct mt_observer){.context = gauges, .observe = observe};
	mt_session_observe(session, &gauges->observer);
	return gauges;
}

/* ---- Results ---- */

static bool is_selected(const struct mt_selection *selection, const char *comm, int32_t pid)
{
	return mt_numbers_match(&selection->pids, pid) && mt_match_text(selection->comms, comm);
}

/* The part of a recording that --time selects. */
static void find_bounds(const struct mt_gauge_log *gauges, uint32_t recording, uint64_t *from,
			uint64_t *to)
{
	const struct mt_facts_recording *facts =
		&mt_session_facts(gauges->session)->recordings.items[recording];

	mt_timespan_apply(&mt_session_selection(gauges->session)->time, facts->start, facts->end,
			  from, to);
	*from = *from < facts->start ? facts->start : *from;
	*to = *to > facts->end ? facts->end : *to;
}

/* Average interval between readings of a recording. */
static uint64_t reading_interval(const struct mt_gauge_log *gauges, uint32_t recording)
{
	const struct readings *readings =
		recording < gauges->readings.count ? &gauges->readings.items[recording] : NULL;

	return readings && readings->count > 1
		       ? (readings->last - readings->first) / (readings->count - 1)
		       : 0;
}

static void settle(struct mt_gauge_log *gauges, struct mt_gauged_process *process)
{
	const struct mt_selection *selection = mt_session_selection(gauges->session);
	const char *comm =
		process->comm == MT_STRING_NONE
			? ""
			: mt_strings_get(mt_session_strings(gauges->session), process->comm);
	uint64_t to;

	find_bounds(gauges, process->recording, &process->from, &to);
	if (!process->ended || process->to > to)
		process->to = to;
	process->interval = reading_interval(gauges, process->recording);
	process->selected = !process->other && is_selected(selection, comm, process->pid);
}

enum {
	LIFE_KEYS = 5
};

static int compare_lives(const void *a, const void *b)
{
	const struct mt_life *x = a, *y = b;
	const uint32_t of_x[LIFE_KEYS] = {x->recording, (uint32_t)x->pid, x->comm, x->cgroup,
					  x->exe};
	const uint32_t of_y[LIFE_KEYS] = {y->recording, (uint32_t)y->pid, y->comm, y->cgroup,
					  y->exe};

	for (size_t i = 0; i < LIFE_KEYS; i++) {
		if (of_x[i] != of_y[i])
			return of_x[i] < of_y[i] ? -1 : 1;
	}
	return 0;
}

/*
 * True if a life is reported: it ended in the selected time, and its name is selected and known
 * (not ":TID"). Sets pid to -1 if the life is reported together with others of the same name.
 */
static bool settle_life(const struct mt_gauge_log *gauges, struct mt_life *life)
{
	const struct mt_facts_recording *facts =
		&mt_session_facts(gauges->session)->recordings.items[life->recording];
	const char *comm = mt_strings_get(mt_session_strings(gauges->session), life->comm);
	bool selected =
		*comm != ':' && is_selected(mt_session_selection(gauges->session), comm, life->pid);
	uint64_t from, to;

	find_bounds(gauges, life->recording, &from, &to);
	if (!life->peak || mt_facts_ended_early(facts, life->pid, life->began, life->ended))
		life->pid = -1;
	return selected && life->ended >= from && life->ended <= to;
}

static void fold_lives(struct mt_gauge_log *gauges)
{
	struct mt_life *lives = gauges->lives.over.items;
	struct mt_brief_processes *slot = NULL;
	size_t count = 0;

	for (size_t i = 0; i < gauges->lives.over.count; i++) {
		if (settle_life(gauges, &lives[i]))
			lives[count++] = lives[i];
	}
	if (count)
		qsort(lives, count, sizeof(*lives), compare_lives);
	for (size_t i = 0; i < count; i++) {
		if (!i || compare_lives(&lives[i - 1], &lives[i]) != 0) {
			slot = mt_array_push(&gauges->brief);
			*slot = (struct mt_brief_processes){
				.recording = lives[i].recording,
				.comm = lives[i].comm,
				.cgroup = lives[i].cgroup,
				.exe = lives[i].exe,
				.pid = lives[i].pid,
			};
		}
		slot->count++;
		slot->peak =
			(double)lives[i].peak > slot->peak ? (double)lives[i].peak : slot->peak;
	}
	gauges->lives.over.count = 0;
}

void mt_gauge_log_finish(struct mt_gauge_log *gauges)
{
	mt_session_ignore(gauges->session, &gauges->observer);
	for (size_t i = 0; i < gauges->all.count; i++)
		settle(gauges, &gauges->all.items[i].reported);
	for (size_t i = 0; i < gauges->host.count; i++) {
		struct mt_host_gauge *gauge = &gauges->host.items[i];

		find_bounds(gauges, gauge->recording, &gauge->from, &gauge->to);
		gauge->interval = reading_interval(gauges, gauge->recording);
	}
	fold_lives(gauges);
}

const struct mt_gauged_process *mt_gauge_log_process(const struct mt_gauge_log *gauges,
						     size_t index)
{
	return index < gauges->all.count ? &gauges->all.items[index].reported : NULL;
}

const struct mt_brief_processes *mt_gauge_log_brief(const struct mt_gauge_log *gauges,
						    size_t *count)
{
	*count = gauges->brief.count;
	return gauges->brief.items;
}

bool mt_gauge_log_has_sizes(const struct mt_gauge_log *gauges)
{
	bool known = gauges->all.count > 0;

	for (size_t i = 0; i < gauges->brief.count && !known; i++)
		known = gauges->brief.items[i].peak > 0;
	return known;
}

const struct mt_host_gauge *mt_gauge_log_host(const struct mt_gauge_log *gauges, size_t index)
{
	return index < gauges->host.count ? &gauges->host.items[index] : NULL;
}

double mt_gauged_before(const struct mt_gauged_process *process, enum mt_process_gauge gauge)
{
	const struct mt_series *series = &process->series[gauge];

	if (!series->count || (process->is_new && process->from < series->first_time))
		return 0;
	return mt_series_at(series, process->from);
}

double mt_gauged_now(const struct mt_gauged_process *process, enum mt_process_gauge gauge)
{
	const struct mt_series *series = &process->series[gauge];

	return series->count ? mt_series_at(series, process->to) : 0;
}
