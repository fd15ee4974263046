/* Where cgroups are mounted; -G: one by its name or path, as perf_event_open wants it. */
#ifndef MT_RECORD_OPEN_CGROUP_H
#define MT_RECORD_OPEN_CGROUP_H

#include <stdbool.h>

struct mt_error;

/*
 * Opens the directory of `name` under the hierarchy that perf_event is bound to: version 1 where it
 * is mounted, else version 2; or the directory of that path, if it lies in a cgroup file system.
 */
struct mt_error *mt_cgroup_open(const char *name, int *out);

/* Why events of a cgroup did not open, with what to do about it. */
struct mt_error *mt_cgroup_error(int errnum, const char *name, const char *event);

/*
 * The mount point of the hierarchy that accounts for memory: version 1 where that is mounted, else
 * version 2. The caller's to free; NULL where there is none.
 */
char *mt_cgroup_memory_mount(bool *unified);

/* Whether a list of words between commas has this one. */
bool mt_cgroup_has_word(const char *list, const char *word);

#endif
