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

/* The table of --growth; verdicts, which may be NULL, have judged. Borrows both. */
struct mt_error *mt_growth_with_verdicts(struct mt_session *session,
					 const struct mt_analysis_request *request,
					 struct mt_verdicts *verdicts, struct mt_table **out);

#endif
