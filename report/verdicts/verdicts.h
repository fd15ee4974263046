/*
 * Verdicts on every path that reserved memory, by process, from the ledger's changes. The caller
 * runs the ledger, so a report that needs a ledger anyway gets verdicts from the same run.
 *
 *	verdicts = mt_verdicts_create(session, true, &time);
 *	mt_verdicts_listen(verdicts, &options);
 *	ledger = mt_ledger_begin(session, &options, false);
 *	mt_verdicts_judge(verdicts);			rows, heaviest first
 */
#ifndef MT_REPORT_VERDICTS_VERDICTS_H
#define MT_REPORT_VERDICTS_VERDICTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/verdicts/verdict.h"

struct mt_error;
struct mt_extent;
struct mt_extents;
struct mt_ledger;
struct mt_ledger_change;
struct mt_ledger_options;
struct mt_ledger_space;
struct mt_session;
struct mt_timespan;
struct mt_verdicts;

/* One path of one process. */
struct mt_verdict_row {
	struct mt_verdict verdict;
	int32_t pid;
	bool ended_early;	   /* the process ended before the last moments of the recording */
	bool of_heap;		   /* memory of a heap; other paths may keep its blocks */
	uint32_t process;	   /* string id of the process's name */
	uint32_t stack;		   /* one stack of the path, or MT_STACK_NONE */
	struct mt_heap_parts heap; /* the allocator's memory; .mapped is 0 in other rows */
};

/* Sorts rows, most bytes first. */
void mt_verdict_rows_sort(struct mt_verdict_row *rows, size_t count);

/*
 * Judges memory reserved within `time` that is held at the end of `time`: each path separately with
 * `stacks`, else each process as a whole. Borrows session and time.
 */
struct mt_verdicts *mt_verdicts_create(struct mt_session *session, bool stacks,
				       const struct mt_timespan *time);
void mt_verdicts_destroy(struct mt_verdicts *verdicts);

/* Sets the callbacks of the ledger's options and their context. */
void mt_verdicts_listen(struct mt_verdicts *verdicts, struct mt_ledger_options *options);

/*
 * Bytes by which a process's address space without access (PROT_NONE) grew; is_new: from 0. Returns
 * 0 if the ledger did not see the process.
 */
double mt_verdicts_closed_growth(const struct mt_verdicts *verdicts, uint32_t recording,
				 int32_t pid, bool is_new);

/* A second listener to changes of memory with some access; set before the ledger's run. */
struct mt_verdicts_also {
	void (*change)(void *context, const struct mt_ledger *ledger,
		       const struct mt_ledger_change *change);
	void *context;
};
void mt_verdicts_report_also(struct mt_verdicts *verdicts, const struct mt_verdicts_also *also);

/* A listener to the remaining regions of each space; set before the ledger's run. */
struct mt_verdicts_regions {
	/*
	 * Called for each writable region that is the heap, or private and anonymous. is_older:
	 * older than the recording. touched: bytes of pages in use (NAN: unknown). done() is called
	 * after the last region of the space.
	 */
	void (*region)(void *context, const struct mt_ledger_space *space,
		       const struct mt_extent *region, bool is_heap, bool is_older, double touched);
	void (*done)(void *context, const struct mt_ledger_space *space);
	void *context;
};
void mt_verdicts_report_regions(struct mt_verdicts *verdicts,
				const struct mt_verdicts_regions *regions);

/* Makes the rows. Call once, after the ledger's run. */
void mt_verdicts_judge(struct mt_verdicts *verdicts);

/* The rows, most bytes first; borrowed. */
const struct mt_verdict_row *mt_verdicts_rows(const struct mt_verdicts *verdicts, size_t *count);

#endif
