/*
 * Rows about memory from what the ledger tells: who reserved it as the facts of a row, also where
 * that was no call.
 */
#ifndef MT_REPORT_ANALYSES_LEDGER_ROWS_H
#define MT_REPORT_ANALYSES_LEDGER_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/by.h"
#include "report/grouping.h"
#include "report/ledger/ledger.h"

struct mt_session;

#define MT_BY_OF_MEMORY                                                                \
	(MT_BY_BIT(MT_BY_EVENT) | MT_BY_BIT(MT_BY_PROCESS) | MT_BY_BIT(MT_BY_THREAD) | \
	 MT_BY_BIT(MT_BY_COMM) | MT_BY_BIT(MT_BY_CGROUP) | MT_BY_BIT(MT_BY_KIND) |     \
	 MT_BY_BIT(MT_BY_FILE) | MT_BY_BIT(MT_BY_IMAGE) | MT_BY_BIT(MT_BY_STACK))

/* Strings and stacks for them, made once; all zero before. */
struct mt_ledger_rows {
	struct mt_session *session;
	bool stacks;			 /* rows have them */
	uint32_t kinds[MT_REGION_KINDS]; /* string id + 1 */
	uint32_t words[MT_ORIGIN_KINDS]; /* stack id + 1 */
	const struct mt_nature *last;	 /* what was asked for last, and its words: string ids */
	uint32_t last_kind, last_file;
};

/* Bytes that came or, below 0, went; of what may or may not have changed only the bounds move. */
static inline struct mt_value mt_ledger_change_bytes(const struct mt_change *change)
{
	double size = (double)(change->end - change->start);

	return change->sign ? mt_value_exact(change->sign * size)
			    : (struct mt_value){0, -size, size};
}

/* The facts of a row about memory of this origin and nature; false out of memory. */
bool mt_ledger_row_facts(struct mt_ledger_rows *rows, const struct mt_ledger *ledger,
			 const struct mt_origin *origin, const struct mt_nature *nature,
			 uint32_t recording, uint64_t time, struct mt_row_facts *out);

#endif
