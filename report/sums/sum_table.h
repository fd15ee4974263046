/*
 * A table of sums: rows with equal keys are merged, their values added up.
 */
#ifndef MT_REPORT_SUMS_SUM_TABLE_H
#define MT_REPORT_SUMS_SUM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/tables/table.h"

struct mt_sum_table;

/* Limit of key columns and of value columns. */
#define MT_GROUPS_COLUMNS 16

/*
 * Copies name, columns, strings, stacks and frames from `shape`; the columns' names are borrowed.
 * There are at most MT_GROUPS_COLUMNS key columns, and as many value columns.
 */
struct mt_sum_table *mt_sum_table_create(const struct mt_table *shape);
/* The same for a table without stacks. */
struct mt_sum_table *mt_sum_table_plain(const char *name, struct mt_strings *strings,
					const struct mt_key_column *keys, size_t key_count,
					const struct mt_value_column *values, size_t value_count);
void mt_sum_table_destroy(struct mt_sum_table *groups);

/*
 * Adds values, one for each value column, to the row with these keys, one for each key column.
 */
void mt_sum_table_add(struct mt_sum_table *groups, const uint64_t *keys,
		      const struct mt_value *values);

/*
 * The values of the next add are estimates from the sampled blocks of this cluster. All values of
 * one cluster in a row depend on one random choice, however many adds they come in. They must have
 * about the same size.
 */
void mt_sum_table_cluster(struct mt_sum_table *groups, uint64_t cluster);

/*
 * Makes merged rows keep the largest of value column `value`, not the sum. Call before the first
 * add.
 */
void mt_sum_table_most(struct mt_sum_table *groups, size_t value);

/*
 * Calls `widen` on each row to widen its values' bounds for a doubt that all rows share. Call after
 * the last add.
 */
void mt_sum_table_widen(struct mt_sum_table *groups,
			void (*widen)(void *context, const uint64_t *keys, struct mt_value *values),
			void *context);

/*
 * Shows the result of `rename` in this key column; rows still merge by the original key. Call after
 * the last add.
 */
void mt_sum_table_rename(struct mt_sum_table *groups, size_t column,
			 uint64_t (*rename)(void *context, const uint64_t *keys), void *context);

/*
 * Sorts rows by the first column of time, then by the first column of buckets, if there are such
 * columns, then by the absolute value of a value column, largest first. Equal rows stay in order of
 * insertion. An add undoes the sort.
 */
void mt_sum_table_sort(struct mt_sum_table *groups, size_t value);

/* Sorts rows by a key column, smallest first. Equal rows stay in order of insertion. */
void mt_sum_table_sort_key(struct mt_sum_table *groups, size_t column);

/* The sums as a table, in order of insertion or as sorted. The table's destroy frees both. */
struct mt_table *mt_sum_table_table(struct mt_sum_table *groups);

#endif
