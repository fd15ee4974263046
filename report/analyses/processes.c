/*
 * --processes: each process's memory at the beginning and at the end, by the kernel's counts. A
 * process that began later had none before. A process that ended with the recording counts with its
 * peak, and its paths are those of the peak.
 */
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/analyses/analyses.h"
#include "report/analyses/processes.h"
#include "report/gauges/gauge_log.h"
#include "report/session/selection.h"
#include "report/session/session.h"
#include "report/stacks/stacks.h"
#include "report/sums/row_keys.h"
#include "report/tables/facts.h"
#include "report/verdicts/verdicts.h"

MT_DEFINE_CLEANUP(mt_gauge_log, struct mt_gauge_log)

enum {
	VALUE_CHANGE,
	VALUE_BEFORE,
	VALUE_NOW,
	VALUE_PEAK,
	VALUE_MAPPED, /* change of the mapped size */
	VALUE_MAPPED_NOW,
	VALUE_SWAPPED,
	VALUE_COUNT,  /* number of processes; if several, only their largest peak is known */
	VALUE_FILES,  /* part of VALUE_CHANGE, pages of files */
	VALUE_HUGE,   /* part of VALUE_CHANGE, anonymous huge pages */
	VALUE_CLOSED, /* part of VALUE_MAPPED, address space without access, from a ledger */
	VALUES,
};

/* Sizes below this are normal for any program. */
#define ENDED_LEAST ((double)(2 << 20))

static const struct mt_value_column value_columns[VALUES] = {
	{"change", "B"}, {"before", "B"},     {"now", "B"},	 {"peak", "B"},
	{"mapped", "B"}, {"mapped now", "B"}, {"swapped", "B"},	 {"processes", ""},
	{"files", "B"},	 {"huge", "B"},	      {"reserved", "B"},
};

static bool no_event(const char *event)
{
	(void)event;
	return false;
}

static uint32_t intern(struct mt_session *session, const char *text)
{
	return mt_strings_add(mt_session_strings(session), text);
}

enum life {
	LIFE_STAYED,
	LIFE_BEGAN,
	LIFE_ENDED,
	LIFE_ENDED_LAST,    /* ended with the recording, as its command does: shown at its peak */
	LIFE_ENDED_LARGEST, /* ended earlier, and none grew as much: shown at its peak */
};

static const char *const lives[] = {
	[LIFE_STAYED] = "stayed",
	[LIFE_BEGAN] = "began",
	[LIFE_ENDED] = "ended",
	[LIFE_ENDED_LAST] = "ended last",
	[LIFE_ENDED_LARGEST] = "ended largest",
};

/* The change of a part; 0 for processes that ended, which VALUE_CHANGE shows at their peak. */
static struct mt_value part_of(const struct mt_gauged_process *process, enum mt_process_gauge part)
{
	bool known = !process->ended && process->series[part].count;

	return mt_value_exact(known ? mt_gauged_now(process, part) - mt_gauged_before(process, part)
				    : 0);
}

/* With --time, the peak is not used, because it may be outside the selected time. */
static enum life life_of(const struct mt_session *session, const struct mt_gauged_process *process)
{
	if (process->ended &&
	    mt_facts_ended_early(&mt_session_facts(session)->recordings.items[process->recording],
				 process->pid, process->is_new ? process->began : process->from,
				 process->to))
		return LIFE_ENDED;
	return process->ended && !mt_session_selection(session)->time.given ? LIFE_ENDED_LAST
	       : process->is_new					    ? LIFE_BEGAN
									    : LIFE_STAYED;
}

double mt_process_peak(const struct mt_gauged_process *process)
{
	const struct mt_series *resident = &process->series[MT_PROCESS_RESIDENT];

	return process->peak > resident->most ? process->peak : resident->most;
}

static double now_of(const struct mt_gauged_process *process, enum life life)
{
	return life == LIFE_ENDED_LAST || life == LIFE_ENDED_LARGEST
		       ? mt_process_peak(process)
		       : mt_gauged_now(process, MT_PROCESS_RESIDENT);
}

const struct mt_gauged_process *mt_process_ended_largest(const struct mt_session *session,
							 const struct mt_gauge_log *gauges)
{
	const struct mt_gauged_process *process, *largest = NULL;
	double most = ENDED_LEAST, grew = 0;
	size_t count;
	const struct mt_brief_processes *brief = mt_gauge_log_brief(gauges, &count);

	for (size_t i = 0; (process = mt_gauge_log_process(gauges, i)); i++) {
		enum life life = life_of(session, process);
		double change = now_of(process, life == LIFE_ENDED ? LIFE_ENDED_LARGEST : life) -
				mt_gauged_before(process, MT_PROCESS_RESIDENT);

		if (!process->selected)
			continue;
		if (life != LIFE_ENDED) {
			grew = change > grew ? change : grew;
		} else if (change > most) {
			most = change;
			largest = process;
		}
	}
	for (size_t i = 0; i < count; i++)
		grew = brief[i].pid >= 0 && brief[i].peak > grew ? brief[i].peak : grew;
	return most > grew && !mt_session_selection(session)->time.given ? largest : NULL;
}

static void add_process(struct mt_session *session, struct mt_row_keys *keys,
			const struct mt_gauged_process *process, const struct mt_process_more *more)
{
	const struct mt_series *resident = &process->series[MT_PROCESS_RESIDENT];
	const struct mt_verdicts *ledger = more->ledger;
	enum life life =
		process == more->ended_largest ? LIFE_ENDED_LARGEST : life_of(session, process);
	double before = mt_gauged_before(process, MT_PROCESS_RESIDENT), now = now_of(process, life),
	       mapped_now = mt_gauged_now(process, MT_PROCESS_MAPPED);
	struct mt_row_facts facts = {
		.event = MT_EVENT_NONE,
		.pid = process->pid,
		.tid = process->pid,
		.cgroup = process->cgroup,
		.exe = process->exe ? process->exe : intern(session, "[unknown]"),
		.cpu = UINT32_MAX,
		.stack = MT_STACK_NONE,
	};
	const struct mt_value values[VALUES] = {
		[VALUE_CHANGE] = mt_value_exact(now - before),
		[VALUE_BEFORE] = mt_value_exact(before),
		[VALUE_NOW] = mt_value_exact(now),
		[VALUE_PEAK] = mt_value_exact(mt_process_peak(process)),
		[VALUE_MAPPED] =
			mt_value_exact(mapped_now - mt_gauged_before(process, MT_PROCESS_MAPPED)),
		[VALUE_MAPPED_NOW] = mt_value_exact(mapped_now),
		[VALUE_SWAPPED] = mt_value_exact(mt_gauged_now(process, MT_PROCESS_SWAPPED)),
		[VALUE_COUNT] = mt_value_exact(1),
		[VALUE_FILES] = part_of(process, MT_PROCESS_FILE),
		[VALUE_HUGE] = part_of(process, MT_PROCESS_HUGE),
		[VALUE_CLOSED] = mt_value_exact(
			ledger ? mt_verdicts_closed_growth(ledger, process->recording, process->pid,
							   process->is_new)
			       : 0),
	};
	const char *trend = "-";

	if (resident->count)
		trend = mt_series_trend(resident,
					process->is_new && process->from < resident->first_time,
					process->from, process->to, process->interval);
	facts.trend = intern(session, trend);
	facts.life = intern(session, lives[life]);
	facts.comm = process->comm == MT_STRING_NONE ? intern(session, "[unknown]") : process->comm;
	facts.process = facts.comm;
	mt_row_keys_add(keys, &facts, values);
}

/* Adds a row for processes of which no sizes but the largest peak are known. */
static void add_brief(struct mt_session *session, struct mt_row_keys *keys,
		      const struct mt_brief_processes *brief)
{
	bool one = brief->pid >= 0;
	double now = one ? brief->peak : 0;
	struct mt_row_facts facts = {
		.event = MT_EVENT_NONE,
		.pid = brief->pid,
		.tid = brief->pid,
		.comm = brief->comm,
		.process = brief->comm,
		.cgroup = brief->cgroup,
		.exe = brief->exe ? brief->exe : intern(session, "[unknown]"),
		.cpu = UINT32_MAX,
		.stack = MT_STACK_NONE,
	};
	const struct mt_value values[VALUES] = {
		[VALUE_CHANGE] = mt_value_exact(now),
		[VALUE_NOW] = mt_value_exact(now),
		[VALUE_PEAK] = mt_value_exact(brief->peak),
		[VALUE_COUNT] = mt_value_exact(brief->count),
	};

	facts.trend = intern(session, "-");
	facts.life = intern(session, lives[one ? LIFE_ENDED_LAST : LIFE_ENDED]);
	mt_row_keys_add(keys, &facts, values);
}

/* Rows with the same name are merged, unless they are grouped by more. */
static void add_all_brief(struct mt_session *session, struct mt_row_keys *keys,
			  const struct mt_gauge_log *gauges, bool grouped)
{
	size_t count;
	const struct mt_brief_processes *brief = mt_gauge_log_brief(gauges, &count);

	for (size_t i = 0; i < count; i++) {
		struct mt_brief_processes row = brief[i];

		for (; !grouped && i + 1 < count && brief[i + 1].recording == row.recording &&
		       brief[i + 1].comm == row.comm && brief[i + 1].pid == -1 && row.pid == -1;
		     i++) {
			row.count += brief[i + 1].count;
			row.peak = brief[i + 1].peak > row.peak ? brief[i + 1].peak : row.peak;
		}
		add_brief(session, keys, &row);
	}
}

struct mt_error *mt_process_table(struct mt_session *session, const struct mt_gauge_log *gauges,
				  const struct mt_process_more *more,
				  const struct mt_analysis_request *request, struct mt_table **out)
{
	struct mt_row_keys *keys =
		mt_row_keys_create(session, mt_analysis_processes.name, value_columns,
				   more->ledger ? VALUES : VALUE_CLOSED, request);
	const struct mt_gauged_process *process;

	for (size_t i = 0; (process = mt_gauge_log_process(gauges, i)); i++) {
		if (process->selected)
			add_process(session, keys, process, more);
	}
	add_all_brief(session, keys, gauges,
		      request->by.count > mt_analysis_processes.default_by.count);
	return mt_row_keys_table(keys, out);
}

static struct mt_error *run(const struct mt_analysis *analysis, struct mt_session *session,
			    const struct mt_analysis_request *request, struct mt_table **out)
{
	MT_CLEANUP(mt_gauge_log_destroy_p)
	struct mt_gauge_log *gauges = mt_gauge_log_listen(session);
	struct mt_error *err = mt_session_read(session, NULL, NULL);

	(void)analysis;
	if (err)
		return err;
	mt_gauge_log_finish(gauges);
	if (!mt_gauge_log_has_sizes(gauges))
		return mt_error_hint(
			mt_error_create(MT_ERR_NOT_FOUND, "no sizes of processes in it"),
			"mtrec records them, but not with --gauges none, and not of what ended "
			"within its first second");
	return mt_process_table(session, gauges, &(struct mt_process_more){0}, request, out);
}

const struct mt_analysis mt_analysis_processes = {
	.name = "processes",
	.help = "memory of each process at the beginning and the end",
	.groups = true,
	.by = MT_BY_BIT(MT_BY_PROCESS) | MT_BY_BIT(MT_BY_COMM) | MT_BY_BIT(MT_BY_CGROUP) |
	      MT_BY_BIT(MT_BY_CONTAINER) | MT_BY_BIT(MT_BY_TREND) | MT_BY_BIT(MT_BY_LIFE),
	.default_by = {{MT_BY_PROCESS, MT_BY_TREND, MT_BY_LIFE}, 3},
	.wants = no_event,
	.states = true,
	.output = "table",
	.run = run,
};
