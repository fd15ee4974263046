/* Finds cgroup mounts, and opens the cgroup of -G by its name or path for perf_event_open. */
#ifndef MT_RECORD_OPEN_CGROUP_H
#define MT_RECORD_OPEN_CGROUP_H

#include <stdbool.h>

struct mt_error;

/*
 * Opens the directory of the cgroup `name`: under the perf_event hierarchy (version 1) if it is
 * mounted, else under version 2. If `name` is a path in a cgroup file system, opens that path.
 */
struct mt_error *mt_cgroup_open(const char *name, int *out);

/*
 * Returns the opened cgroup in the form of /proc/PID/cgroup, with its controller:
 * "perf_event:/name" in version 1, ":/name" in version 2. The caller frees it; NULL if unknown.
 */
char *mt_cgroup_line(int fd);

/* Returns the error of an event that did not open for a cgroup, with a remedy. */
struct mt_error *mt_cgroup_error(int errnum, const char *name, const char *event);

/*
 * Returns the mount point of the hierarchy that accounts for memory: version 1 if it is mounted,
 * else version 2. The caller frees it; NULL if there is none.
 */
char *mt_cgroup_memory_mount(bool *unified);

/* Returns true if the comma-separated list contains the word. */
bool mt_cgroup_has_word(const char *list, const char *word);

#endif
