/*
 * The request to an analysis, made from the analysis, the output and the command line before any
 * file is read.
 */
#ifndef MT_REPORT_CLI_REQUEST_H
#define MT_REPORT_CLI_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/session/timespan.h"
#include "report/sums/group_keys.h"
#include "report/tables/limited_table.h"

struct mt_analysis;
struct mt_error;
struct mt_output;
struct mt_suppressions;

/* --at: the moment of the recording, for analyses of a state. */
enum mt_moment {
	MT_AT_END,
	MT_AT_PEAK, /* when each address space had the most memory reserved */
	MT_AT_TIME,
};

struct mt_at {
	enum mt_moment when;
	double seconds; /* MT_AT_TIME: since the recording's start; below 0: use `part` */
	/* MT_AT_TIME: fraction of the recording's length. */
	double part;
	uint64_t clock; /* MT_AT_TIME, if not 0: ns of the recording's clock */
};

/*
 * The moment in a recording from `start` to `end`, in ns of its clock; UINT64_MAX for its end and
 * the peak.
 */
uint64_t mt_at_clock(const struct mt_at *at, uint64_t start, uint64_t end);

/* Options of the command line on the table's shape. */
struct mt_wishes {
	struct mt_by_list by;		  /* --by; empty: the analysis's default */
	bool stacks;			  /* --stacks */
	bool timeline;			  /* --timeline */
	double interval;		  /* seconds of --timeline; 0: by the recording's length */
	unsigned int intervals;		  /* about as many if interval is 0; 0: the default */
	const char *weight;		  /* --weight, or NULL */
	struct mt_at at;		  /* --at */
	struct mt_timespan time;	  /* --time */
	double older_than;		  /* --older-than, in seconds */
	bool all;			  /* --all */
	struct mt_row_limit limit;	  /* --top, --percent-limit */
	const char *argument;		  /* the analysis's own value, or NULL */
	bool compare;			  /* --base or --base-time is given */
	struct mt_suppressions *suppress; /* --suppress, owned by the options; or NULL */
};

struct mt_analysis_request {
	const char *argument;	/* the analysis's own value, borrowed; NULL if it takes none */
	bool listing;		/* rows are single events in time order, else sums */
	bool stacks;		/* the table has a stack column */
	struct mt_by_list by;	/* keys of sums */
	double interval;	/* seconds of MT_BY_TIME; 0: by the recording's length */
	unsigned int intervals; /* see struct mt_wishes */
	bool page; /* for a page: a kind of memory is only a key, and selects nothing more */
	bool even; /* exactly as many, even if their length is not round */
	const char *weight; /* value column that orders rows; NULL: the table's default */
	bool unwind;	    /* the session must give stacks */
	struct mt_at at;    /* this and below: as in struct mt_wishes */
	struct mt_timespan time;
	double older_than;
	bool all;
	bool living;	     /* without processes that ended before the recording's last moments */
	int32_t kept;	     /* the pid of one that is shown nevertheless, at its peak; 0: none */
	int32_t kept_second; /* pid of another process of its program, whose blocks are shown */
	bool compared;	     /* the table will be compared with a baseline's */
	struct mt_suppressions *suppress;
};

/* A page of a whole recording divides its length into so many intervals. */
#define MT_PAGE_INTERVALS 500

/*
 * The keys that a page can filter an analysis by: event, thread and kind of memory, as far as the
 * analysis knows them; with `timeline` the interval, if its rows add up over time; and the stack.
 */
struct mt_by_list mt_page_keys(const struct mt_analysis *analysis, bool timeline);

/* The end of a span as a moment; MT_AT_END if the span is open. */
struct mt_at mt_at_end_of(const struct mt_timespan *time);

/* Makes the request; a usage error if the analysis, the output and the options do not fit. */
struct mt_error *mt_request_make(const struct mt_analysis *analysis, const struct mt_output *output,
				 const struct mt_wishes *wishes, struct mt_analysis_request *out);

#endif
