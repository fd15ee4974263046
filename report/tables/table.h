/*
 * Waist 2: what every analysis makes and every output takes. Typed key columns, value columns with
 * a low and a high, and rows read one after the other, so that a listing of millions is never held
 * in memory.
 */
#ifndef MT_REPORT_TABLES_TABLE_H
#define MT_REPORT_TABLES_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;
struct mt_frames;
struct mt_stacks;
struct mt_strings;

enum mt_key_kind {
	MT_KEY_STRING,	/* id in the table's strings */
	MT_KEY_STACK,	/* id in the table's stacks */
	MT_KEY_TIME,	/* ns: of a recording's clock, or since its beginning */
	MT_KEY_NUMBER,	/* pid, tid, cpu, a count; UINT64_MAX: not known */
	MT_KEY_ADDRESS, /* printed in hex */
	MT_KEY_SIGNED,	/* an int64_t; INT64_MIN: not known */
	MT_KEY_PATH,	/* a stack as a path of names; outputs make it (path_rows.h) */
};

struct mt_key_column {
	const char *name; /* one word: event, comm, stack, pid, time */
	enum mt_key_kind kind;
};

struct mt_value_column {
	const char *name; /* samples, period, bytes */
	const char *unit; /* samples, faults, ns, B */
};

/*
 * Figures are exact below 2^53. low and high bound it where losses make it uncertain; equal to
 * value where nothing does.
 */
struct mt_value {
	double value, low, high;
};

static inline struct mt_value mt_value_exact(double value)
{
	return (struct mt_value){value, value, value};
}

/* A row is borrowed until the next one is asked for. */
struct mt_row {
	const uint64_t *keys;	       /* one for each key column */
	const struct mt_value *values; /* one for each value column */
	/*
	 * Listings with stacks: the address of each frame of the row's (first) stack, as perf
	 * prints it; else NULL.
	 */
	const uint64_t *addresses;
	const uint8_t *sources; /* the same: what each frame rests on, enum mt_frame_source */
	const char *detail;	/* listings: what the event itself says, or NULL */
};

struct mt_table;

struct mt_table_ops {
	/* Goes back before the first row. */
	struct mt_error *(*rewind)(struct mt_table *table);
	/* The next row, or *more false. */
	struct mt_error *(*next)(struct mt_table *table, struct mt_row *out, bool *more);
	void (*destroy)(struct mt_table *table);
};

/* An analysis embeds this at the start of its own struct, or takes mt_sum_table (groups.h). */
struct mt_table {
	const struct mt_table_ops *ops;
	const char *name; /* of the analysis */
	bool listing;	  /* rows are single events in time order, not sums; can be read once */
	bool compared;	  /* the figures are a base's, what is now, and the change (comparison.h) */
	const struct mt_key_column *keys;
	size_t key_count;
	const struct mt_value_column *values;
	size_t value_count;
	uint32_t most; /* bit i: rows that become one have the largest of figure i, not the sum */
	uint32_t same_doubt; /* bit i: what figure i may be off by is the same in all rows */
	/*
	 * What the ids in the rows refer to; borrowed from the session, which outlives the table.
	 * stacks and frames may be NULL.
	 */
	struct mt_strings *strings;
	struct mt_stacks *stacks;
	struct mt_frames *frames;
};

/* NULL-safe. */
void mt_table_destroy(struct mt_table *table);

static inline struct mt_error *mt_table_rewind(struct mt_table *table)
{
	return table->ops->rewind(table);
}

static inline struct mt_error *mt_table_next(struct mt_table *table, struct mt_row *out, bool *more)
{
	return table->ops->next(table, out, more);
}

#define MT_COLUMN_NONE ((size_t)-1)

/*
 * Index of the key column of that name, the first of that kind, the value column of that name;
 * MT_COLUMN_NONE where there is none.
 */
size_t mt_table_key(const struct mt_table *table, const char *name);
size_t mt_table_key_of_kind(const struct mt_table *table, enum mt_key_kind kind);
size_t mt_table_value(const struct mt_table *table, const char *name);

/*
 * The value column that weighs rows: of that name; for NULL "bytes", else the first. A usage error
 * names the columns there are.
 */
struct mt_error *mt_table_weight(const struct mt_table *table, const char *name, size_t *out);

/* Adds the figures of a row to others, each as the table has it. */
void mt_table_add_values(const struct mt_table *table, struct mt_value *sums,
			 const struct mt_value *values);

/* The string of a row's MT_KEY_STRING column; "" for MT_COLUMN_NONE. */
const char *mt_table_string(const struct mt_table *table, const struct mt_row *row, size_t column);

#endif
