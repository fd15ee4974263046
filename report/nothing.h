/*
 * Decides whether a report without rows is an answer. If not, explains the reason, and names
 * options and events that would have shown something.
 */
#ifndef MT_REPORT_NOTHING_H
#define MT_REPORT_NOTHING_H

#include <stdbool.h>
#include <stdio.h>

struct mt_error;
struct mt_facts;
struct mt_report_options;

/* The length of the longest recording in seconds if --time begins after that, else 0. */
double mt_nothing_ends_before_time(const struct mt_report_options *options,
				   const struct mt_facts *facts);

/*
 * A usage error if a moment or a span of the options is outside the recordings. `base` may be NULL.
 */
struct mt_error *mt_nothing_at_times(const struct mt_report_options *options,
				     const struct mt_facts *facts, const struct mt_facts *base);

/*
 * Whether a table without rows is not an answer, because no event of the analysis was recorded, or
 * the selectors left none. `base` is the other recording of a comparison, or NULL.
 */
bool mt_nothing_to_analyse(const struct mt_report_options *options, const struct mt_facts *facts,
			   const struct mt_facts *base);

/* Writes the reason, a few lines, each after the prefix. */
void mt_nothing_explain(const struct mt_report_options *options, const struct mt_facts *facts,
			const char *prefix, FILE *to);

#endif
