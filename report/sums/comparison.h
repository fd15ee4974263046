/*
 * Two tables of sums as one: what was before, what is now, and the difference. Rows are matched by
 * what their keys say, stacks by the names of their functions, so that the two may come from
 * different machines.
 */
#ifndef MT_REPORT_SUMS_COMPARISON_H
#define MT_REPORT_SUMS_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

struct mt_error;
struct mt_session;
struct mt_table;

struct mt_comparison_options {
	const char *weight;  /* the figure that is compared; NULL: the table's own */
	double scale;	     /* of what was before: for as long a time, as many events */
	bool same_recording; /* pids and tids mean the same in both */
	size_t top;	     /* so many rows; 0: all */
};

/*
 * Reads both to their ends, and borrows neither. `session` is the one of `now`; it gets the names
 * of `base`, and the result borrows it.
 */
struct mt_error *mt_comparison_make(const struct mt_comparison_options *options,
				    struct mt_table *base, struct mt_table *now,
				    struct mt_session *session, struct mt_table **out);

#endif
