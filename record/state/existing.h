/*
 * Existing processes, from /proc: their tasks with names as TASK records, and their mappings as MAP
 * records.
 */
#ifndef MT_RECORD_STATE_EXISTING_H
#define MT_RECORD_STATE_EXISTING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/proc/numbers.h"

struct mt_clock;
struct mt_state;

/*
 * Writes the threads and mappings of a process, as far as /proc lets us read them. clock: the
 * recording's. arguments: write the command line; otherwise its first word. False if the process
 * has no memory: a kernel thread, or a process that has ended.
 */
bool mt_existing_process(struct mt_state *state, const struct mt_clock *clock, pid_t pid,
			 bool arguments);

/* Writes the mappings of a process again, as REREAD records. */
void mt_existing_reread(struct mt_state *state, const struct mt_clock *clock, pid_t pid);

/* Calls each for every process on the host but this one; false if /proc cannot be listed. */
bool mt_existing_each(void (*each)(void *context, pid_t pid), void *context);

/*
 * Adds all descendants of the listed processes, as far as the kernel lists them
 * (CONFIG_PROC_CHILDREN). self: the recorder, which is left out. False out of memory.
 */
bool mt_existing_add_children(struct mt_number_list *pids, pid_t self);

/* Writes the TASK of a process, without its threads and mappings. */
void mt_existing_name(struct mt_state *state, pid_t pid, bool arguments);

/* Calls each for every thread of a process; false if it has ended. */
bool mt_existing_each_thread(pid_t pid, void (*each)(void *context, pid_t tid), void *context);

/* The process that a thread belongs to; tid itself if unknown. */
pid_t mt_existing_pid_of(pid_t tid);

/* A numeric field of /proc/PID/stat, counted from 1 as in proc(5); 0 if missing. */
uint64_t mt_existing_stat_field(const char *stat, int wanted);

/* Field 22 of /proc/PID/stat, in clock ticks since boot; 0 if missing. */
uint64_t mt_existing_start_time(const char *stat);

/* True if stat is of a kernel thread, which has no memory. */
bool mt_existing_is_kernels(const char *stat);

#endif
