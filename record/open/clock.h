/*
 * The clock of the recording's times. From Linux 4.1 on events use CLOCK_MONOTONIC. Before, they
 * use the kernel's perf clock, which only samples show: the recorder triggers an event of its own
 * and compares the sample's time with CLOCK_MONOTONIC.
 */
#ifndef MT_RECORD_OPEN_CLOCK_H
#define MT_RECORD_OPEN_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "record/open/ring.h"

struct mt_perf_features;

struct mt_clock {
	bool perf;	     /* events use the perf clock */
	int64_t ahead;	     /* perf clock less CLOCK_MONOTONIC, ns */
	uint64_t within;     /* uncertainty of the last comparison, ns */
	uint8_t *page;	     /* page that is made to fault for a comparison */
	struct mt_ring ring; /* ring of the event that counts these faults */
};

/*
 * False if the perf clock cannot be compared with CLOCK_MONOTONIC: times are then right among
 * themselves only. Only the thread that opened a clock may use it.
 */
bool mt_clock_open(const struct mt_perf_features *features, struct mt_clock *out);
void mt_clock_close(struct mt_clock *clock);

/*
 * Compares the clocks again, because they drift. Costs some microseconds; nothing if events use
 * CLOCK_MONOTONIC.
 */
bool mt_clock_sync(struct mt_clock *clock);

/* The present time on the clock that the events use, ns. */
uint64_t mt_clock_now(const struct mt_clock *clock);

/* CLOCK_MONOTONIC's time, ns. */
uint64_t mt_clock_monotonic(void);

/* CPU time that the calling thread has used, ns. */
uint64_t mt_clock_thread_ns(void);

#endif
