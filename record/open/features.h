/*
 * What this kernel's perf_event_open can do: one table of attribute features, newest first, each
 * found by asking, never by version, since distributions backport.
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
	const char *since; /* the first Linux that has it, or what else it needs */
	const char *cost;  /* what a recording without it lacks, or has instead */
	bool harmless;	   /* a recording without it lacks nothing */
	size_t offset;	   /* of its bool in struct mt_perf_features */
	void (*ask)(struct perf_event_attr *attr); /* NULL: not asked for by an attr */
};

/* The table. */
const struct mt_feature *mt_feature_rows(size_t *count);

/* Whether probing found this row's feature. */
bool mt_feature_has(const struct mt_perf_features *features, const struct mt_feature *row);

/*
 * Asks for everything at once and, where that is refused, steps down row by row. Fails where
 * perf_event_open itself is refused, and says what would allow it.
 */
struct mt_error *mt_features_probe(struct mt_perf_features *out);

#endif
