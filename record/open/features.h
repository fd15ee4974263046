/*
 * Features of this kernel's perf_event_open in one table, newest first. Each is probed and never
 * derived from the version, because distributions backport features.
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
	const char *since; /* first Linux version that has the feature, or another requirement */
	const char *cost;  /* what a recording lacks without the feature, or has instead */
	bool harmless;	   /* true: a recording without it lacks nothing */
	size_t offset;	   /* offset of its bool in struct mt_perf_features */
	/* Requests the feature in an attr; NULL: attrs do not request it. */
	void (*ask)(struct perf_event_attr *attr);
};

/* Returns the table. */
const struct mt_feature *mt_feature_rows(size_t *count);

/* Returns true if the kernel has the row's feature. */
bool mt_feature_has(const struct mt_perf_features *features, const struct mt_feature *row);

/*
 * Requests all features at once; if the kernel refuses, drops them row by row. Fails if the kernel
 * refuses perf_event_open itself; the error says what would allow it.
 */
struct mt_error *mt_features_probe(struct mt_perf_features *out);

#endif
