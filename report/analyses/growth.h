/* --growth; for the summary from the same ledger run as verdicts on that memory. */
#ifndef MT_REPORT_ANALYSES_GROWTH_H
#define MT_REPORT_ANALYSES_GROWTH_H

struct mt_analysis_request;
struct mt_error;
struct mt_growth_run;
struct mt_session;
struct mt_table;
struct mt_verdicts;

/*
 * --growth of a session that another caller reads to its end between begin and end. With `verdicts`
 * these listen to the same ledger, and returned memory counts against the call that had reserved
 * it: each path's value is its part of the growth that is still held. All arguments are borrowed
 * until the run is destroyed.
 */
struct mt_error *mt_growth_begin(struct mt_session *session,
				 const struct mt_analysis_request *request,
				 struct mt_verdicts *verdicts, struct mt_growth_run **out);
struct mt_error *mt_growth_end(struct mt_growth_run *run, struct mt_table **out);
void mt_growth_run_destroy(struct mt_growth_run *run);

#endif
