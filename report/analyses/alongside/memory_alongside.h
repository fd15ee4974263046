/*
 * The memory in a recording, as tables for an output of another analysis, from the same reading of
 * the files. The summary shows these tables in addition to its own.
 *
 *	memory = mt_memory_listen(session, &time, by);
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
 * Call before the session's first sample is read. The session is borrowed, and must deliver stacks.
 * `by`: at most one key, which groups processes and paths.
 */
struct mt_memory_alongside *mt_memory_listen(struct mt_session *session,
					     const struct mt_timespan *time,
					     const struct mt_by_list *by);
void mt_memory_alongside_destroy(struct mt_memory_alongside *memory);

/* Makes the tables. */
struct mt_error *mt_memory_finish(struct mt_memory_alongside *memory);

/*
 * The tables that the recording has data for:
 *
 *	host		the host's gauges: before, now, least and most of each
 *	processes	--processes; one process that ended early, at its peak, if it grew most
 *	resident	--resident by process name and stack, of processes that live, ended with
 *			the recording, or grew most and ended; ended ones as of their peak;
 *			without the memory in `blocks`
 *	growth		--growth by process name and stack, counted for the holder
 *	verdict		--verdict by process and stack, or --leaks of the memory in `blocks`
 *	blocks		--blocks by process name and stack, of the same processes
 *	victims		processes that were OOM-killed, with their peak; 0: unknown
 */
const struct mt_named_table *mt_memory_tables(const struct mt_memory_alongside *memory,
					      size_t *count);

/* The gauges of the tables, borrowed as long as `memory` exists. */
const struct mt_gauge_log *mt_memory_gauges(const struct mt_memory_alongside *memory);

#endif
