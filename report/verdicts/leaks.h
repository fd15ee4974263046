/*
 * Verdicts on every path that allocated blocks, by process; and, if a ledger runs, on the memory
 * that the allocator of each process has mapped.
 *
 *	mt_leaks_create(session, &leaks);
 *	mt_leaks_listen(leaks, &blocks_options);
 *	mt_leaks_listen_regions(leaks, verdicts);	with a ledger
 *	...						the session is read to its end
 *	mt_leaks_judge(leaks);				rows, heaviest first
 */
#ifndef MT_REPORT_VERDICTS_LEAKS_H
#define MT_REPORT_VERDICTS_LEAKS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/verdicts/verdicts.h"

struct mt_block;
struct mt_blocks_options;
struct mt_blocks_space;
struct mt_error;
struct mt_leaks;
struct mt_origin;
struct mt_session;

/* Judges each path by itself with `stacks`, else each process as a whole. Borrows the session. */
struct mt_leaks *mt_leaks_create(struct mt_session *session, bool stacks);
void mt_leaks_destroy(struct mt_leaks *leaks);

/* Sets the callbacks of the options and their context. */
void mt_leaks_listen(struct mt_leaks *leaks, struct mt_blocks_options *options);
/* A second listener to each live block, as in struct mt_blocks_options. */
struct mt_leaks_also {
	void (*block)(void *context, const struct mt_blocks_space *space,
		      const struct mt_origin *origin, const struct mt_block *block, bool doubtful);
	void *context;
};
void mt_leaks_report_also(struct mt_leaks *leaks, const struct mt_leaks_also *also);
/* Also takes mapped regions. Call before the ledger's run, with verdicts of the same session. */
void mt_leaks_listen_regions(struct mt_leaks *leaks, struct mt_verdicts *verdicts);

/* Makes the rows. Call once, after the session's end. */
void mt_leaks_judge(struct mt_leaks *leaks);

/*
 * Rows of paths with live blocks, and a row of the stack [heap] for each process whose allocator's
 * memory is known; most bytes first; borrowed.
 */
const struct mt_verdict_row *mt_leaks_rows(const struct mt_leaks *leaks, size_t *count);

#endif
