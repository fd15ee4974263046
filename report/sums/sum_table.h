/*
 * A table of sums: rows with equal keys become one, its values added up.
 */
#ifndef MT_REPORT_SUMS_SUM_TABLE_H
#define MT_REPORT_SUMS_SUM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/tables/table.h"

struct mt_sum_table;

/* The most columns a group table has of each sort. */
#define MT_GROUPS_COLUMNS 16

/*
 * Takes the shape (name, columns, strings, stacks, frames) from `shape`; the names in its columns
 * are borrowed. NULL out of memory, or with more columns than MT_GROUPS_COLUMNS.
 */
struct mt_sum_table *mt_sum_table_create(const struct mt_table *shape);
void mt_sum_table_destroy(struct mt_sum_table *groups);

/*
 * Adds values (one for each value column) to the row of these keys (one for each key column); false
 * out of memory.
 */
bool mt_sum_table_add(struct mt_sum_table *groups, const uint64_t *keys,
		      const struct mt_value *values);

/* Figure `value` of rows that become one is the largest of theirs; before the first add. */
void mt_sum_table_most(struct mt_sum_table *groups, size_t value);

/*
 * Has a function set the bounds of each row's figures for a doubt that all rows share; nothing is
 * added after that. False out of memory.
 */
bool mt_sum_table_widen(struct mt_sum_table *groups,
			void (*widen)(void *context, const uint64_t *keys, struct mt_value *values),
			void *context);

/*
 * Shows a key otherwise: `rename` gives what stands in that column in the place of what rows are
 * told apart by. After the last add; false out of memory.
 */
bool mt_sum_table_rename(struct mt_sum_table *groups, size_t column,
			 uint64_t (*rename)(void *context, const uint64_t *keys), void *context);

/*
 * Orders the rows: by the first time column where there is one, then by the size of that figure,
 * largest first, whatever its sign; equal ones stay in order of first sight. Until the next add.
 * False out of memory.
 */
bool mt_sum_table_sort(struct mt_sum_table *groups, size_t value);

/* The table ends after so many rows. */
void mt_sum_table_limit(struct mt_sum_table *groups, size_t most);

/* The groups as a table, rows in order of first sight or as sorted; takes ownership. */
struct mt_table *mt_sum_table_table(struct mt_sum_table *groups);

#endif
