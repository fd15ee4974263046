/*
 * Trial events, opened only to test whether the kernel allows them. Closing the last event of a
 * tracepoint waits for a grace period of tens of milliseconds. Closing costs nothing while the
 * recording's events are open, so trials are kept open until then.
 */
#ifndef MT_RECORD_OPEN_TRIALS_H
#define MT_RECORD_OPEN_TRIALS_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/base/array.h"

struct mt_perf_features;
struct perf_event_attr;

struct mt_trials {
	MT_ARRAY(int) kept;
};

/* Takes ownership of the descriptor (-1: none). Closes it at once if too many are kept. */
void mt_trials_keep(struct mt_trials *trials, int fd);

/* Closes all trials. */
void mt_trials_end(struct mt_trials *trials);

/* A trial of events as one group. */
struct mt_group_trial {
	const struct mt_perf_features *features;
	struct mt_trials *trials;
	int cpu;   /* CPU to open the events on */
	bool wide; /* true: every task on that CPU; false: the calling thread */
};

/*
 * Returns false if the first event opens but another one does not open in its group. For a single
 * event, returns false if this machine does not have it. Returns true on other failures; opening
 * the events of the recording reports them. trial is a struct mt_group_trial *.
 */
bool mt_group_trial_together(void *trial, const struct perf_event_attr *attrs, size_t count);

#endif
