/*
 * Which events of the table this host records: plans and opens each alias as a recording does. For
 * --check and --list.
 */
#ifndef MT_RECORD_CLI_HOST_EVENTS_H
#define MT_RECORD_CLI_HOST_EVENTS_H

#include <stdbool.h>

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
	/* Only look up tracepoints, because this user may record all of them for every process. */
	bool by_name;
	struct mt_tracefs tracefs; /* for by_name; else dir is -1 */
};

/* An alias on this host. */
struct mt_host_event {
	bool own, wide;	      /* recorded for the user's processes, for every process */
	bool in_part;	      /* a part of it is missing or replaced */
	char *missing;	      /* what is missing, and why; NULL: nothing known */
	struct mt_error *err; /* reason if it is not recorded at all */
};

/*
 * Finds the features and the PMU. If no event is permitted, the error says what would permit one.
 */
struct mt_error *mt_host_events_probe(struct mt_host_events *out);

/* Opens the sources of tracepoints; ids_file as in mt_tracepoints_create(), borrowed. */
struct mt_error *mt_host_events_open(struct mt_host_events *host, const char *ids_file);
void mt_host_events_deinit(struct mt_host_events *host);

/*
 * Looks up tracepoints without opening them from now on, if this user may open all of them. The
 * kernel takes up to 30 ms to close one.
 */
void mt_host_events_trust_names(struct mt_host_events *host);

/*
 * Returns true if probes at functions of programs can be opened. *type: the kernel's PMU; -1: none.
 */
bool mt_host_events_may_probe(const struct mt_host_events *host, long *type);

/* Tries an alias that is not a mark. Deinitialise *out. */
void mt_host_events_try(struct mt_host_events *host, const struct mt_event_def *def,
			struct mt_host_event *out);
void mt_host_event_deinit(struct mt_host_event *event);

#endif
