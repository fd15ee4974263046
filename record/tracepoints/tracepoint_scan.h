/*
 * Finds tracepoint ids without tracefs: if the id is known, the kernel opens tracepoints of system
 * calls for a user's own tasks. A child process tries ids, makes the system calls of the event
 * table with arguments that change nothing, and checks which ids count them. This proves an id: an
 * id from an outdated list or a wrong guess fails the test.
 *
 * The kernel waits for a grace period of about 10 ms when a tracepoint is closed. The child keeps
 * its tracepoints open until the recorder has ended, so that only the child waits.
 */
#ifndef MT_RECORD_TRACEPOINTS_TRACEPOINT_SCAN_H
#define MT_RECORD_TRACEPOINTS_TRACEPOINT_SCAN_H

#include <stdbool.h>

struct mt_error;
struct mt_perf_features;
struct mt_tracepoint_ids;

/*
 * Tries the ids of `candidates` (NULL: none). If calls of the table are still missing and
 * `everywhere` is true, tries all ids. *out: the proven ids, without kernel and boot. *hold: a
 * descriptor that keeps the child waiting; the caller closes it to end the child. Call it before
 * any thread starts.
 */
struct mt_error *mt_tracepoint_scan(const struct mt_perf_features *features,
				    const struct mt_tracepoint_ids *candidates, bool everywhere,
				    struct mt_tracepoint_ids *out, int *hold);

/* The number of a system call of the event table. Returns false if the table has no call of that
 * name. */
bool mt_syscall_number(const char *name, long *number);

#endif
