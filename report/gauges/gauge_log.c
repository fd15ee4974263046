/* Collecting gauges. */
#include "report/gauges/gauge_log.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "report/session/selection.h"
#include "report/session/session.h"
#include "report/stacks/spaces.h"
#include "report/tables/facts.h"

#define NONE UINT64_MAX
/* A hostile recording may name any number of processes and gauges. */
#define PROCESSES_MAX 1000000
#define HOST_GAUGES_MAX 4096

struct process {
	struct mt_gauged_process told;
	uint64_t first_time, last_time; /* of its gauges */
	uint64_t next;			/* index of the next process of that pid; NONE */
};

/*
 * What was said of a process ahead of its first gauge. In a growing recording that comes behind
 * data; otherwise all gauges come first.
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
	MT_ARRAY(struct mt_gauged_process) processes;
	MT_ARRAY(struct process) all;
	struct mt_map64 by_pid; /* of this recording: pid to the index of its first process */
	MT_ARRAY(struct early) early;
	struct mt_map64 early_by_pid;
	const struct mt_space *sampled; /* the space of the last sample */
	uint64_t newest;		/* index of the process that the last gauge was of; NONE */
	MT_ARRAY(struct readings) readings; /* by recording */
	MT_ARRAY(struct mt_host_gauge) host;
	struct mt_map64 by_name; /* recording and string id to index in host */
};

MT_DEFINE_CLEANUP(mt_gauge_log, struct mt_gauge_log)

void mt_gauge_log_destroy(struct mt_gauge_log *gauges)
{
	if (!gauges)
		return;
	mt_session_ignore(gauges->session, &gauges->observer);
	mt_array_deinit(&gauges->processes);
	mt_array_deinit(&gauges->all);
	mt_array_deinit(&gauges->early);
	mt_map64_deinit(&gauges->early_by_pid);
	mt_array_deinit(&gauges->host);
	mt_array_deinit(&gauges->readings);
	mt_map64_deinit(&gauges->by_pid);
	mt_map64_deinit(&gauges->by_name);
	free(gauges);
}

/* ---- Gauges ---- */

/* The host's gauges of one reading have stamps of their own, microseconds apart. */
#define APART ((uint64_t)50000000)

static bool note_reading(struct mt_gauge_log *gauges, uint32_t recording, uint64_t time)
{
	struct readings *readings;

	while (gauges->readings.count <= recording) {
		if (!mt_array_push(&gauges->readings))
			return false;
	}
	readings = &gauges->readings.items[recording];
	if (readings->count && time - readings->last < APART)
		return true;
	readings->first = readings->count++ ? readings->first : time;
	readings->last = time;
	return true;
}

static bool take_host(struct mt_gauge_log *gauges, uint32_t recording,
		      const struct mt_gauge_record *record)
{
	uint32_t name = mt_strings_intern(mt_session_strings(gauges->session), record->name.bytes,
					  record->name.size);
	uint64_t key = (uint64_t)recording << 32 | name, index;

	if (name == MT_STRING_NONE || !note_reading(gauges, recording, record->after))
		return false;
	if (!mt_map64_get(&gauges->by_name, key, &index)) {
		struct mt_host_gauge *slot;

		if (gauges->host.count >= HOST_GAUGES_MAX)
			return true;
		index = gauges->host.count;
		slot = mt_array_push(&gauges->host);
		if (!slot || !mt_map64_put(&gauges->by_name, key, index))
			return false;
		slot->recording = recording;
		slot->name = name;
	}
	mt_series_add(&gauges->host.items[index].series, record->after, (double)record->value);
	return true;
}

static struct process *find_process(struct mt_gauge_log *gauges,
				    const struct mt_gauge_record *record)
{
	uint64_t index;

	if (!mt_map64_get(&gauges->by_pid, (uint64_t)record->pid, &index))
		return NULL;
	while (gauges->all.items[index].told.start_time != record->start_time &&
	       gauges->all.items[index].next != NONE)
		index = gauges->all.items[index].next;
	return &gauges->all.items[index];
}

static void tell_early(const struct mt_gauge_log *gauges, struct mt_gauged_process *told)
{
	const struct early *early;
	uint64_t index;

	if (!mt_map64_get(&gauges->early_by_pid, (uint64_t)told->pid, &index))
		return;
	early = &gauges->early.items[index];
	if (early->named) {
		told->comm = early->comm;
		told->cgroup = early->cgroup ? early->cgroup : told->cgroup;
	}
	told->exe = early->exe ? early->exe : told->exe;
	told->other = early->judged ? early->other : told->other;
}

/* The process of a gauge, made where there is none. NULL out of memory, or of processes. */
static struct process *see_process(struct mt_gauge_log *gauges, const struct mt_observed *observed)
{
	const struct mt_gauge_record *record = observed->gauge;
	struct process *before = find_process(gauges, record), *process;
	const struct mt_task *task = observed->task;
	bool known = task && task->space && task->space->start_time == record->start_time;
	size_t last = before ? (size_t)(before - gauges->all.items) : 0;

	if (before && before->told.start_time == record->start_time)
		return before;
	process = gauges->all.count < PROCESSES_MAX ? mt_array_push(&gauges->all) : NULL;
	if (!process)
		return NULL;
	*process = (struct process){
		.told = {.recording = observed->recording,
			 .pid = record->pid,
			 .start_time = record->start_time,
			 .comm = known ? task->comm : MT_STRING_NONE,
			 .cgroup = known ? task->space->cgroup : 0,
			 .exe = known ? task->space->exe : 0,
			 .is_new = !known,
			 .other = known && !mt_space_is_target(task->space)},
		.first_time = record->after,
		.next = NONE,
	};
	if (!before)
		tell_early(gauges, &process->told);
	if (before)
		gauges->all.items[last].next = gauges->all.count - 1;
	else if (!mt_map64_put(&gauges->by_pid, (uint64_t)record->pid, gauges->all.count - 1))
		return NULL;
	return process;
}

static bool take_process(struct mt_gauge_log *gauges, const struct mt_observed *observed)
{
	static const char *const names[MT_PROCESS_GAUGES] = {
		[MT_PROCESS_RESIDENT] = "VmRSS",	   [MT_PROCESS_MAPPED] = "VmSize",
		[MT_PROCESS_ANONYMOUS] = "RssAnon",	   [MT_PROCESS_FILE] = "RssFile",
		[MT_PROCESS_SHARED] = "RssShmem",	   [MT_PROCESS_SWAPPED] = "VmSwap",
		[MT_PROCESS_MAJOR_FAULTS] = "MajorFaults",
	};
	const struct mt_gauge_record *record = observed->gauge;
	struct process *process;
	size_t which = 0;

	while (which < MT_PROCESS_GAUGES &&
	       (record->name.size != strlen(names[which]) ||
		memcmp(record->name.bytes, names[which], record->name.size) != 0))
		which++;
	if (which == MT_PROCESS_GAUGES || gauges->all.count >= PROCESSES_MAX)
		return true;
	process = see_process(gauges, observed);
	if (!process)
		return false;
	process->last_time = record->after;
	mt_series_add(&process->told.series[which], record->after, (double)record->value);
	return true;
}

/* ---- Names and ends ---- */

/*
 * Which process of a pid a record of the kernel's tells of. Processes of one pid follow one
 * another; a record before the last gauge of one is its own, and so is one behind all gauges.
 */
static struct process *process_at(struct mt_gauge_log *gauges, int32_t pid, uint64_t time)
{
	uint64_t index;

	if (!mt_map64_get(&gauges->by_pid, (uint64_t)pid, &index))
		return NULL;
	while (gauges->all.items[index].next != NONE &&
	       (gauges->all.items[index].told.ended || gauges->all.items[index].last_time < time) &&
	       gauges->all.items[gauges->all.items[index].next].first_time <= time)
		index = gauges->all.items[index].next;
	return &gauges->all.items[index];
}

static bool keep_early(struct mt_gauge_log *gauges, const struct mt_task *task,
		       enum early_kind kind)
{
	uint64_t index = gauges->early.count;
	const struct mt_space *space = task->space;
	struct early *early;

	if (!mt_session_grows(gauges->session))
		return true;
	if (!mt_map64_get(&gauges->early_by_pid, (uint64_t)task->pid, &index) &&
	    (!mt_array_push(&gauges->early) ||
	     !mt_map64_put(&gauges->early_by_pid, (uint64_t)task->pid, index)))
		return false;
	early = &gauges->early.items[index];
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
	return true;
}

static bool take_kernel(struct mt_gauge_log *gauges, const struct mt_observed *observed)
{
	const struct mt_task *task = observed->task;
	struct process *process;

	if (!task || task->tid != task->pid)
		return true;
	process = process_at(gauges, task->pid, observed->time);
	if (process && process->told.ended)
		return true;
	switch (observed->kernel->type) {
	case MT_KERNEL_FORK:
	case MT_KERNEL_COMM:
	case MT_KERNEL_EXIT:
		if (!process)
			return keep_early(gauges, task, EARLY_NAMES);
		process->told.comm = task->comm;
		process->told.cgroup = task->space ? task->space->cgroup : process->told.cgroup;
		process->told.exe = task->space ? task->space->exe : process->told.exe;
		process->told.other = task->space && !mt_space_is_target(task->space);
		process->told.ended = observed->kernel->type == MT_KERNEL_EXIT &&
				      process->first_time <= observed->time;
		if (process->told.ended)
			process->told.to = observed->time;
		return true;
	case MT_KERNEL_MMAP:
	case MT_KERNEL_MMAP2: /* of the program, which tells its path */
		if (!process)
			return keep_early(gauges, task, EARLY_EXE);
		process->told.exe = task->space ? task->space->exe : process->told.exe;
		return true;
	default:
		return true;
	}
}

/* Whatever has a sample is a target. */
static bool take_sample(struct mt_gauge_log *gauges, const struct mt_observed *observed)
{
	struct process *process;

	if (observed->task->space == gauges->sampled)
		return true;
	gauges->sampled = observed->task->space;
	process = process_at(gauges, observed->task->pid, observed->time);
	if (!process)
		return keep_early(gauges, observed->task, EARLY_SAMPLE);
	process->told.other = false;
	return true;
}

static void end_recording(struct mt_gauge_log *gauges)
{
	gauges->sampled = NULL;
	mt_map64_deinit(&gauges->by_pid);
}

static bool observe(void *context, const struct mt_observed *observed)
{
	struct mt_gauge_log *gauges = context;

	switch (observed->kind) {
	case MT_OBSERVED_GAUGE:
		return observed->gauge->pid > 0
			       ? take_process(gauges, observed)
			       : take_host(gauges, observed->recording, observed->gauge);
	case MT_OBSERVED_KERNEL:
		return take_kernel(gauges, observed);
	case MT_OBSERVED_SAMPLE:
		return take_sample(gauges, observed);
	case MT_OBSERVED_END:
		end_recording(gauges);
		return true;
	default:
		return true;
	}
}

struct mt_error *mt_gauge_log_listen(struct mt_session *session, struct mt_gauge_log **out)
{
	MT_CLEANUP(mt_gauge_log_destroy_p) struct mt_gauge_log *gauges = calloc(1, sizeof(*gauges));

	if (!gauges)
		return mt_error_nomem();
	gauges->session = session;
	gauges->observer = (struct mt_observer){.context = gauges, .observe = observe};
	if (!mt_session_observe(session, &gauges->observer))
		return mt_error_nomem();
	*out = MT_TAKE(gauges);
	return NULL;
}

/* ---- What was read ---- */

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
	if (process->recording < gauges->readings.count) {
		const struct readings *readings = &gauges->readings.items[process->recording];

		process->interval = readings->count > 1 ? (readings->last - readings->first) /
								  (readings->count - 1)
							: 0;
	}
	process->selected = !process->other && is_selected(selection, comm, process->pid);
}

struct mt_error *mt_gauge_log_finish(struct mt_gauge_log *gauges)
{
	mt_session_ignore(gauges->session, &gauges->observer);
	if (!mt_array_reserve(&gauges->processes, gauges->all.count + 1))
		return mt_error_nomem();
	for (size_t i = 0; i < gauges->all.count; i++) {
		gauges->processes.items[i] = gauges->all.items[i].told;
		settle(gauges, &gauges->processes.items[i]);
	}
	gauges->processes.count = gauges->all.count;
	for (size_t i = 0; i < gauges->host.count; i++) {
		struct mt_host_gauge *gauge = &gauges->host.items[i];

		find_bounds(gauges, gauge->recording, &gauge->from, &gauge->to);
	}
	return NULL;
}

const struct mt_gauged_process *mt_gauge_log_processes(const struct mt_gauge_log *gauges,
						       size_t *count)
{
	*count = gauges->processes.count;
	return gauges->processes.items;
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
