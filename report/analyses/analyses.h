/*
 * The analyses: what a report can be about. Each makes a table from a session; one file and one row
 * in analyses.c adds one.
 */
#ifndef MT_REPORT_ANALYSES_ANALYSES_H
#define MT_REPORT_ANALYSES_ANALYSES_H

#include <stdbool.h>
#include <stddef.h>

#include "report/cli/request.h"

struct mt_error;
struct mt_session;
struct mt_table;

struct mt_analysis {
	const char *name; /* as on the command line, without dashes */
	const char *help;
	bool groups, lists; /* which shapes of table it can make */
	bool places;	    /* names addresses of its own: mt_session_place() */
	uint32_t by;	    /* what sums can be told apart by: MT_BY_BIT()s; 0: no --by */
	struct mt_by_list default_by;
	bool members;			  /* samples of events that others counted, too */
	bool events_apart;		  /* figures of different events are never one sum */
	bool (*wants)(const char *event); /* the events it is about, by kernel name; NULL: all */
	bool regions;	    /* the session looks up what is mapped at a sample's address */
	const char *record; /* of these, for who has none: "mmap,munmap" */
	bool judges;  /* rows are judgements, no sums: shown with stacks, and never compared */
	bool moments; /* shows what stands at one: --at */
	bool ages;    /* and knows since when: --older-than, --all */
	bool sources; /* reads what frames rest on: the session gives stacks with sources */
	const char *output; /* that shows it where none is named; NULL: the first */
	/*
	 * Makes the table. It borrows the session, which must outlive it. A grouped table is
	 * complete; a listing reads the session as it is read.
	 */
	struct mt_error *(*run)(struct mt_session *session,
				const struct mt_analysis_request *request, struct mt_table **out);
};

/* Ends in a NULL. The first is the default. */
extern const struct mt_analysis *const mt_analyses[];

/* NULL for a name that is none. */
const struct mt_analysis *mt_analysis_find(const char *name);

extern const struct mt_analysis mt_analysis_branches;
extern const struct mt_analysis mt_analysis_brks;
extern const struct mt_analysis mt_analysis_faults;
extern const struct mt_analysis mt_analysis_files;
extern const struct mt_analysis mt_analysis_maps;
extern const struct mt_analysis mt_analysis_mmaps;
extern const struct mt_analysis mt_analysis_growth;
extern const struct mt_analysis mt_analysis_outstanding;
extern const struct mt_analysis mt_analysis_resident;
extern const struct mt_analysis mt_analysis_samples;
extern const struct mt_analysis mt_analysis_unwind_report;
extern const struct mt_analysis mt_analysis_verdict;

#endif
