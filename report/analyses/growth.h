/*
 * --growth; for the summary, growth and verdicts on the same memory from one run of the ledger.
 */
#ifndef MT_REPORT_ANALYSES_GROWTH_H
#define MT_REPORT_ANALYSES_GROWTH_H

struct mt_analysis_request;
struct mt_error;
struct mt_growth_run;
struct mt_session;
struct mt_table;
struct mt_verdicts;

/*
 * Additional results. With them, returned memory counts against the call that had reserved it: each
 * path's value is its share of the growth that is still held.
 */
struct mt_growth_beside {
	struct mt_verdicts *verdicts; /* judged by mt_growth_run() or mt_growth_end() */
};

/* Makes the table of --growth; `beside` may be NULL. Borrows all. */
struct mt_error *mt_growth_run(struct mt_session *session,
			       const struct mt_analysis_request *request,
			       const struct mt_growth_beside *beside, struct mt_table **out);

/*
 * The same for a session that another caller reads to its end between begin and end. Everything but
 * *beside is borrowed until the run is destroyed.
 */
struct mt_error *mt_growth_begin(struct mt_session *session,
				 const struct mt_analysis_request *request,
				 const struct mt_growth_beside *beside, struct mt_growth_run **out);
struct mt_error *mt_growth_end(struct mt_growth_run *run, struct mt_table **out);
void mt_growth_run_destroy(struct mt_growth_run *run);

#endif
