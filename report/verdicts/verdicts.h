/*
 * Verdicts on every path that reserved memory, process by process, from what the ledger tells: fed
 * by whoever runs the ledger, so that a report which runs it anyway has them too.
 *
 *	mt_verdicts_create(session, true, &time, &verdicts);
 *	mt_verdicts_listen(verdicts, &options);
 *	mt_ledger_run(session, &options, &ledger);
 *	mt_verdicts_judge(verdicts);			rows, heaviest first
 */
#ifndef MT_REPORT_VERDICTS_VERDICTS_H
#define MT_REPORT_VERDICTS_VERDICTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/verdicts/verdict.h"

struct mt_error;
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
	uint32_t process; /* string id */
	uint32_t stack;	  /* one of the path's; MT_STACK_NONE without stacks */
};

/*
 * With stacks each path is judged by itself, else all of a process as one; what was reserved within
 * `time`, as it stood at its end. Borrows.
 */
struct mt_error *mt_verdicts_create(struct mt_session *session, bool stacks,
				    const struct mt_timespan *time, struct mt_verdicts **out);
void mt_verdicts_destroy(struct mt_verdicts *verdicts);

/* Sets all callbacks of the ledger that tell it what happens, and their context. */
void mt_verdicts_listen(struct mt_verdicts *verdicts, struct mt_ledger_options *options);

/* Who is told of changes, too; before the ledger runs. */
struct mt_verdicts_also {
	bool (*change)(void *context, const struct mt_ledger *ledger,
		       const struct mt_ledger_change *change);
	void *context;
};
void mt_verdicts_tell_also(struct mt_verdicts *verdicts, const struct mt_verdicts_also *also);

/* Once, after the ledger has run. */
struct mt_error *mt_verdicts_judge(struct mt_verdicts *verdicts);

/* Most bytes first; borrowed. */
const struct mt_verdict_row *mt_verdicts_rows(const struct mt_verdicts *verdicts, size_t *count);

#endif
