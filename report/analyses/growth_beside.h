/*
 * Growth and verdicts for the summary, computed while another analysis reads the session.
 *
 *	mt_growth_listen(session, &time, &growth);
 *	...						the session is read to its end
 *	mt_growth_finish(&growth);
 */
#ifndef MT_REPORT_ANALYSES_GROWTH_BESIDE_H
#define MT_REPORT_ANALYSES_GROWTH_BESIDE_H

#include "report/analyses/growth.h"
#include "report/cli/request.h"

/* Zero-initialize before mt_growth_listen(). */
struct mt_growth {
	struct mt_table *table; /* by thread name and stack; NULL without data */
	struct mt_growth_sums sums;
	struct mt_table *verdicts; /* by path; NULL without data */
	/* Private: */
	struct mt_session *session;
	struct mt_analysis_request request;
	struct mt_verdicts *judges;
	struct mt_growth_run *run;
};

/* Call before the session's first sample. The session must have stacks and outlive the tables. */
struct mt_error *mt_growth_listen(struct mt_session *session, const struct mt_timespan *time,
				  struct mt_growth *growth);

/* Makes the tables; they stay NULL if no exit of such a call was selected. */
struct mt_error *mt_growth_finish(struct mt_growth *growth);

void mt_growth_deinit(struct mt_growth *growth);

#endif
