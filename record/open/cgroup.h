/* -G: a cgroup by its name or path, as the descriptor that perf_event_open wants. */
#ifndef MT_RECORD_OPEN_CGROUP_H
#define MT_RECORD_OPEN_CGROUP_H

struct mt_error;

/*
 * Opens the directory of `name` under the hierarchy that perf_event is bound to: version 1 where it
 * is mounted, else version 2; or the directory of that path, if it lies in a cgroup file system.
 */
struct mt_error *mt_cgroup_open(const char *name, int *out);

/* Why events of a cgroup did not open, with what to do about it. */
struct mt_error *mt_cgroup_error(int errnum, const char *name, const char *event);

#endif
