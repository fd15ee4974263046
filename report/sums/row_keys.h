/*
 * Sums by the keys of a request: an analysis hands in the facts and the figures of one row after
 * the other, and this finds the row of the table that they belong to.
 *
 *	mt_row_keys_create(session, &shape, request, &grouping);
 *	for each sample:
 *		struct mt_row_facts facts = mt_row_facts_of(session, &sample);
 *		facts.kind = ...;			what this analysis knows beside
 *		mt_row_keys_add(grouping, &facts, values);
 *	mt_row_keys_table(MT_TAKE(grouping), &table);	ordered by weight, or by time
 */
#ifndef MT_REPORT_SUMS_ROW_KEYS_H
#define MT_REPORT_SUMS_ROW_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/tables/table.h"

struct mt_analysis_request;
struct mt_error;
struct mt_row_keys;
struct mt_session;
struct mt_session_sample;

enum mt_row_mode {
	MT_ROW_USER,
	MT_ROW_KERNEL,
	MT_ROW_GUEST, /* in a virtual machine, of which nothing else is known */
	MT_ROW_MODES
};

/* What a row can be told apart by; what the request does not group by is not looked at. */
struct mt_row_facts {
	uint32_t event; /* index in the session's facts->events, or MT_EVENT_NONE */
	uint64_t time;	/* ns since the beginning of its recording */
	int32_t pid, tid;
	uint32_t comm, process, cgroup; /* string ids: of the thread, of its process */
	uint32_t cpu;			/* UINT32_MAX: not known */
	enum mt_row_mode mode;		/* where it happened */
	uint32_t kind, file;		/* string ids */
	uint32_t stack;			/* MT_STACK_NONE without */
	uint32_t reserver;		/* the same: of who reserved the memory */
};

/* All that a sample tells; kind and file where the session looked them up. */
struct mt_row_facts mt_row_facts_of(const struct mt_session *session,
				    const struct mt_session_sample *sample);

/*
 * The name and the value columns are the analysis's; both borrowed as long as the table, as is the
 * session. The request is read now.
 */
struct mt_error *mt_row_keys_create(struct mt_session *session, const char *name,
				    const struct mt_value_column *values, size_t value_count,
				    const struct mt_analysis_request *request,
				    struct mt_row_keys **out);
void mt_row_keys_destroy(struct mt_row_keys *grouping);

/* As mt_sum_table_most(). */
void mt_row_keys_most(struct mt_row_keys *grouping, size_t value);

/* False out of memory. */
bool mt_row_keys_add(struct mt_row_keys *grouping, const struct mt_row_facts *facts,
		     const struct mt_value *values);

/*
 * Bytes that went or came and are on the account of the stack `but`: any other path may have had
 * them, so that figures of memory told apart by stack are bounded by them. After the last add.
 * False out of memory.
 */
bool mt_row_keys_doubt_paths(struct mt_row_keys *grouping, const struct mt_value *bytes,
			     uint32_t but);

/*
 * Names processes otherwise than rows are told apart by: `name` gives a string id for that of a
 * process and its pid. Where rows have them; after the last add. False out of memory.
 */
bool mt_row_keys_name_processes(struct mt_row_keys *grouping,
				uint32_t (*name)(void *context, int32_t pid, uint32_t process),
				void *context);

/*
 * Everything as a table, heaviest row first, or, by time, in its order. Takes the grouping. A usage
 * error where the request's weight is no figure of it.
 */
struct mt_error *mt_row_keys_table(struct mt_row_keys *grouping, struct mt_table **out);

/* What a sample counts: itself, and the events of its period. */
#define MT_SAMPLE_VALUES 2
extern const struct mt_value_column mt_sample_columns[MT_SAMPLE_VALUES];
void mt_sample_values(const struct mt_session_sample *sample,
		      struct mt_value out[MT_SAMPLE_VALUES]);

/* All samples of the session, grouped. */
struct mt_error *mt_row_keys_of_samples(struct mt_session *session, const char *name,
					const struct mt_analysis_request *request,
					struct mt_table **out);

/* Figures of memory: exact bytes, as bytes, count and pages. */
#define MT_MEMORY_VALUES 3
extern const struct mt_value_column mt_memory_columns[MT_MEMORY_VALUES];
void mt_memory_values(struct mt_value bytes, struct mt_value count,
		      struct mt_value out[MT_MEMORY_VALUES]);

#endif
