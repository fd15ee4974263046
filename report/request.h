/*
 * What is asked of an analysis: settled from the analysis, the output and the words of the command
 * line, before anything is read.
 */
#ifndef MT_REPORT_REQUEST_H
#define MT_REPORT_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "report/by.h"

struct mt_analysis;
struct mt_error;
struct mt_output;

/* As the command line has it. */
struct mt_wishes {
	struct mt_by_list by; /* --by; empty: the analysis's own */
	bool stacks;	      /* --stacks */
	bool timeline;	      /* --timeline */
	double interval;      /* of it in seconds; 0: the recording's length decides */
	const char *weight;   /* --weight, or NULL */
};

struct mt_analysis_request {
	bool listing;	      /* single events in time order rather than sums */
	bool stacks;	      /* with a stack column */
	struct mt_by_list by; /* the keys of sums */
	double interval;      /* where they have MT_BY_TIME */
	const char *weight;   /* the figure that orders rows; NULL: the table's own */
	bool unwind;	      /* the session has to give stacks */
};

/* A usage error where the analysis cannot be shown so. */
struct mt_error *mt_request_make(const struct mt_analysis *analysis, const struct mt_output *output,
				 const struct mt_wishes *wishes, struct mt_analysis_request *out);

#endif
