/* The values of each mapping in /proc/PID/smaps, as GAUGE records. */
#ifndef MT_RECORD_STATE_MAPPING_GAUGES_H
#define MT_RECORD_STATE_MAPPING_GAUGES_H

#include <stdint.h>
#include <sys/types.h>

struct mt_clock;
struct mt_state;

/*
 * Writes the mappings of one process, in order of address, until it is done or the clock is past
 * `end`: the kernel walks the pages of each.
 */
void mt_mapping_gauges_put(struct mt_state *state, const struct mt_clock *clock, pid_t pid,
			   uint64_t start_time, uint64_t end);

#endif
