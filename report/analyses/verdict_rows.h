/*
 * The table of --verdict.
 */
#ifndef MT_REPORT_ANALYSES_VERDICT_ROWS_H
#define MT_REPORT_ANALYSES_VERDICT_ROWS_H

struct mt_analysis_request;
struct mt_error;
struct mt_session;
struct mt_table;
struct mt_verdicts;

/* Makes the table of judged verdicts; borrows the session. */
struct mt_error *mt_verdict_table(struct mt_session *session,
				  const struct mt_analysis_request *request,
				  const struct mt_verdicts *verdicts, struct mt_table **out);

#endif
