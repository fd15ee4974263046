/*
 * Compares two tables of sums; the result is one table with base, now and change. Rows match by the
 * text of their keys, stacks by the names of their functions, so that the tables may come from
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
	const char *weight;  /* value column to compare; NULL: the table's default */
	double scale;	     /* factor on the base's values */
	bool same_recording; /* keep pid and tid columns: both sides have the same processes */
};

/*
 * Reads both tables to their ends; neither is borrowed afterwards. `session` is that of `now`: the
 * base's names are interned there, and the result borrows them.
 */
struct mt_error *mt_comparison_make(const struct mt_comparison_options *options,
				    struct mt_table *base, struct mt_table *now,
				    struct mt_session *session, struct mt_table **out);

#endif
