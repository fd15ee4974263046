/*
 * Memory use of the host and of the targets, as GAUGE records: at the start, at intervals, and at
 * the end. One thread at a time.
 */
#ifndef MT_RECORD_STATE_GAUGES_H
#define MT_RECORD_STATE_GAUGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mt_clock;
struct mt_gauges;
struct mt_state;

/* Borrows the clock. NULL out of memory. */
struct mt_gauges *mt_gauges_create(const struct mt_clock *clock);
void mt_gauges_destroy(struct mt_gauges *gauges);

/*
 * Limits on slow readings: files for which the kernel walks all pages of a process, and
 * directories.
 */
struct mt_gauge_walks {
	uint64_t ns;   /* time limit for all processes; 0: no file of that kind is read */
	bool mappings; /* read /proc/PID/smaps in addition to /proc/PID/smaps_rollup */
	bool cgroups;  /* include cgroups that have a limit but no target */
};

/*
 * One reading of everything, in this order:
 *
 * 1. mt_gauges_begin() writes the host's values.
 * 2. mt_gauges_add() adds each process that is a target now.
 * 3. mt_gauges_finish() reads the added processes and forgets all others.
 *
 * For each process /proc/PID/statm is read, through a descriptor that stays open. /proc/PID/status,
 * /proc/PID/stat and the files of its cgroup are read for the GAUGES_DETAILED processes whose
 * resident size changed most since the last such reading, or with `all` for every process. Without
 * `all`, values unchanged since they were written are left out, and so is the recorder itself.
 *
 * Files for which the kernel walks pages come last, those of the largest processes first.
 */
void mt_gauges_begin(struct mt_gauges *gauges, struct mt_state *state, bool all);
void mt_gauges_add(struct mt_gauges *gauges, pid_t pid);
void mt_gauges_finish(struct mt_gauges *gauges, const struct mt_gauge_walks *walks);

/* Resident bytes of all processes of the last reading. */
uint64_t mt_gauges_resident(const struct mt_gauges *gauges);

#endif
