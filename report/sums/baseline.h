/*
 * The recording, or the part of one, that a report is compared with: read by the same analysis with
 * the same selectors, and brought to the same measure.
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

/* --base, --base-time, --per. */
struct mt_baseline_options {
	const char *file;	 /* NULL: the report's own files */
	struct mt_timespan time; /* not given: the report's own */
	const char *per;	 /* "time", "none", an event's name, or NULL: as the analysis is */
};

static inline bool mt_baseline_given(const struct mt_baseline_options *options)
{
	return options->file || options->time.given;
}

struct mt_baseline; /* keeps what its session borrows */

/* `like` is how the report reads its own recording; copied. Everything else is borrowed. */
struct mt_error *mt_baseline_open(const struct mt_baseline_options *options,
				  const struct mt_session_options *like, struct mt_baseline **out);
void mt_baseline_destroy(struct mt_baseline *baseline);

/* Its session; borrowed. */
const struct mt_session *mt_baseline_session(const struct mt_baseline *baseline);

/*
 * Runs the analysis on it and compares: `now` is the report's own table, made in `session` as
 * `like` says.
 */
struct mt_error *mt_baseline_compare(struct mt_baseline *baseline,
				     const struct mt_analysis *analysis,
				     const struct mt_analysis_request *request,
				     struct mt_session *session, struct mt_table *now,
				     struct mt_table **out);

#endif
