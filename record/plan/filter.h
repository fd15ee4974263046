/*
 * Tracepoint filters: expressions that the kernel evaluates before it makes a record, so that what
 * they leave out costs next to nothing.
 */
#ifndef MT_RECORD_PLAN_FILTER_H
#define MT_RECORD_PLAN_FILTER_H

struct mt_error;
struct mt_perf_features;
struct mt_plan;
struct mt_trials;

/* Lets through only what `expression` lets through too: (*filter) && (expression). */
struct mt_error *mt_filter_add(char **filter, const char *expression);

/*
 * Tries every filter of the plan once, so that a bad one is told before anything else happens: with
 * the kernel's reason, where tracefs (a directory's descriptor, or -1) tells it.
 */
struct mt_error *mt_filter_check(const struct mt_plan *plan,
				 const struct mt_perf_features *features, struct mt_trials *trials,
				 int tracefs);

#endif
