/*
 * Growth, and verdicts on it, beside another analysis, from the same reading of the files: what the
 * summary has to say of memory, whatever else it shows.
 *
 *	mt_growth_listen(session, &time, &growth);
 *	...						the session is read to its end
 *	mt_growth_finish(&growth);
 */
#ifndef MT_REPORT_ANALYSES_GROWTH_BESIDE_H
#define MT_REPORT_ANALYSES_GROWTH_BESIDE_H

#include "report/analyses/growth.h"
#include "report/cli/request.h"

/* All zero before. */
struct mt_growth {
	struct mt_table *table; /* by thread name and stack; NULL where nothing is known */
	struct mt_growth_sums sums;
	struct mt_table *verdicts; /* on paths; NULL with it */
	/* Private: */
	struct mt_session *session;
	struct mt_analysis_request request;
	struct mt_verdicts *judges;
	struct mt_growth_run *run;
};

/* Before the session's first sample is asked for; it gives stacks, and outlives the tables. */
struct mt_error *mt_growth_listen(struct mt_session *session, const struct mt_timespan *time,
				  struct mt_growth *growth);

/* Makes the tables; none where no such call was selected. */
struct mt_error *mt_growth_finish(struct mt_growth *growth);

void mt_growth_deinit(struct mt_growth *growth);

#endif
