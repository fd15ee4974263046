/*
 * The targets of a recording: the processes that mtrec -u, -G, --comm, -p or -t chose. Side-band
 * records and /proc also report other processes, but only for their names.
 */
#ifndef MT_REPORT_STACKS_CHOSEN_H
#define MT_REPORT_STACKS_CHOSEN_H

#include <stdbool.h>

struct mt_chosen;
struct mt_task_record;

/* Every process is a target until mt_chosen_set_fact() makes a choice. */
struct mt_chosen *mt_chosen_create(void);
void mt_chosen_destroy(struct mt_chosen *chosen);

/* Takes an INFO record; ignores keys that are not about targets. Borrows nothing. */
void mt_chosen_set_fact(struct mt_chosen *chosen, const char *key, const char *value);

/* True if targets were chosen by process (user, cgroup, pid); true if they were chosen by name. */
bool mt_chosen_by_process(const struct mt_chosen *chosen);
bool mt_chosen_by_name(const struct mt_chosen *chosen);

/*
 * True if a process from before the recording is a target, not considering its name; true if a
 * thread of this name makes its process a target.
 */
bool mt_chosen_choose(const struct mt_chosen *chosen, const struct mt_task_record *leader);
bool mt_chosen_name(const struct mt_chosen *chosen, const char *comm);

#endif
