/*
 * The analyses: each makes a table from a session. One file and one row in analyses.c add an
 * analysis.
 */
#ifndef MT_REPORT_ANALYSES_ANALYSES_H
#define MT_REPORT_ANALYSES_ANALYSES_H

#include <stdbool.h>
#include <stddef.h>

#include "report/analyses/preconditions.h"
#include "report/cli/request.h"

struct mt_error;
struct mt_session;
struct mt_table;

/* An analysis that runs while another caller reads the session to its end. */
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
	bool places;	      /* resolves addresses itself: mt_session_place() */
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
	 * Makes the table, which borrows the session. Sums are complete; a listing reads the
	 * session as its rows are read.
	 */
	struct mt_error *(*run)(struct mt_session *session,
				const struct mt_analysis_request *request, struct mt_table **out);
	/*
	 * Runs the analysis while another one reads the session: call before the session's first
	 * sample. Borrows session and request until destroyed. NULL: it only runs alone.
	 */
	struct mt_error *(*listen)(struct mt_session *session,
				   const struct mt_analysis_request *request,
				   struct mt_listener **out);
};

/* NULL-terminated; the first is the default. */
extern const struct mt_analysis *const mt_analyses[];

extern const struct mt_analysis mt_analysis_blocks;
extern const struct mt_analysis mt_analysis_brks;
extern const struct mt_analysis mt_analysis_compaction;
extern const struct mt_analysis mt_analysis_faults;
extern const struct mt_analysis mt_analysis_files;
extern const struct mt_analysis mt_analysis_leaks;
extern const struct mt_analysis mt_analysis_map;
extern const struct mt_analysis mt_analysis_maps;
extern const struct mt_analysis mt_analysis_mmaps;
extern const struct mt_analysis mt_analysis_growth;
extern const struct mt_analysis mt_analysis_hugepages;
extern const struct mt_analysis mt_analysis_kernel_memory;
extern const struct mt_analysis mt_analysis_counts;
extern const struct mt_analysis mt_analysis_oom;
extern const struct mt_analysis mt_analysis_host;
extern const struct mt_analysis mt_analysis_latency;
extern const struct mt_analysis mt_analysis_outstanding;
extern const struct mt_analysis mt_analysis_processes;
extern const struct mt_analysis mt_analysis_reclaim;
extern const struct mt_analysis mt_analysis_resident;
extern const struct mt_analysis mt_analysis_samples;
extern const struct mt_analysis mt_analysis_shm;
extern const struct mt_analysis mt_analysis_swap;
extern const struct mt_analysis mt_analysis_temporary;
extern const struct mt_analysis mt_analysis_unwind_report;
extern const struct mt_analysis mt_analysis_verdict;

#endif
