/*
 * Rows of sums with their stacks replaced by paths of names: rows that differ only in call sites
 * within the same functions are merged.
 */
#ifndef MT_REPORT_OUTPUTS_PATH_ROWS_H
#define MT_REPORT_OUTPUTS_PATH_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/tables/limited_table.h"

struct mt_error;
struct mt_paths;
struct mt_table;

struct mt_path_rows {
	struct mt_paths *paths; /* NULL without a stack column */
	struct mt_table *table; /* table to read: the rows of `made`, or the original, in limits */
	struct mt_limited_table limited;
	struct mt_table *made; /* owned sums with MT_KEY_PATH columns, or NULL */
};

/*
 * Names the frames and merges rows. A listing, or sums without stacks, stay as they are. `srcline`
 * as in mt_paths_create(). `limit` applies to the merged rows. Borrows the table. Deinit `out`
 * after failure, too.
 */
struct mt_error *mt_path_rows_init(struct mt_table *table, bool srcline, size_t weight,
				   const struct mt_row_limit *limit, struct mt_path_rows *out);
void mt_path_rows_deinit(struct mt_path_rows *rows);

#endif
