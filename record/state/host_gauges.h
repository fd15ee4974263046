/* What the kernel says of the host's memory, as GAUGE records of process 0. */
#ifndef MT_RECORD_STATE_HOST_GAUGES_H
#define MT_RECORD_STATE_HOST_GAUGES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_clock;
struct mt_state;

/* The last value written of each line of one file. A kernel prints the lines in a fixed order. */
struct mt_host_gauge_values {
	MT_ARRAY(uint64_t) lines;
};

/* Files that are read. */
enum {
	MT_HOST_GAUGE_FILES = 4,
};

/* All-zero: nothing was written yet. */
struct mt_host_gauges {
	struct mt_host_gauge_values files[MT_HOST_GAUGE_FILES];
};

void mt_host_gauges_deinit(struct mt_host_gauges *gauges);

/*
 * Reads /proc/meminfo, the memory part of /proc/vmstat, /proc/pressure/memory and /proc/loadavg,
 * and writes every value that changed since the last call; with `all` the unchanged ones too.
 */
void mt_host_gauges_put(struct mt_host_gauges *gauges, struct mt_state *state,
			const struct mt_clock *clock, bool all);

#endif
