/*
 * Growth, and verdicts on it, beside another analysis: from the same reading of the files, or from
 * a second one where the first needs no stacks. What the summary has to say of memory, whatever
 * else it shows.
 *
 *	mt_growth_listen(session, &options, &growth);
 *	...						the session is read to its end
 *	mt_growth_finish(&options, facts, &growth);
 */
#ifndef MT_REPORT_GROWTH_BESIDE_H
#define MT_REPORT_GROWTH_BESIDE_H

#include "report/request.h"

struct mt_error;
struct mt_facts;
struct mt_growth_run;
struct mt_session;
struct mt_session_options;
struct mt_table;
struct mt_verdicts;

/* All zero before. */
struct mt_growth {
	struct mt_table *table;	   /* by thread name and stack; NULL where nothing is known */
	struct mt_table *verdicts; /* on paths; NULL with it */
	/* Private: */
	struct mt_analysis_request request;
	struct mt_verdicts *judges;
	struct mt_growth_run *run;	/* NULL: nobody listened */
	struct mt_session *session;	/* of the second reading, or NULL */
	struct mt_session *listened_to; /* whichever it is */
};

/* Before the session's first sample is asked for; it was opened with these options. */
struct mt_error *mt_growth_listen(struct mt_session *session,
				  const struct mt_session_options *options,
				  struct mt_growth *growth);

/*
 * Makes the tables. None where no such call was selected, or where a second reading is needed and a
 * file cannot be read twice. `facts` are the session's; the first session outlives the tables.
 */
struct mt_error *mt_growth_finish(const struct mt_session_options *options,
				  const struct mt_facts *facts, struct mt_growth *growth);

/* Of the reading that the tables are from; NULL without. */
const struct mt_facts *mt_growth_facts(const struct mt_growth *growth);

void mt_growth_deinit(struct mt_growth *growth);

#endif
