/*
 * --growth together with verdicts on the same memory, from one run of the ledger.
 */
#ifndef MT_REPORT_ANALYSES_GROWTH_H
#define MT_REPORT_ANALYSES_GROWTH_H

struct mt_analysis_request;
struct mt_error;
struct mt_session;
struct mt_table;
struct mt_verdicts;

/*
 * The same for a session that somebody else reads to its end in between. request and verdicts are
 * borrowed until the end.
 */
struct mt_growth_run;
struct mt_error *mt_growth_begin(struct mt_session *session,
				 const struct mt_analysis_request *request,
				 struct mt_verdicts *verdicts, struct mt_growth_run **out);
struct mt_error *mt_growth_end(struct mt_growth_run *run, struct mt_table **out);
void mt_growth_run_destroy(struct mt_growth_run *run);

/* The table of --growth; verdicts, which may be NULL, have judged. Borrows both. */
struct mt_error *mt_growth_with_verdicts(struct mt_session *session,
					 const struct mt_analysis_request *request,
					 struct mt_verdicts *verdicts, struct mt_table **out);

#endif
