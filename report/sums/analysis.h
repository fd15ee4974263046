/*
 * The plug point of analyses: struct mt_analysis, and the request that an analysis gets. The
 * analyses are listed in report/analyses/analyses.h.
 */
#ifndef MT_REPORT_SUMS_ANALYSIS_H
#define MT_REPORT_SUMS_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/session/timespan.h"
#include "report/sums/group_keys.h"

struct mt_error;
struct mt_session;
struct mt_suppressions;
struct mt_table;

struct mt_analysis_request {
	const char *argument;	/* the analysis's own value, borrowed; NULL if it takes none */
	bool listing;		/* rows are single events in time order, else sums */
	bool stacks;		/* the table has a stack column */
	struct mt_by_list by;	/* keys of sums */
	double interval;	/* seconds of an interval; 0: by the recording's length */
	unsigned int intervals; /* approximate number if interval is 0; 0: the default */
	bool page; /* for a page: grouping by kind of memory does not include more memory */
	bool even; /* make exactly `intervals`, even if their length is not round */
	const char *weight; /* value column that orders rows; NULL: the table's default */
	bool unwind;	    /* the session must give stacks */
	struct mt_at at;    /* this and below: as in struct mt_wishes of report/cli/request.h */
	struct mt_timespan time;
	double older_than;
	bool all;
	bool living;  /* leave out processes that ended before the recording's last moments */
	int32_t kept; /* pid of an ended process that is shown nevertheless, at its peak; 0: none */
	int32_t kept_second; /* pid of another process of that program, whose blocks are shown */
	bool compared;	     /* the table will be compared with a baseline's */
	struct mt_suppressions *suppress;
};

/* Number of intervals of a page of a whole recording. */
#define MT_PAGE_INTERVALS 500

/* An analysis that runs while its caller reads the session to its end. */
struct mt_listener {
	/* Makes the table, after the session's last sample. Call once. */
	struct mt_error *(*end)(struct mt_listener *listener, struct mt_table **out);
	void (*destroy)(struct mt_listener *listener);
};

struct mt_analysis {
	const char *name;     /* option name, without dashes */
	const char *argument; /* as --help shows the option's value; NULL: it has none */
	const char *help;     /* one line of --help: up to 52 characters */
	bool rare;	      /* only --help all lists it */
	bool groups, lists;   /* can make sums, listings */
	uint32_t by;	      /* MT_BY_BIT()s that --by accepts; 0: no --by */
	struct mt_by_list default_by;
	bool members;	   /* needs samples of group members that were only counted */
	bool events_apart; /* never adds up values of different events */
	bool (*wants)(const char *event); /* filters events by kernel name; NULL: all */
	bool regions;			  /* needs the region of each sample's address */
	unsigned int needs;		  /* enum mt_needs: the data that its figures need */
	const char *record;		  /* events to suggest for `mtrec -e`: "vm,rss" */
	bool judges;	    /* rows are verdicts, not sums: shown with stacks, never compared */
	bool moments;	    /* shows the state at a moment: accepts --at */
	bool ages;	    /* knows the age of memory: accepts --older-than */
	bool narrows;	    /* leaves out memory that --all shows */
	bool reported;	    /* also works on folded stacks, which have no addresses */
	bool states;	    /* rows need no samples */
	bool sources;	    /* needs stacks with the frames' sources */
	bool dumps;	    /* reads the samples' stack dumps */
	const char *output; /* default output; NULL: the first */
	/*
	 * Creates a listener, which runs while the caller reads the session to its end. Call before
	 * the session's first sample. Borrows all arguments until destroyed. With `alongside`,
	 * others read the session, too, so the listener must not narrow its events and stacks to
	 * those of this analysis. May be NULL if `run` is set.
	 */
	struct mt_listener *(*listen)(const struct mt_analysis *analysis,
				      struct mt_session *session,
				      const struct mt_analysis_request *request, bool alongside);
	const void *rows; /* data for `listen`: a struct mt_ledger_table, mt_block_table .. */
	bool alone;	  /* not for pages, which show the tables of all listeners */
	/*
	 * Makes the table, which borrows the session. Sums are complete; a listing reads the
	 * session as its rows are read. If NULL, mt_analysis_run() calls `listen` and reads the
	 * session.
	 */
	struct mt_error *(*run)(const struct mt_analysis *analysis, struct mt_session *session,
				const struct mt_analysis_request *request, struct mt_table **out);
};

/* Makes the table of an analysis that runs alone. */
struct mt_error *mt_analysis_run(const struct mt_analysis *analysis, struct mt_session *session,
				 const struct mt_analysis_request *request, struct mt_table **out);

/* Reads the session to its end, makes the listener's table, and destroys the listener. */
struct mt_error *mt_listener_run(struct mt_listener *listener, struct mt_session *session,
				 struct mt_table **out);

/* For `run`: sums of the session's samples. */
struct mt_error *mt_analysis_of_samples(const struct mt_analysis *analysis,
					struct mt_session *session,
					const struct mt_analysis_request *request,
					struct mt_table **out);

#endif
