/*
 * What a recording says of memory, as tables beside those of another analysis and from the same
 * reading of the files: for the summary, which shows it whatever else it shows.
 *
 *	mt_memory_listen(session, &time, &memory);
 *	...					the session is read to its end
 *	mt_memory_finish(memory);
 *	mt_memory_tables(memory, &count);
 */
#ifndef MT_REPORT_ANALYSES_MEMORY_ALONGSIDE_H
#define MT_REPORT_ANALYSES_MEMORY_ALONGSIDE_H

#include <stdbool.h>
#include <stddef.h>

struct mt_by_list;
struct mt_error;
struct mt_gauge_log;
struct mt_memory_alongside;
struct mt_named_table;
struct mt_session;
struct mt_timespan;

/*
 * Before the session's first sample is asked for. The session gives stacks, and is borrowed. `by`:
 * one key at most, that groups processes and paths.
 */
struct mt_error *mt_memory_listen(struct mt_session *session, const struct mt_timespan *time,
				  const struct mt_by_list *by, struct mt_memory_alongside **out);
void mt_memory_alongside_destroy(struct mt_memory_alongside *memory);

/* Makes the tables. */
struct mt_error *mt_memory_finish(struct mt_memory_alongside *memory);

/*
 * Those of which the recording has something to say:
 *
 *	host		the host's gauges: before, now, least and most of each
 *	processes	--processes; of those that ended early one at its peak, if it grew most
 *	resident	--resident by process name and stack, of processes that live, or ended with
 *			the recording, or grew most and ended: those that ended at their peak;
 *			without what `blocks` has
 *	growth		--growth by process name and stack, on the account of who holds it
 *	verdict		--verdict by process and stack, or --leaks of what `blocks` has
 *	blocks		--blocks by process name and stack, of the same processes
 *	victims		processes that were OOM-killed, with their peak; 0: not known
 */
const struct mt_named_table *mt_memory_tables(const struct mt_memory_alongside *memory,
					      size_t *count);

/* The gauges that they are made from, as long as `memory`. */
const struct mt_gauge_log *mt_memory_gauges(const struct mt_memory_alongside *memory);

#endif
