/*
 * Which events of the table this host records: each alias is planned as a recording plans it, and
 * opened. For --check and --list.
 */
#ifndef MT_RECORD_CLI_HOST_EVENTS_H
#define MT_RECORD_CLI_HOST_EVENTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "record/open/perf_event.h"
#include "record/open/trials.h"
#include "record/tracepoints/tracefs.h"

struct mt_error;
struct mt_event_def;
struct mt_tracepoints;

struct mt_host_events {
	struct mt_perf_features features;
	struct mt_trials trials;
	struct mt_tracepoints *tracepoints;
	bool pmu;
	/* Names of tracepoints suffice: this user may record each of them, of every process. */
	bool by_name;
	struct mt_tracefs tracefs; /* for by_name; dir is -1 without */
};

/* An alias on this host. */
struct mt_host_event {
	bool own, wide;	      /* recorded of the user's own processes, of every process */
	bool in_part;	      /* some of it is missing, or something stands in for it */
	char *missing;	      /* what, and why; NULL: nothing is known to be missing */
	struct mt_error *err; /* not recorded at all: why not */
};

/*
 * Finds the features and the PMU. Without permission for any event, the error says what grants it.
 */
struct mt_error *mt_host_events_probe(struct mt_host_events *out);

/* Opens the sources of tracepoints; ids_file as in mt_tracepoints_create(), borrowed. */
struct mt_error *mt_host_events_open(struct mt_host_events *host, const char *ids_file);
void mt_host_events_deinit(struct mt_host_events *host);

/*
 * From now on tracepoints are looked up and not opened, if this user may open all of them: closing
 * one costs the kernel up to 30 ms.
 */
void mt_host_events_trust_names(struct mt_host_events *host);

/* True if the event can be opened there. */
bool mt_host_events_opens(const struct mt_host_events *host, const struct perf_event_attr *attr,
			  pid_t pid, int cpu);

/* True if probes at functions of programs can be opened. *type: the kernel's PMU; -1: none. */
bool mt_host_events_may_probe(const struct mt_host_events *host, long *type);

/* Tries the alias; not one of a mark. Deinitialize *out. */
void mt_host_events_try(struct mt_host_events *host, const struct mt_event_def *def,
			struct mt_host_event *out);
void mt_host_event_deinit(struct mt_host_event *event);

#endif
