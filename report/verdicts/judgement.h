/*
 * The verdicts on a recording's memory, for the screen, the page, --verdict and --leaks. If the
 * blocks of a process were recorded, verdicts on the paths that allocated them replace the verdict
 * on the heap and the verdicts on paths that map memory within a function of the allocator.
 *
 *	judgement = mt_judgement_begin(session, &options);
 *	mt_judgement_run(judgement);	or a caller's own ledger, and the session read to its end
 *	mt_judgement_end(judgement);	rows, heaviest first
 */
#ifndef MT_REPORT_VERDICTS_JUDGEMENT_H
#define MT_REPORT_VERDICTS_JUDGEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/verdicts/leaks.h"

struct mt_error;
struct mt_judgement;
struct mt_session;
struct mt_timespan;
struct mt_verdict_row;
struct mt_verdicts;

struct mt_judgement_options {
	bool stacks; /* judge each path by itself, else each process as a whole */
	const struct mt_timespan *time; /* borrowed */
	struct mt_leaks_also also;	/* another listener to live blocks; all NULL: none */
};

/* Call before the session's first sample. Borrows the session. */
struct mt_judgement *mt_judgement_begin(struct mt_session *session,
					const struct mt_judgement_options *options);
void mt_judgement_destroy(struct mt_judgement *judgement);

/* The verdicts on mapped memory, for a caller that runs the ledger: mt_verdicts_listen(). */
struct mt_verdicts *mt_judgement_mapped(struct mt_judgement *judgement);

/* Runs a ledger, and reads the session to its end. */
struct mt_error *mt_judgement_run(struct mt_judgement *judgement);

/* Makes the rows. Call once, after the session's end. */
void mt_judgement_end(struct mt_judgement *judgement);

/* The rows, most bytes first; borrowed. */
const struct mt_verdict_row *mt_judgement_rows(const struct mt_judgement *judgement, size_t *count);

/* The rows that come from blocks: --leaks. Borrowed. */
const struct mt_verdict_row *mt_judgement_leaks(const struct mt_judgement *judgement,
						size_t *count);

/* After mt_judgement_end(): lost records of allocators; true if there are verdicts on blocks. */
uint64_t mt_judgement_lost(const struct mt_judgement *judgement);
bool mt_judgement_has_blocks(const struct mt_judgement *judgement);

/*
 * After mt_judgement_end(): true if verdicts on blocks replace those on memory of a process: memory
 * of the heap, or memory that an allocator mapped, by the stack that reserved it.
 */
bool mt_judgement_is_of_blocks(void *judgement, int32_t pid, bool is_heap, uint32_t reserver);

#endif
