/*
 * The baseline of a comparison: a second recording, or another part of the same one, read by the
 * same analysis with the same selectors and scaled to the report's duration or events.
 */
#ifndef MT_REPORT_SUMS_BASELINE_H
#define MT_REPORT_SUMS_BASELINE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/session/selection.h"
#include "report/session/session.h"

struct mt_analysis;
struct mt_analysis_request;
struct mt_error;
struct mt_table;

struct mt_baseline_options {
	const char *file;	 /* --base; NULL: the report's own files */
	struct mt_timespan time; /* --base-time; not given: the report's own time */
	bool before;		 /* if folded stacks have two counts per line, use the first */
	const char *per; /* --per: "time", "none", an event's name; NULL: the analysis decides */
};

static inline bool mt_baseline_given(const struct mt_baseline_options *options)
{
	return options->file || options->time.given;
}

struct mt_baseline;

/*
 * Opens the baseline's session. Copies `like`, the options of the report's own session. Borrows the
 * other arguments until destroy.
 */
struct mt_error *mt_baseline_open(const struct mt_baseline_options *options,
				  const struct mt_session_options *like, struct mt_baseline **out);
void mt_baseline_destroy(struct mt_baseline *baseline);

/* Borrows the session until destroy. */
const struct mt_session *mt_baseline_session(const struct mt_baseline *baseline);

/* The session for a caller that runs an analysis on it. */
struct mt_session *mt_baseline_reading(struct mt_baseline *baseline);

/*
 * Compares two tables of the analysis, `base` made in the baseline's session and `now` in
 * `session`, by the figure `weight` (NULL: the table's default). Scales as --per says. Reads both
 * tables to their ends; neither is borrowed afterwards.
 */
struct mt_error *mt_baseline_contrast(const struct mt_baseline *baseline,
				      const struct mt_analysis *analysis, const char *weight,
				      struct mt_session *session, struct mt_table *base,
				      struct mt_table *now, struct mt_table **out);

/*
 * Runs the analysis on the baseline and compares the result with `now`, the report's own table,
 * made in `session`. Scales as --per says.
 */
struct mt_error *mt_baseline_compare(struct mt_baseline *baseline,
				     const struct mt_analysis *analysis,
				     const struct mt_analysis_request *request,
				     struct mt_session *session, struct mt_table *now,
				     struct mt_table **out);

#endif
