/*
 * What is asked of an analysis: settled from the analysis, the output and the words of the command
 * line, before anything is read.
 */
#ifndef MT_REPORT_CLI_REQUEST_H
#define MT_REPORT_CLI_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/session/timespan.h"
#include "report/sums/group_keys.h"

struct mt_analysis;
struct mt_error;
struct mt_output;

/* --at: which moment of the recording, for what stands at one. */
enum mt_moment {
	MT_AT_END,
	MT_AT_PEAK, /* of each address space, when most was reserved */
	MT_AT_TIME,
};

struct mt_at {
	enum mt_moment when;
	double seconds; /* AT_TIME: since the recording began; below 0: `part` of its length */
	double part;
	uint64_t clock; /* AT_TIME, not 0: ns on the recording's clock */
};

/* As the command line has it. */
struct mt_wishes {
	struct mt_by_list by;	 /* --by; empty: the analysis's own */
	bool stacks;		 /* --stacks */
	bool timeline;		 /* --timeline */
	double interval;	 /* of it in seconds; 0: the recording's length decides */
	const char *weight;	 /* --weight, or NULL */
	struct mt_at at;	 /* --at */
	struct mt_timespan time; /* --time */
	double older_than;	 /* --older-than, in seconds */
	bool all;		 /* --all */
	size_t top;		 /* --top: so many rows; 0: all */
	bool compare;		 /* --base, --base-time: sums of two recordings */
};

struct mt_analysis_request {
	bool listing;	      /* single events in time order rather than sums */
	bool stacks;	      /* with a stack column */
	struct mt_by_list by; /* the keys of sums */
	double interval;      /* where they have MT_BY_TIME */
	const char *weight;   /* the figure that orders rows; NULL: the table's own */
	bool unwind;	      /* the session has to give stacks */
	struct mt_at at;      /* as wished, and so below */
	struct mt_timespan time;
	double older_than;
	bool all;
	size_t top;
	bool compared; /* with another table of the same request */
};

/* The end of a span, as a moment; the recording's end where it is open. */
struct mt_at mt_at_end_of(const struct mt_timespan *time);

/* A usage error where the analysis cannot be shown so. */
struct mt_error *mt_request_make(const struct mt_analysis *analysis, const struct mt_output *output,
				 const struct mt_wishes *wishes, struct mt_analysis_request *out);

#endif
