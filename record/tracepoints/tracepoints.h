/*
 * Where the ids of tracepoints come from, best first: tracefs (mounted, under debugfs, or a mount
 * of our own), the word itself (subsystem:name=ID), the list of --tracepoint-ids, the cache of an
 * earlier scan, a scan. Ids of system calls from anywhere but tracefs are proven before use; others
 * are taken from a list only if this boot of this kernel wrote it.
 */
#ifndef MT_RECORD_TRACEPOINTS_TRACEPOINTS_H
#define MT_RECORD_TRACEPOINTS_TRACEPOINTS_H

#include <stdbool.h>
#include <stddef.h>

struct mt_error;
struct mt_perf_features;
struct mt_tracepoint;
struct mt_tracepoints;
struct mt_trials;

/*
 * ids_file: the list of --tracepoint-ids, or NULL; one that cannot be read, or that another kernel
 * wrote, is an error. Borrows features, trials and ids_file. Looks at tracefs only; the rest waits
 * until it is needed. What is opened to see whether it may be goes to trials.
 */
struct mt_error *mt_tracepoints_create(const struct mt_perf_features *features,
				       struct mt_trials *trials, const char *ids_file,
				       struct mt_tracepoints **out);
void mt_tracepoints_destroy(struct mt_tracepoints *tracepoints);

/*
 * The tracepoint "subsystem:name" or "subsystem:name=ID". context: struct mt_tracepoints. An
 * unknown one is MT_ERR_NOT_FOUND; one out of reach is MT_ERR_PERMISSION and says what would allow
 * it.
 */
struct mt_error *mt_tracepoints_find(void *context, const char *name, struct mt_tracepoint *out);

/* Whether the kernel itself tells us ids. */
bool mt_tracepoints_has_tracefs(const struct mt_tracepoints *tracepoints);

/*
 * Writes the ids of all tracepoints that tracefs knows, and the formats of the event table's system
 * calls, for --tracepoint-ids of those who cannot read it. *written: how many.
 */
struct mt_error *mt_tracepoints_save(struct mt_tracepoints *tracepoints, const char *path,
				     size_t *written);

/* The descriptor of tracefs's directory, or -1. */
int mt_tracepoints_tracefs(const struct mt_tracepoints *tracepoints);

/*
 * What a plan asks. Whether kmem:rss_stat reports each change (Linux 6.2 and what was backported)
 * is measured: some pages of our own are touched.
 */
struct mt_tracepoint_source mt_tracepoints_source(struct mt_tracepoints *tracepoints);

/* Where ids have come from so far, in words; valid until the next look-up. */
const char *mt_tracepoints_where(const struct mt_tracepoints *tracepoints);

#endif
