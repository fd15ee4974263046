/*
 * Whose memory a recording is about, where -u, -G, --comm, -p or -t chose among the processes of a
 * host. Side-band records and /proc tell of the others, too, for their names alone.
 */
#ifndef MT_REPORT_STACKS_CHOSEN_H
#define MT_REPORT_STACKS_CHOSEN_H

#include <stdbool.h>

struct mt_chosen;
struct mt_task_record;

/* NULL out of memory. Without any choice told everything is a target. */
struct mt_chosen *mt_chosen_create(void);
void mt_chosen_destroy(struct mt_chosen *chosen);

/* Takes an INFO record; other keys are left alone. Borrows nothing. False out of memory. */
bool mt_chosen_set_fact(struct mt_chosen *chosen, const char *key, const char *value);

/* Whether targets were chosen by process (user, cgroup, pid), and whether by name. */
bool mt_chosen_by_process(const struct mt_chosen *chosen);
bool mt_chosen_by_name(const struct mt_chosen *chosen);

/*
 * Whether a process that already ran was one, apart from its name; and whether a thread's name is.
 */
bool mt_chosen_choose(const struct mt_chosen *chosen, const struct mt_task_record *leader);
bool mt_chosen_name(const struct mt_chosen *chosen, const char *comm);

#endif
