/*
 * Finds which events of the table this host can record, for --check and --list: plans and opens
 * each alias as a recording does.
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

/* An alias of the event table, and how this host can record it. */
struct mt_host_event {
	bool own, wide;	      /* can be recorded for the user's processes; for every process */
	bool in_part;	      /* some of its events are missing or replaced */
	char *missing;	      /* what is missing, and why; NULL: nothing known */
	struct mt_error *err; /* why the alias cannot be recorded at all */
};

/*
 * Finds the features and the PMU. If no event is permitted, the error says what would permit one.
 */
struct mt_error *mt_host_events_probe(struct mt_host_events *out);

/* Opens the sources of tracepoints; ids_file as in mt_tracepoints_create(), borrowed. */
struct mt_error *mt_host_events_open(struct mt_host_events *host, const char *ids_file);
void mt_host_events_deinit(struct mt_host_events *host);

/*
 * From now on, looks up tracepoints without opening them, if this user may open all of them,
 * because the kernel takes up to 30 ms to close one.
 */
void mt_host_events_trust_names(struct mt_host_events *host);

/*
 * Returns true if probes at functions of programs can be opened. Sets *type to the type of the
 * kernel's PMU for such probes, -1 if there is none.
 */
bool mt_host_events_may_probe(const struct mt_host_events *host, long *type);

/*
 * Plans and opens an alias that is not a mark, and describes the result. The caller deinitialises
 * *out.
 */
void mt_host_events_try(struct mt_host_events *host, const struct mt_event_def *def,
			struct mt_host_event *out);
void mt_host_event_deinit(struct mt_host_event *event);

#endif
