/*
 * --time: a part of a recording, in seconds since its start or in percent of its length.
 */
#ifndef MT_REPORT_SESSION_TIMESPAN_H
#define MT_REPORT_SESSION_TIMESPAN_H

#include <stdbool.h>
#include <stdint.h>

struct mt_error;

/* All zero: the whole recording. */
struct mt_timespan {
	bool given;
	bool percent;
	double from, to; /* seconds, or parts of 1; to is INFINITY where open */
};

/*
 * "A,B", "A,", ",B" in seconds (with an s, ms, us or ns behind it), "A%-B%", "A%-", "-B%", "N%/M"
 * (the Mth slice of N percent). `option` is what a usage error names.
 */
struct mt_error *mt_timespan_parse(const char *option, const char *text, struct mt_timespan *out);

/* A length of time: "1.5", "500ms", "2s"; not 0. `option` is what a usage error names. */
struct mt_error *mt_seconds_parse(const char *option, const char *text, double *out);

/*
 * The span as times of a recording that runs from start to end (ns): *from <= t < *to; the last
 * moment is inside where B is 100 % or open.
 */
void mt_timespan_apply(const struct mt_timespan *span, uint64_t start, uint64_t end, uint64_t *from,
		       uint64_t *to);

#endif
