/*
 * Finds tracepoint ids on this host. Uses the first of these sources that has the id:
 *
 * 1. tracefs: mounted, under debugfs, or a private mount;
 * 2. the word itself (subsystem:name=ID);
 * 3. the list of --tracepoint-ids;
 * 4. the cache of an earlier scan;
 * 5. a scan.
 *
 * Ids of system calls from sources 2 to 5 are proven before use. Other ids are taken from a list
 * only if it was written in this boot of this kernel.
 */
#ifndef MT_RECORD_TRACEPOINTS_TRACEPOINTS_H
#define MT_RECORD_TRACEPOINTS_TRACEPOINTS_H

#include <stddef.h>

struct mt_error;
struct mt_perf_features;
struct mt_tracepoint;
struct mt_tracepoints;
struct mt_trials;

/*
 * ids_file: the list of --tracepoint-ids, or NULL; fails if the list cannot be read or is of
 * another kernel. Borrows features, trials and ids_file. Opens only tracefs; the other sources are
 * used on demand. Events opened to test permission go to trials.
 */
struct mt_error *mt_tracepoints_create(const struct mt_perf_features *features,
				       struct mt_trials *trials, const char *ids_file,
				       struct mt_tracepoints **out);
void mt_tracepoints_destroy(struct mt_tracepoints *tracepoints);

/*
 * Finds "subsystem:name" or "subsystem:name=ID". context: struct mt_tracepoints. MT_ERR_NOT_FOUND:
 * unknown; MT_ERR_PERMISSION: not readable, and the error says what would permit it.
 */
struct mt_error *mt_tracepoints_find(void *context, const char *name, struct mt_tracepoint *out);

/*
 * Writes the file for --tracepoint-ids of other users: ids of all tracepoints in tracefs, and the
 * formats of the event table's system calls. *written: number of ids.
 */
struct mt_error *mt_tracepoints_save(struct mt_tracepoints *tracepoints, const char *path,
				     size_t *written);

/* Returns the descriptor of the tracefs directory, borrowed, or -1. */
int mt_tracepoints_tracefs(const struct mt_tracepoints *tracepoints);

/*
 * Returns the source for mt_plan_create(), which borrows tracepoints. Its rss_each touches some
 * pages of this process to test whether kmem:rss_stat reports each change (Linux 6.2, and
 * backports).
 */
struct mt_tracepoint_source mt_tracepoints_source(struct mt_tracepoints *tracepoints);

/* Describes where ids were found so far; valid until the next lookup. */
const char *mt_tracepoints_where(const struct mt_tracepoints *tracepoints);

#endif
