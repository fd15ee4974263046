/*
 * A part of a recording (--time), in seconds from the start or in percent of the length; and a
 * moment in it (--at).
 */
#ifndef MT_REPORT_SESSION_TIMESPAN_H
#define MT_REPORT_SESSION_TIMESPAN_H

#include <stdbool.h>
#include <stdint.h>

struct mt_error;

/* A zero-initialized span is the whole recording. */
struct mt_timespan {
	bool given;
	bool percent;
	double from, to; /* seconds, or fractions of 1; to is INFINITY if open */
};

/*
 * Parses a span; a usage error names `option`. Forms:
 *
 * - "A,B", "A,", ",B" in seconds, optionally followed by s, ms, us or ns
 * - "A%-B%", "A%-", "-B%"
 * - "N%/M": the Mth slice of N percent
 */
struct mt_error *mt_timespan_parse(const char *option, const char *text, struct mt_timespan *out);

/* Parses a duration, which must not be 0: "1.5", "500ms", "2s". A usage error names `option`. */
struct mt_error *mt_seconds_parse(const char *option, const char *text, double *out);

/*
 * Converts the span to times of a recording from start to end (ns): *from <= t < *to. The last
 * moment is included if the end is open or 100 %.
 */
void mt_timespan_apply(const struct mt_timespan *span, uint64_t start, uint64_t end, uint64_t *from,
		       uint64_t *to);

/* The moment of --at, for analyses of the state at one moment. */
enum mt_moment {
	MT_AT_END,
	MT_AT_PEAK, /* when each address space had the most memory reserved */
	MT_AT_TIME,
};

struct mt_at {
	enum mt_moment when;
	double seconds; /* MT_AT_TIME: since the recording's start; negative: use `part` */
	/* MT_AT_TIME: fraction of the recording's length. */
	double part;
	uint64_t clock; /* MT_AT_TIME, if not 0: ns of the recording's clock */
};

/*
 * The moment in a recording from `start` to `end`, in ns; UINT64_MAX for MT_AT_END and MT_AT_PEAK.
 */
uint64_t mt_at_clock(const struct mt_at *at, uint64_t start, uint64_t end);

/* The end of a span as a moment; MT_AT_END if the span is open. */
struct mt_at mt_at_end_of(const struct mt_timespan *time);

#endif
