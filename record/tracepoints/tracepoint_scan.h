/*
 * Finds tracepoint ids without tracefs: if the id is known, the kernel opens tracepoints of system
 * calls for a user's own tasks. A child process tries ids, makes the system calls of the event
 * table with arguments that change nothing, and checks which ids count them. This proves an id:
 * neither a stale list nor a wrong guess passes.
 *
 * Closing a tracepoint costs the kernel a grace period, about 10 ms. So the child keeps them open
 * until the recorder has ended, and waits alone.
 */
#ifndef MT_RECORD_TRACEPOINTS_TRACEPOINT_SCAN_H
#define MT_RECORD_TRACEPOINTS_TRACEPOINT_SCAN_H

#include <stdbool.h>

struct mt_error;
struct mt_perf_features;
struct mt_tracepoint_ids;

/*
 * Tries the ids of `candidates` (NULL: none). If calls of the table are still missing and
 * `everywhere` is true, tries all ids. *out: the proven ids, unsigned. *hold: a descriptor that
 * keeps the child waiting; the caller closes it to let the child end. Call it before there are
 * threads.
 */
struct mt_error *mt_tracepoint_scan(const struct mt_perf_features *features,
				    const struct mt_tracepoint_ids *candidates, bool everywhere,
				    struct mt_tracepoint_ids *out, int *hold);

#endif
