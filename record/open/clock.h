/*
 * The clock of the recording. Since Linux 4.1 events use CLOCK_MONOTONIC. On older kernels they use
 * the kernel's perf clock, which can only be read from samples. So the recorder triggers an event
 * and compares the time of its sample with CLOCK_MONOTONIC.
 */
#ifndef MT_RECORD_OPEN_CLOCK_H
#define MT_RECORD_OPEN_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "record/open/ring.h"

struct mt_perf_features;

struct mt_clock {
	bool perf;	     /* events use the perf clock */
	int64_t ahead;	     /* perf clock minus CLOCK_MONOTONIC, ns */
	uint64_t within;     /* uncertainty of the last comparison, ns */
	uint8_t *page;	     /* page on which the faults are triggered */
	struct mt_ring ring; /* ring of the event that counts the faults */
};

/*
 * Returns false if the perf clock cannot be compared with CLOCK_MONOTONIC; times are then only
 * consistent with each other. Only the thread that opened a clock may use it.
 */
bool mt_clock_open(const struct mt_perf_features *features, struct mt_clock *out);
void mt_clock_close(struct mt_clock *clock);

/*
 * Compares the clocks again, because they drift. Takes a few microseconds; does nothing if events
 * use CLOCK_MONOTONIC.
 */
bool mt_clock_sync(struct mt_clock *clock);

/* Returns the present time on the clock that events use, in ns. */
uint64_t mt_clock_now(const struct mt_clock *clock);

/* Returns the time of CLOCK_MONOTONIC in ns. */
uint64_t mt_clock_monotonic(void);

/* Returns the CPU time of the calling thread in ns. */
uint64_t mt_clock_thread_ns(void);

#endif
