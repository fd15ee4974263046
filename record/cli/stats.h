/* --stats: a table of the counts and times of each stage of a recording. */
#ifndef MT_RECORD_CLI_STATS_H
#define MT_RECORD_CLI_STATS_H

#include <stdbool.h>
#include <stddef.h>

#include "record/rings/prefault.h"
#include "record/rings/self_limits.h"
#include "record/write/pack.h"

struct mt_drain;
struct mt_event_set;

/* Sources of the numbers; all borrowed. */
struct mt_stats {
	const struct mt_event_set *opened;
	struct mt_drain *const *drains; /* one per CPU of `opened` */
	struct mt_memory_share memory;
	size_t spool_peak;
	struct mt_pack_counts pack;
	bool healing;
	struct mt_prefault_counts prefault;
	bool locked;
	int oom_adj;
	double seconds;
};

/*
 * Returns the table, with the figures of /proc and getrusage for this process. The caller frees it;
 * NULL out of memory.
 */
char *mt_stats_text(const struct mt_stats *stats);

#endif
