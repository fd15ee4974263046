/*
 * --growth, and the same for the summary: together with verdicts on the same memory, from one run
 * of the ledger.
 */
#ifndef MT_REPORT_ANALYSES_GROWTH_H
#define MT_REPORT_ANALYSES_GROWTH_H

struct mt_analysis_request;
struct mt_error;
struct mt_growth_run;
struct mt_session;
struct mt_table;
struct mt_verdicts;

/* Bytes that calls mapped and, below 0, gave back. */
struct mt_growth_sums {
	double mapped, returned;
};

/*
 * What is wanted beside the table of --growth. In the table what a call gave back is then on the
 * account of the call that had reserved it: each path's figure is what it holds of the growth.
 */
struct mt_growth_beside {
	struct mt_growth_sums *sums;
	struct mt_verdicts *verdicts; /* they have judged when there is a table */
};

/* The table of --growth; beside may be NULL. Borrows all. */
struct mt_error *mt_growth_run(struct mt_session *session,
			       const struct mt_analysis_request *request,
			       const struct mt_growth_beside *beside, struct mt_table **out);

/*
 * The same for a session that somebody else reads to its end in between. All is borrowed until the
 * end, but for *beside.
 */
struct mt_error *mt_growth_begin(struct mt_session *session,
				 const struct mt_analysis_request *request,
				 const struct mt_growth_beside *beside, struct mt_growth_run **out);
struct mt_error *mt_growth_end(struct mt_growth_run *run, struct mt_table **out);
void mt_growth_run_destroy(struct mt_growth_run *run);

#endif
