/*
 * Features of this kernel's perf_event_open: one table, newest first. Each is probed, never derived
 * from the version, because distributions backport.
 */
#ifndef MT_RECORD_OPEN_FEATURES_H
#define MT_RECORD_OPEN_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

struct mt_error;
struct mt_perf_features;
struct perf_event_attr;

struct mt_feature {
	const char *name;
	const char *since; /* first Linux version that has it, or other requirement */
	const char *cost;  /* what a recording without it lacks, or has instead */
	bool harmless;	   /* true: a recording without it lacks nothing */
	size_t offset;	   /* offset of its bool in struct mt_perf_features */
	/* Requests the feature in an attr; NULL: attrs do not request it. */
	void (*ask)(struct perf_event_attr *attr);
};

/* The table. */
const struct mt_feature *mt_feature_rows(size_t *count);

/* True if probing found the row's feature. */
bool mt_feature_has(const struct mt_perf_features *features, const struct mt_feature *row);

/*
 * Requests all features at once and, if the kernel refuses, drops them row by row. Fails if
 * perf_event_open itself is refused; the error says what would allow it.
 */
struct mt_error *mt_features_probe(struct mt_perf_features *out);

#endif
