/* --blocks --all: allocated, freed and live blocks, and anomalies. */
#ifndef MT_REPORT_ANALYSES_BLOCK_TOTALS_H
#define MT_REPORT_ANALYSES_BLOCK_TOTALS_H

struct mt_analysis_request;
struct mt_error;
struct mt_session;
struct mt_table;

/* As an analysis's run. */
struct mt_error *mt_block_totals_run(struct mt_session *session,
				     const struct mt_analysis_request *request,
				     struct mt_table **out);

#endif
