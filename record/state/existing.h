/*
 * What already runs, from /proc: tasks with their names, and the maps of their processes, as TASK
 * and MAP records.
 */
#ifndef MT_RECORD_STATE_EXISTING_H
#define MT_RECORD_STATE_EXISTING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mt_clock;
struct mt_state;

/*
 * One process: its threads and its maps. A process that is gone, or that we may not look into,
 * leaves what could be read. clock: the recording's. arguments: with the command line, else its
 * first word. False where it has no memory: one of the kernel's own threads, or gone.
 */
bool mt_existing_process(struct mt_state *state, const struct mt_clock *clock, pid_t pid,
			 bool arguments);

/* Its maps once more, as REREAD records. */
void mt_existing_reread(struct mt_state *state, const struct mt_clock *clock, pid_t pid);

/* Every process on the host, but this one; false where they cannot be listed. */
bool mt_existing_each(void (*each)(void *context, pid_t pid), void *context);

/* The process that a thread belongs to; tid itself where that cannot be told. */
pid_t mt_existing_pid_of(pid_t tid);

/* A numeric field of /proc/PID/stat, counted from 1 as in proc(5); 0 where there is none. */
uint64_t mt_existing_stat_field(const char *stat, int wanted);

/* Field 22 of /proc/PID/stat, in clock ticks since boot; 0 where there is none. */
uint64_t mt_existing_start_time(const char *stat);

/* Whether it is the stat of one of the kernel's own threads, which have no memory. */
bool mt_existing_is_kernels(const char *stat);

#endif
