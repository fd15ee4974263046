/*
 * Tracepoint ids without tracefs: the kernel opens the tracepoints of system calls for anybody's
 * own tasks, if only the id is known. So a process of its own tries ids, makes the system calls of
 * the event table with arguments that change nothing, and sees which ids answer. What answers is
 * proven: neither a stale list nor a wrong guess can pass.
 *
 * Each tracepoint that was tried costs the kernel a grace period, some ten milliseconds, when it is
 * closed. That process therefore keeps them until the recorder has ended, and pays for it alone.
 */
#ifndef MT_RECORD_TRACEPOINTS_TRACEPOINT_SCAN_H
#define MT_RECORD_TRACEPOINTS_TRACEPOINT_SCAN_H

#include <stdbool.h>

struct mt_error;
struct mt_perf_features;
struct mt_tracepoint_ids;

/*
 * Tries the ids of `candidates` (NULL: none) and, where they do not hold all calls of the table and
 * everywhere is true, all ids there are. *out gets what is proven, unsigned. *hold is a descriptor
 * that keeps the process waiting; closing it lets the process end. To be called before there are
 * threads.
 */
struct mt_error *mt_tracepoint_scan(const struct mt_perf_features *features,
				    const struct mt_tracepoint_ids *candidates, bool everywhere,
				    struct mt_tracepoint_ids *out, int *hold);

#endif
