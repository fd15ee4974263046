/*
 * Every analysis makes a table, and every output takes one. A table has typed key columns, value
 * columns with bounds, and rows that are read one after the other, so that a listing of millions of
 * rows is never held in memory.
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
	MT_KEY_STRING,	/* id in table->strings */
	MT_KEY_STACK,	/* id in table->stacks */
	MT_KEY_TIME,	/* ns, of a recording's clock or since its start */
	MT_KEY_SPAN,	/* a length of time: least ns of its bucket (mt_span_bucket()) */
	MT_KEY_NUMBER,	/* pid, tid, cpu or a count; UINT64_MAX: unknown */
	MT_KEY_ADDRESS, /* printed in hex */
	MT_KEY_SIGNED,	/* an int64_t; INT64_MIN: unknown */
	MT_KEY_BUCKET,	/* the least number of a bucket: 0 or a power of two */
	MT_KEY_PATH,	/* a path of names in place of a stack, made by outputs (cells.h) */
};

/* The least ns of the bucket of a length of time. Buckets begin at 0, 1, 2, 4, 8 .. us. */
static inline uint64_t mt_span_bucket(uint64_t ns)
{
	return ns < 1000 ? 0 : (1ull << (63 - __builtin_clzll(ns / 1000))) * 1000;
}

/* The bucket of a number; UINT64_MAX for a negative number or NaN. */
static inline uint64_t mt_number_bucket(double number)
{
	if (!(number >= 0 && number < 0x1p64))
		return UINT64_MAX;
	return number < 1 ? 0 : 1ull << (63 - __builtin_clzll((uint64_t)number));
}

struct mt_key_column {
	const char *name; /* one word: event, comm, stack, pid, time */
	enum mt_key_kind kind;
};

struct mt_value_column {
	const char *name; /* samples, period, bytes */
	const char *unit; /* samples, faults, ns, B */
};

/*
 * A figure and its bounds. Losses and sampling make low and high differ from value; otherwise all
 * three are equal. Integers are exact below 2^53.
 */
struct mt_value {
	double value, low, high;
	double unseen;	 /* part of value that estimates what was not sampled; 0: exact */
	double variance; /* of `unseen` (estimate.h) */
	double skew;	 /* third central moment of `unseen` */
};

static inline struct mt_value mt_value_exact(double value)
{
	return (struct mt_value){.value = value, .low = value, .high = value};
}

/* A row's pointers are valid until the next call of next, rewind or destroy. */
struct mt_row {
	const uint64_t *keys;	       /* one for each key column */
	const struct mt_value *values; /* one for each value column */
	/*
	 * Listings with stacks: address and source of each frame of the row's first stack; else
	 * NULL. Addresses are as perf prints them.
	 */
	const uint64_t *addresses;
	const uint8_t *sources; /* enum mt_frame_source */
	const char *detail;	/* listings: the event's own fields as text, or NULL */
};

/* One of several tables that belong together. */
struct mt_named_table {
	const char *name;
	struct mt_table *table;
	const char *limits; /* the limit of its figures, one sentence; NULL: none is known */
};

struct mt_table;

struct mt_table_ops {
	/* Goes back to before the first row. */
	struct mt_error *(*rewind)(struct mt_table *table);
	/* Sets *out to the next row, or *more to false. */
	struct mt_error *(*next)(struct mt_table *table, struct mt_row *out, bool *more);
	void (*destroy)(struct mt_table *table);
};

/* An analysis embeds this struct at the start of its own, or uses mt_sum_table (sum_table.h). */
struct mt_table {
	const struct mt_table_ops *ops;
	const char *name; /* the analysis's name */
	bool listing; /* rows are single events in time order, which can be read once; else sums */
	bool ordered; /* sums with a given order, which outputs keep */
	bool by_weight;	   /* --by value or log2: the keys show the --weight figure */
	bool compared;	   /* the values are base, now and change (comparison.h) */
	double base_scale; /* of a comparison: the factor of the base's figures */
	uint64_t interval; /* sums with a time column: ns of each interval; 0: no such column */
	const struct mt_key_column *keys;
	size_t key_count;
	const struct mt_value_column *values;
	size_t value_count;
	uint32_t most;	     /* bit i: merging rows takes the largest of value i, not the sum */
	uint32_t same_doubt; /* bit i: rows share the doubt of value i; merging takes the widest */
	/*
	 * The tables that the rows' ids refer to, borrowed from the session, which must outlive the
	 * table. stacks and frames may be NULL.
	 */
	/* Bit i: --table leaves out key i, or value i, which only programs need. */
	uint32_t quiet_keys, quiet_values;
	/* A string key column that --paths prints on a separate line, without sums; 0: none. */
	size_t sentence;
	struct mt_strings *strings;
	struct mt_stacks *stacks;
	struct mt_frames *frames;
};

void mt_table_destroy(struct mt_table *table);

static inline struct mt_error *mt_table_rewind(struct mt_table *table)
{
	return table->ops->rewind(table);
}

static inline struct mt_error *mt_table_next(struct mt_table *table, struct mt_row *out, bool *more)
{
	return table->ops->next(table, out, more);
}

/*
 * Reads the next row, for loops: while (mt_table_read(table, &row, &err)). False after the last
 * row, and if *err is set, now or before the call.
 */
static inline bool mt_table_read(struct mt_table *table, struct mt_row *out, struct mt_error **err)
{
	bool more = false;

	if (!*err)
		*err = mt_table_next(table, out, &more);
	return !*err && more;
}

/* Whether the table has no row; true after a failure. Leaves the table at its first row. */
struct mt_error *mt_table_is_empty(struct mt_table *table, bool *empty);

#define MT_COLUMN_NONE ((size_t)-1)

/*
 * Index of the key column of this name, the first key column of this kind, or the value column of
 * this name; MT_COLUMN_NONE if there is none.
 */
size_t mt_table_key(const struct mt_table *table, const char *name);
size_t mt_table_key_of_kind(const struct mt_table *table, enum mt_key_kind kind);
size_t mt_table_value(const struct mt_table *table, const char *name);

/*
 * Index of the value column that rows are ordered by: the one called `name`; if that is NULL,
 * "bytes", or the first if there is no "bytes". The usage error for an unknown name lists the known
 * ones.
 */
struct mt_error *mt_table_weight(const struct mt_table *table, const char *name, size_t *out);

/* Adds a row's values to sums, as the bits in `most` and `same_doubt` require. */
void mt_table_add_values(const struct mt_table *table, struct mt_value *sums,
			 const struct mt_value *values);

/* The string of a row's MT_KEY_STRING column; "" for MT_COLUMN_NONE. */
const char *mt_table_string(const struct mt_table *table, const struct mt_row *row, size_t column);

/* A row's string or figure by the name of its column; "" or 0 if there is no such column. */
const char *mt_table_text(const struct mt_table *table, const struct mt_row *row, const char *name);
double mt_table_figure(const struct mt_table *table, const struct mt_row *row, const char *name);

#endif
