/*
 * The tables that a page of a whole recording shows in addition to --samples, from the same reading
 * of the files: all other analyses that sum up stacks and can listen, and figures over time.
 *
 *	tables = mt_recording_tables_listen(session, &how);
 *	...						the session is read to its end
 *	mt_recording_tables_finish(tables, gauges);
 *	mt_recording_tables_get(tables, &count);
 */
#ifndef MT_REPORT_ANALYSES_RECORDING_TABLES_H
#define MT_REPORT_ANALYSES_RECORDING_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "report/session/timespan.h"
#include "report/sums/group_keys.h"

struct mt_analysis;
struct mt_error;
struct mt_gauge_log;
struct mt_named_table;
struct mt_recording_tables;
struct mt_session;

struct mt_recording_how {
	const struct mt_analysis *const *analyses; /* all, NULL-terminated */
	struct mt_timespan time;		   /* --time, or the base's */
	bool compared; /* the tables will be compared: they have no intervals */
	bool part;     /* a part of the time is selected: no analysis of the state at the end */
};

/* Call before the session's first sample is read. Borrows the session, which must have stacks. */
struct mt_recording_tables *mt_recording_tables_listen(struct mt_session *session,
						       const struct mt_recording_how *how);
void mt_recording_tables_destroy(struct mt_recording_tables *tables);

/* Makes the tables. `gauges` may be NULL; then there are no figures over time. */
struct mt_error *mt_recording_tables_finish(struct mt_recording_tables *tables,
					    const struct mt_gauge_log *gauges);

/*
 * The tables that have rows, named after their analyses, and
 *
 *	gauges		by process and time, resident and mapped bytes as they were read
 *	host_gauges	of the first recording by time: available memory, swap, pressure, OOM kills
 *	marks		when a process called exec, and when the kernel killed one for want of
 *			memory
 */
struct mt_named_table *mt_recording_tables_get(struct mt_recording_tables *tables, size_t *count);

/*
 * The keys that a page can filter an analysis by: event, thread and kind of memory, as far as the
 * analysis knows them; with `timeline` the interval, if its rows add up over time; and the stack.
 */
struct mt_by_list mt_page_keys(const struct mt_analysis *analysis, bool timeline);

#endif
