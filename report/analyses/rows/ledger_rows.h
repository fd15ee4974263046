/* Turns origins and region attributes of the ledger into facts of rows. */
#ifndef MT_REPORT_ANALYSES_LEDGER_ROWS_H
#define MT_REPORT_ANALYSES_LEDGER_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/map64.h"
#include "report/ledger/ledger.h"
#include "report/sums/analysis.h"
#include "report/sums/group_keys.h"
#include "report/sums/row_keys.h"

struct mt_analysis_request;
struct mt_ledger_run;
struct mt_session;
struct mt_strings;

#define MT_BY_OF_MEMORY                                                                 \
	(MT_BY_BIT(MT_BY_EVENT) | MT_BY_BIT(MT_BY_PROCESS) | MT_BY_BIT(MT_BY_THREAD) |  \
	 MT_BY_BIT(MT_BY_COMM) | MT_BY_BIT(MT_BY_CGROUP) | MT_BY_BIT(MT_BY_CONTAINER) | \
	 MT_BY_BIT(MT_BY_KIND) | MT_BY_BIT(MT_BY_FILE) | MT_BY_BIT(MT_BY_IMAGE) |       \
	 MT_BY_BIT(MT_BY_STACK))

enum mt_ended_shown {
	MT_ENDED_REMARK, /* by one remark for all rows */
	MT_ENDED_NAME,	 /* in the process name */
	MT_ENDED_SILENT, /* not shown, because comparisons match processes by name */
};

/* Cached strings and stacks of rows; zero-initialize. */
struct mt_ledger_rows {
	struct mt_session *session;
	bool stacks;			 /* rows have stacks */
	enum mt_ended_shown ended;	 /* how rows show processes that ended */
	uint32_t kinds[MT_REGION_KINDS]; /* string id + 1 */
	/* Stack id + 1; the last is for calls that were recorded without a stack. */
	uint32_t words[MT_ORIGIN_KINDS + 1];
	const struct mt_region_attrs *last; /* attributes of the last row, with its string ids */
	uint32_t last_kind, last_file;
	uint32_t process, marked; /* last name that was marked, and the result: string ids */
	bool execed;		  /* `marked` says exec, not exited */
	struct mt_map64 spaces;	  /* noted spaces; also pid and process to the last noted space */
	const struct mt_ledger_space *noted; /* last space noted, with its process */
	uint32_t noted_name;
	int32_t noted_pid;
};

void mt_ledger_rows_deinit(struct mt_ledger_rows *rows);

/*
 * The bytes of a change, negative if unmapped. If it is unknown whether the range changed, only the
 * bounds differ from 0.
 */
static inline struct mt_value mt_ledger_change_bytes(const struct mt_change *change)
{
	double size = (double)(change->end - change->start);

	return change->sign ? mt_value_exact(change->sign * size)
			    : (struct mt_value){.low = -size, .high = size};
}

/* The facts of a row about memory with this origin and these attributes. */
struct mt_row_facts mt_ledger_row_facts(struct mt_ledger_rows *rows, const struct mt_ledger *ledger,
					const struct mt_origin *origin,
					const struct mt_region_attrs *attrs, uint32_t recording,
					uint64_t time);

/* The facts of a row about the task and the path of an origin. */
struct mt_row_facts mt_origin_row_facts(struct mt_ledger_rows *rows,
					const struct mt_origin *origin);

/* How rows of this request show processes that ended. */
enum mt_ended_shown mt_ledger_rows_ended(const struct mt_analysis_request *request);

/* The string id of "ls [exited]" or "ls [exec]". `process` is that of "ls". */
uint32_t mt_ended_name(struct mt_strings *strings, uint32_t process, bool execed);

/*
 * Marks a row whose process ended, as rows->ended says: "ls [exited]", "sh [exec]". Its values are
 * those of the moment before.
 */
void mt_ledger_row_mark(struct mt_ledger_rows *rows, const struct mt_ledger_space *space,
			struct mt_row_facts *facts);
/* The same, if the caller knows whether the process called exec or exited. */
void mt_row_mark_ended(struct mt_ledger_rows *rows, bool execed, struct mt_row_facts *facts);

/*
 * The same for rows made before the end of their space is known: note each row, call
 * mt_ledger_rows_add_remaining() for each space, and mark all rows after the ledger's run.
 */
void mt_ledger_row_note(struct mt_ledger_rows *rows, const struct mt_ledger_space *space,
			const struct mt_row_facts *facts);
/* Call for each space within the ledger's `remaining`. */
void mt_ledger_rows_add_remaining(struct mt_ledger_rows *rows, const struct mt_ledger_space *space);
void mt_ledger_rows_mark(struct mt_ledger_rows *rows, struct mt_row_keys *grouping);

/* An analysis of the ledger. Its struct begins with a struct mt_ledger_run. */
struct mt_ledger_table {
	size_t size; /* of the struct of the analysis */
	const struct mt_value_column *values;
	size_t value_count;
	uint32_t most; /* bit i: merging rows takes the largest of value i */
	/*
	 * Sets run->options and the remaining fields of the struct, zeroed before. The callbacks
	 * get the struct as their context.
	 */
	void (*set_up)(struct mt_ledger_run *run);
	void (*end)(struct mt_ledger_run *run);	    /* adds the last rows; or NULL */
	void (*destroy)(struct mt_ledger_run *run); /* or NULL */
};

struct mt_ledger_run {
	struct mt_listener listener; /* first: ops get a pointer to it */
	const struct mt_ledger_table *of;
	const struct mt_analysis *analysis;
	const struct mt_analysis_request *request;
	bool timeline; /* rows have intervals */
	struct mt_ledger_rows rows;
	struct mt_row_keys *grouping; /* taken at the end */
	size_t value_count;	      /* set_up may reduce it */
	struct mt_ledger_options options;
	struct mt_ledger *ledger;
};

/* Makes a run, and begins its ledger. Then the caller reads the session to its end. */
struct mt_ledger_run *mt_ledger_run_create(const struct mt_analysis *analysis,
					   struct mt_session *session,
					   const struct mt_analysis_request *request);
struct mt_listener *mt_ledger_run_begin(struct mt_ledger_run *run, bool alongside);
/* Makes and begins a run: the `listen` of analyses whose `rows` is a struct mt_ledger_table. */
struct mt_listener *mt_ledger_table_listen(const struct mt_analysis *analysis,
					   struct mt_session *session,
					   const struct mt_analysis_request *request,
					   bool alongside);

/*
 * A call (mprotect) gave memory its first access: the memory moves from the call that had reserved
 * it to this call. Returns the change of the former call, stored in `less`. `post` is the change of
 * this call.
 */
struct mt_ledger_change mt_ledger_access_from(const struct mt_ledger *ledger,
					      const struct mt_ledger_change *post,
					      struct mt_change *less);

#endif
