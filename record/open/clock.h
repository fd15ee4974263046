/*
 * The clock of the recording's times. From Linux 4.1 on the events use CLOCK_MONOTONIC; before, the
 * kernel's own perf clock, which nothing but a sample tells: an event of our own is made to happen
 * and its time held against CLOCK_MONOTONIC.
 */
#ifndef MT_RECORD_OPEN_CLOCK_H
#define MT_RECORD_OPEN_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "record/open/ring.h"

struct mt_perf_features;

struct mt_clock {
	bool perf;	 /* the events use the perf clock */
	int64_t ahead;	 /* of CLOCK_MONOTONIC, ns */
	uint64_t within; /* the last comparison's uncertainty, ns */
	uint8_t *page;	 /* that faults on demand */
	struct mt_ring ring;
};

/*
 * False where the perf clock cannot be related to any other: times are then right among themselves
 * only. One thread at a time uses a clock; it must be the one that opened it.
 */
bool mt_clock_open(const struct mt_perf_features *features, struct mt_clock *out);
void mt_clock_close(struct mt_clock *clock);

/*
 * Compares the clocks again, since they drift; costs some microseconds, nothing with
 * CLOCK_MONOTONIC.
 */
bool mt_clock_sync(struct mt_clock *clock);

/* Now, in nanoseconds on the clock that the events use. */
uint64_t mt_clock_now(const struct mt_clock *clock);

/* CLOCK_MONOTONIC's time, ns. */
uint64_t mt_clock_monotonic(void);

/* CPU time that the calling thread has used, ns. */
uint64_t mt_clock_thread_ns(void);

#endif
