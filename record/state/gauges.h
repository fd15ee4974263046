/* What the kernel says of the targets' memory now and then, as GAUGE records. */
#ifndef MT_RECORD_STATE_GAUGES_H
#define MT_RECORD_STATE_GAUGES_H

#include <stdbool.h>
#include <sys/types.h>

struct mt_clock;
struct mt_state;

/*
 * One process: its sizes from /proc/PID/status and, where asked for, /proc/PID/smaps_rollup, for
 * which the kernel walks all its pages: left out for the largest. One that is gone or has no memory
 * leaves nothing.
 */
void mt_gauges_put(struct mt_state *state, const struct mt_clock *clock, pid_t pid, bool rollup);

#endif
