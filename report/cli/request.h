/*
 * The request to an analysis, made from the analysis, the output and the command line before any
 * file is read.
 */
#ifndef MT_REPORT_CLI_REQUEST_H
#define MT_REPORT_CLI_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "report/session/timespan.h"
#include "report/sums/group_keys.h"
#include "report/tables/limited_table.h"

struct mt_analysis;
struct mt_analysis_request;
struct mt_error;
struct mt_output;
struct mt_suppressions;

/* Options of the command line on the table's shape. */
struct mt_wishes {
	struct mt_by_list by;		  /* --by; empty: the analysis's default */
	bool stacks;			  /* --stacks */
	bool timeline;			  /* --timeline */
	double interval;		  /* seconds of --timeline; 0: by the recording's length */
	unsigned int intervals;		  /* approximate number if interval is 0; 0: default */
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

/* Makes the request. Returns a usage error if analysis, output and options do not fit. */
struct mt_error *mt_request_make(const struct mt_analysis *analysis, const struct mt_output *output,
				 const struct mt_wishes *wishes, struct mt_analysis_request *out);

#endif
