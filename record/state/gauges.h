/*
 * What the kernel says of the host's and the targets' memory, as GAUGE records: at the start, at
 * intervals, and at the end. One thread at a time.
 */
#ifndef MT_RECORD_STATE_GAUGES_H
#define MT_RECORD_STATE_GAUGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mt_clock;
struct mt_gauges;
struct mt_state;

/* Returns NULL out of memory. Borrows the clock. */
struct mt_gauges *mt_gauges_create(const struct mt_clock *clock);
void mt_gauges_destroy(struct mt_gauges *gauges);

/*
 * One reading of everything, in this order:
 *
 * 1. mt_gauges_begin() writes the host's values.
 * 2. mt_gauges_add() names each process that is a target now.
 * 3. mt_gauges_finish() reads the processes that were named and forgets all others.
 *
 * Of each process /proc/PID/statm is read through a descriptor that stays open, and
 * /proc/PID/status, /proc/PID/stat and the files of its cgroup for those GAUGES_DETAILED whose
 * resident size changed most since that was last done, or with `all` for every process. Values that
 * did not change since they were written are left out, but not with `all`.
 *
 * rollup_ns: how long reading /proc/PID/smaps_rollup may take, for which the kernel walks all pages
 * of a process; the largest processes come first. 0: it is not read.
 */
void mt_gauges_begin(struct mt_gauges *gauges, struct mt_state *state, bool all);
void mt_gauges_add(struct mt_gauges *gauges, pid_t pid);
void mt_gauges_finish(struct mt_gauges *gauges, uint64_t rollup_ns);

#endif
