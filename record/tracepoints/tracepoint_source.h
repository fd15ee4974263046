/* Where a plan looks tracepoints up: the host's, or those of a test. */
#ifndef MT_RECORD_TRACEPOINTS_TRACEPOINT_SOURCE_H
#define MT_RECORD_TRACEPOINTS_TRACEPOINT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

struct mt_error;
struct mt_tracepoint;
struct perf_event_attr;

/* Where tracepoints are looked up. */
struct mt_tracepoint_source {
	void *context;
	struct mt_error *(*find)(void *context, const char *name, struct mt_tracepoint *out);
	const char *pmu_root; /* where PMUs are described; NULL: as pmu.h says */
	/* Whether such events can be counted together, the first one leading; NULL: they can. */
	bool (*together)(void *context, const struct perf_event_attr *attrs, size_t count);
	void *together_context;
	/*
	 * Calls each(context, "subsystem:name") for every tracepoint until it returns false.
	 */
	struct mt_error *(*each)(void *source, bool (*each)(void *context, const char *name),
				 void *context);
	/* Whether kmem:rss_stat reports each change, not batches of them; NULL: it does not. */
	bool (*rss_each)(void *context);
};

#endif
