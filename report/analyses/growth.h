/* --growth; for the summary, made in the same run of a ledger as the verdicts on that memory. */
#ifndef MT_REPORT_ANALYSES_GROWTH_H
#define MT_REPORT_ANALYSES_GROWTH_H

struct mt_analysis_request;
struct mt_listener;
struct mt_session;
struct mt_verdicts;

/*
 * Makes --growth of a session that another caller reads to its end. The verdicts listen to the same
 * ledger. Returned memory counts against the call that had reserved it, so each path's value is its
 * part of the growth that is still held. All arguments are borrowed until the listener is
 * destroyed.
 */
struct mt_listener *mt_growth_listen(struct mt_session *session,
				     const struct mt_analysis_request *request,
				     struct mt_verdicts *verdicts);

#endif
