/*
 * Rows about memory from what the ledger tells: who reserved it as the facts of a row, also where
 * that was no call.
 */
#ifndef MT_REPORT_ANALYSES_LEDGER_ROWS_H
#define MT_REPORT_ANALYSES_LEDGER_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/map64.h"
#include "report/ledger/ledger.h"
#include "report/sums/group_keys.h"
#include "report/sums/row_keys.h"

struct mt_analysis_request;
struct mt_session;

#define MT_BY_OF_MEMORY                                                                \
	(MT_BY_BIT(MT_BY_EVENT) | MT_BY_BIT(MT_BY_PROCESS) | MT_BY_BIT(MT_BY_THREAD) | \
	 MT_BY_BIT(MT_BY_COMM) | MT_BY_BIT(MT_BY_CGROUP) | MT_BY_BIT(MT_BY_KIND) |     \
	 MT_BY_BIT(MT_BY_FILE) | MT_BY_BIT(MT_BY_IMAGE) | MT_BY_BIT(MT_BY_STACK))

enum mt_ended_shown {
	MT_ENDED_REMARK, /* by a remark beside them */
	MT_ENDED_NAME,	 /* by the name of the process */
	MT_ENDED_SILENT, /* not at all: a process is the same one in both parts of a comparison */
};

/* Strings and stacks for them, made once; all zero before. */
struct mt_ledger_rows {
	struct mt_session *session;
	bool stacks;			 /* rows have them */
	enum mt_ended_shown ended;	 /* how rows tell of processes that ended */
	uint32_t kinds[MT_REGION_KINDS]; /* string id + 1 */
	uint32_t words[MT_ORIGIN_KINDS]; /* stack id + 1 */
	const struct mt_nature *last;	 /* what was asked for last, and its words: string ids */
	uint32_t last_kind, last_file;
	uint32_t process, marked; /* the last name that was marked, and its mark: string ids */
	bool execed;		  /* how */
	struct mt_map64 spaces;	  /* of pid and process, the last that was noted */
	const struct mt_ledger_space *noted; /* the last of all, and its process */
	uint32_t noted_name;
	int32_t noted_pid;
};

void mt_ledger_rows_deinit(struct mt_ledger_rows *rows);

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

/* How the rows of such a request tell it. */
enum mt_ended_shown mt_ledger_rows_ended(const struct mt_analysis_request *request);

/*
 * The name of a process that has ended says so: "ls [exited]", "sh [exec]". What it held is what
 * stood just before. False out of memory.
 */
bool mt_ledger_row_mark(struct mt_ledger_rows *rows, const struct mt_ledger_space *space,
			struct mt_row_facts *facts);

/*
 * The same where rows are made before it is known how their spaces end: each row is noted, and when
 * the ledger has run all are marked.
 */
bool mt_ledger_row_note(struct mt_ledger_rows *rows, const struct mt_ledger_space *space,
			const struct mt_row_facts *facts);
/* Of each space when it is known how it stood: remarks that it has ended. */
void mt_ledger_rows_stood(struct mt_ledger_rows *rows, const struct mt_ledger_space *space);
bool mt_ledger_rows_mark(struct mt_ledger_rows *rows, struct mt_row_keys *grouping);

#endif
