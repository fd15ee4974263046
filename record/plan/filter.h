/*
 * Tracepoint filters: expressions that the kernel evaluates before it writes a record. Events that
 * are filtered out cost next to nothing.
 */
#ifndef MT_RECORD_PLAN_FILTER_H
#define MT_RECORD_PLAN_FILTER_H

struct mt_error;
struct mt_perf_features;
struct mt_plan;
struct mt_trials;

/* Replaces *filter (malloc'ed or NULL) by (*filter) && (expression). */
struct mt_error *mt_filter_add(char **filter, const char *expression);

/*
 * Tries every filter of the plan once, so that a bad filter is reported before anything else.
 * tracefs: descriptor of the tracefs directory, from which the error takes the kernel's reason, or
 * -1.
 */
struct mt_error *mt_filter_check(const struct mt_plan *plan,
				 const struct mt_perf_features *features, struct mt_trials *trials,
				 int tracefs);

#endif
