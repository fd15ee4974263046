/* Whether events can be counted together here: the kernel is asked by opening them so. */
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
	int cpu;   /* to open them on */
	bool wide; /* for whoever runs there; else for our own thread */
};

/*
 * Gives false where one cannot be opened beside the first, which can be; what fails otherwise is
 * for those who open them in earnest to tell. trial is a struct mt_group_trial *.
 */
bool mt_group_trial_together(void *trial, const struct perf_event_attr *attrs, size_t count);

#endif
