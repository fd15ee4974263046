/*
 * A report without rows: whether it is an answer, and if not, the reason, with the options and
 * events that would have shown something.
 */
#ifndef MT_REPORT_NOTHING_H
#define MT_REPORT_NOTHING_H

#include <stdbool.h>
#include <stdio.h>

struct mt_error;
struct mt_facts;
struct mt_report_options;

/* Seconds of the longest recording if --time begins after its end; else 0. */
double mt_nothing_ends_before_time(const struct mt_report_options *options,
				   const struct mt_facts *facts);

/*
 * A usage error if a moment or a span of the options is outside of the recordings. base: or NULL.
 */
struct mt_error *mt_nothing_at_times(const struct mt_report_options *options,
				     const struct mt_facts *facts, const struct mt_facts *base);

/*
 * Whether a table without rows is no answer: no event of the analysis was recorded, or the
 * selectors left none. base: the other recording of a comparison, or NULL.
 */
bool mt_nothing_to_analyse(const struct mt_report_options *options, const struct mt_facts *facts,
			   const struct mt_facts *base);

/* Writes the reason, a few lines, each after the prefix. */
void mt_nothing_explain(const struct mt_report_options *options, const struct mt_facts *facts,
			const char *prefix, FILE *to);

#endif
