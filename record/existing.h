/* What already runs, from /proc: tasks with their names, and the maps of their processes, as TASK
 * and MAP records. */
#ifndef MT_RECORD_EXISTING_H
#define MT_RECORD_EXISTING_H

#include <sys/types.h>

struct mt_state;

/* One process: its threads and its maps. A process that is gone, or that we may not look into,
 * leaves what could be read. */
void mt_existing_process(struct mt_state *state, pid_t pid);

/* Every process on the host, but this one. */
void mt_existing_all(struct mt_state *state);

/* The process that a thread belongs to; tid itself where that cannot be told. */
pid_t mt_existing_pid_of(pid_t tid);

#endif
