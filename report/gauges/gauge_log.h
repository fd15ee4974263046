/*
 * Gauges of memory during the recording: the host's values, and the sizes of each process at the
 * start, in between and at the end.
 *
 *	gauges = mt_gauge_log_listen(session);
 *	...				the session is read to its end
 *	mt_gauge_log_finish(gauges);
 */
#ifndef MT_REPORT_GAUGES_GAUGE_LOG_H
#define MT_REPORT_GAUGES_GAUGE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/gauges/series.h"

struct mt_gauge_log;
struct mt_session;

enum mt_process_gauge {
	MT_PROCESS_RESIDENT,
	MT_PROCESS_MAPPED,
	MT_PROCESS_ANONYMOUS,
	MT_PROCESS_FILE,
	MT_PROCESS_SHARED,
	MT_PROCESS_SWAPPED,
	MT_PROCESS_MAJOR_FAULTS,
	MT_PROCESS_HUGE, /* anonymous huge pages; read only at the start and the end */
	MT_PROCESS_GAUGES
};

/* One value of the host, or of a cgroup. */
struct mt_host_gauge {
	uint32_t recording;
	uint32_t name;	   /* string id */
	uint64_t from, to; /* ns on the recording's clock, within --time */
	uint64_t interval; /* ns between readings, on average; 0: there was one */
	struct mt_series series;
};

struct mt_gauged_process {
	uint32_t recording;
	int32_t pid;
	uint64_t start_time; /* as in a TASK record */
	uint32_t comm;	     /* string id; MT_STRING_NONE: not known */
	uint32_t cgroup;     /* string id; 0: not known */
	uint32_t exe;	     /* string id of the program's path; 0: not known */
	bool is_new;	     /* it began during the recording */
	bool ended;
	uint64_t began;	   /* in ns on the recording's clock; if not new, time of the first gauge */
	double peak;	   /* resident bytes by the kernel's counts, if it ended; 0: unknown */
	bool other;	   /* not a target of mtrec -u, -G, --comm, -p */
	bool selected;	   /* a target, also by --pid and --comm */
	uint64_t from, to; /* ns on the recording's clock, within --time */
	uint64_t interval; /* ns between readings, on average; 0: there was one */
	struct mt_series series[MT_PROCESS_GAUGES];
};

/*
 * Processes that began and ended between two readings of gauges: all that have the same name,
 * cgroup and program, or a single process that ended with the recording, as the recorded command
 * does.
 */
struct mt_brief_processes {
	uint32_t recording;
	uint32_t comm, cgroup, exe; /* string ids */
	int32_t pid;		    /* if it ended with the recording; else -1 */
	uint32_t count;
	double peak; /* resident bytes of the largest process; 0: unknown */
};

/* Creates a log. Call before the session's first sample. Borrows the session until destroyed. */
struct mt_gauge_log *mt_gauge_log_listen(struct mt_session *session);
void mt_gauge_log_destroy(struct mt_gauge_log *gauges);

/* Completes the log. Call once, after the session is read to its end. */
void mt_gauge_log_finish(struct mt_gauge_log *gauges);

/* Processes by index, in order of their first gauge; NULL after the last. */
const struct mt_gauged_process *mt_gauge_log_process(const struct mt_gauge_log *gauges,
						     size_t index);

/* The selected brief processes, borrowed: by recording, those with a pid first, then by name. */
const struct mt_brief_processes *mt_gauge_log_brief(const struct mt_gauge_log *gauges,
						    size_t *count);

/* True if there are sizes of processes: gauges, or the kernel's counts. */
bool mt_gauge_log_has_sizes(const struct mt_gauge_log *gauges);

/* Values of the host by index; NULL after the last. */
const struct mt_host_gauge *mt_gauge_log_host(const struct mt_gauge_log *gauges, size_t index);

/* A gauge at the start of a process's time (0 for a new process), and at its end. */
double mt_gauged_before(const struct mt_gauged_process *process, enum mt_process_gauge gauge);
double mt_gauged_now(const struct mt_gauged_process *process, enum mt_process_gauge gauge);

#endif
