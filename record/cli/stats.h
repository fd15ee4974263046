/*
 * --stats: a table of the counts and times of each stage of a recording. Also the status line
 * during a recording and the closing line; they depend only on their arguments.
 */
#ifndef MT_RECORD_CLI_STATS_H
#define MT_RECORD_CLI_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	bool prefaulting;
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

/* The state of a recording so far. */
struct mt_progress {
	double seconds;
	uint64_t samples, lost;
	uint64_t raw_bytes; /* bytes of the kernel's records, mostly stacks */
	uint64_t written;   /* bytes of the file; 0: a pipe, or empty */
	uint64_t memory; /* resident bytes of the targets; of_host: available bytes; 0: unknown */
	bool of_host;
};

enum {
	MT_LINE_SIZE = 512,
};

/* "12 s, 60,412 samples, 0 lost, file 1.2 MB, resident 348.3 MB" */
void mt_status_line(const struct mt_progress *progress, char out[MT_LINE_SIZE]);

/* "12.63 s, 60,412 samples, stacks 12.5 GB -> file 113.0 MB, 0 lost"; the file's name follows. */
void mt_closing_line(const struct mt_progress *progress, char out[MT_LINE_SIZE]);

#endif
