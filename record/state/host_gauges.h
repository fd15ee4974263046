/* Memory use of the host, as GAUGE records of process 0. */
#ifndef MT_RECORD_STATE_HOST_GAUGES_H
#define MT_RECORD_STATE_HOST_GAUGES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_clock;
struct mt_state;

/* The last value written of each line of a source. A kernel prints lines in a fixed order. */
struct mt_host_gauge_values {
	MT_ARRAY(uint64_t) lines;
};

/* Sources of values: kinds of lines of files, and counts. */
enum {
	MT_HOST_GAUGE_SOURCES = 8,
};

/* Initialise to zero: nothing was written yet. */
struct mt_host_gauges {
	struct mt_host_gauge_values sources[MT_HOST_GAUGE_SOURCES];
};

void mt_host_gauges_deinit(struct mt_host_gauges *gauges);

/*
 * Reads /proc/meminfo, the memory part of /proc/vmstat, /proc/pressure/memory, /proc/loadavg,
 * /proc/swaps and the counts of EDAC, and writes the values that changed since the last call; all:
 * every value.
 */
void mt_host_gauges_put(struct mt_host_gauges *gauges, struct mt_state *state,
			const struct mt_clock *clock, bool all);

#endif
