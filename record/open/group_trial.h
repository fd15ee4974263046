/* Tests whether events can be counted together, by opening them as a group. */
#ifndef MT_RECORD_OPEN_GROUP_TRIAL_H
#define MT_RECORD_OPEN_GROUP_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

struct mt_perf_features;
struct mt_trials;
struct perf_event_attr;

struct mt_group_trial {
	const struct mt_perf_features *features;
	struct mt_trials *trials;
	int cpu;   /* CPU to open the events on */
	bool wide; /* true: every task on that CPU; false: the calling thread */
};

/*
 * Returns false if the first event opens but another one does not open in its group. Of a single
 * event, returns false if this machine does not have it. Returns true on other failures; opening
 * the events of the recording reports them. trial is a struct mt_group_trial *.
 */
bool mt_group_trial_together(void *trial, const struct perf_event_attr *attrs, size_t count);

#endif
