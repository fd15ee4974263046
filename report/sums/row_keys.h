/*
 * Groups rows by the keys of a request. An analysis passes the facts and values of one row after
 * another. Each is added to the row of the table with the same keys.
 *
 *	grouping = mt_row_keys_create(session, name, columns, count, request);
 *	for each sample:
 *		struct mt_row_facts facts = mt_row_facts_of(session, &sample);
 *		facts.kind = ...;			what only this analysis knows
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
	MT_ROW_GUEST, /* in a virtual machine: nothing else is known */
	MT_ROW_MODES
};

/* All facts that rows can be grouped by; the ones not in the request's keys are ignored. */
struct mt_row_facts {
	uint32_t event; /* index into facts->events of the session, or MT_EVENT_NONE */
	uint64_t time;	/* ns since the start of its recording */
	int32_t pid, tid;
	/* String ids: thread name, process name, cgroup, path of the program. */
	uint32_t comm, process, cgroup, exe;
	uint32_t cpu;	       /* UINT32_MAX: unknown */
	enum mt_row_mode mode; /* where the event happened */
	uint32_t kind, file;   /* string ids */
	uint32_t trend, life;  /* string ids */
	uint32_t size;	       /* string id */
	uint64_t took;	       /* ns; of a block: since its allocation */
	double field;	       /* of --weight */
	uint64_t segment, key; /* of shared memory: its id and key; UINT64_MAX: unknown */
	uint32_t maker;	       /* string id */
	uint32_t stack;	       /* or MT_STACK_NONE */
	uint32_t reserver;     /* stack that reserved the memory, or MT_STACK_NONE */
};

/* The facts of a sample; kind and file are set only if the session's options ask for them. */
struct mt_row_facts mt_row_facts_of(const struct mt_session *session,
				    const struct mt_session_sample *sample);

/*
 * Creates a grouping. The table borrows `name`, the names of columns and the session; the request
 * is copied.
 */
struct mt_row_keys *mt_row_keys_create(struct mt_session *session, const char *name,
				       const struct mt_value_column *values, size_t value_count,
				       const struct mt_analysis_request *request);
void mt_row_keys_destroy(struct mt_row_keys *grouping);

/* See mt_sum_table_most(). */
void mt_row_keys_most(struct mt_row_keys *grouping, size_t value);

/* Adds the values to the row of these facts. */
void mt_row_keys_add(struct mt_row_keys *grouping, const struct mt_row_facts *facts,
		     const struct mt_value *values);

/* See mt_sum_table_cluster(). */
void mt_row_keys_cluster(struct mt_row_keys *grouping, uint64_t cluster);

/*
 * Widens the bounds of memory values in tables with a stack column: `bytes` were attributed to the
 * stack `but` and may belong to any other stack. Call after the last add.
 */
void mt_row_keys_doubt_paths(struct mt_row_keys *grouping, const struct mt_value *bytes,
			     uint32_t but);

/*
 * Replaces the process names shown: `name` returns the string id for a pid and its process's string
 * id. Does nothing for tables without both columns. Call after the last add.
 */
void mt_row_keys_name_processes(struct mt_row_keys *grouping,
				uint32_t (*name)(void *context, int32_t pid, uint32_t process),
				void *context);

/*
 * Makes the table, heaviest row first, or in order of time with a time column. Takes ownership of
 * the grouping. A usage error if the request's weight is not a value column.
 */
struct mt_error *mt_row_keys_table(struct mt_row_keys *grouping, struct mt_table **out);

/*
 * Raises the upper bounds of all rows: `lost` more items may belong to each row, with the average
 * values of its own. `count` is the value column that counts the items. Call after the last add.
 */
void mt_row_keys_may_have(struct mt_row_keys *grouping, uint64_t lost, size_t count);

/* A sample's values: its count and its period in events. */
#define MT_SAMPLE_VALUES 2
extern const struct mt_value_column mt_sample_columns[MT_SAMPLE_VALUES];
void mt_sample_values(const struct mt_session_sample *sample,
		      struct mt_value out[MT_SAMPLE_VALUES]);

/*
 * Groups all samples of the session; lost samples widen the upper bounds. A weight that is neither
 * count nor period is a field of tracepoints and probes: its sum is a third value, of the samples
 * that have it. A usage error if no event has it.
 */
struct mt_error *mt_row_keys_of_samples(struct mt_session *session, const char *name,
					const struct mt_analysis_request *request,
					struct mt_table **out);

/* Values of memory: bytes, count and 4 KiB pages, which follow from the bytes. */
#define MT_MEMORY_VALUES 3
extern const struct mt_value_column mt_memory_columns[MT_MEMORY_VALUES];
void mt_memory_values(struct mt_value bytes, struct mt_value count,
		      struct mt_value out[MT_MEMORY_VALUES]);

#endif
