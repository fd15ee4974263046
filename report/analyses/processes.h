/* The table of --processes, for callers that also read the gauges for other tables. */
#ifndef MT_REPORT_ANALYSES_PROCESSES_H
#define MT_REPORT_ANALYSES_PROCESSES_H

#include <stdbool.h>

struct mt_analysis_request;
struct mt_error;
struct mt_gauge_log;
struct mt_gauged_process;
struct mt_session;
struct mt_table;
struct mt_verdicts;

/* Additional data of --processes for the summary. */
struct mt_process_more {
	/* For the part of the mapped growth that is address space without access; or NULL. */
	const struct mt_verdicts *ledger;
	/* A process that ended early, and is shown at its peak; or NULL. */
	const struct mt_gauged_process *ended_largest;
};

/* Resident bytes at the peak, by the kernel's counts or the readings, whichever is larger. */
double mt_process_peak(const struct mt_gauged_process *process);

/*
 * The process that grew most to its peak, among processes that ended before the recording's last
 * moments, if no other process grew as much; else NULL. Borrowed from the gauges.
 */
const struct mt_gauged_process *mt_process_ended_largest(const struct mt_session *session,
							 const struct mt_gauge_log *gauges);

/* The table of --processes from gauges that the caller has read. */
struct mt_error *mt_process_table(struct mt_session *session, const struct mt_gauge_log *gauges,
				  const struct mt_process_more *more,
				  const struct mt_analysis_request *request, struct mt_table **out);

#endif
