/*
 * The rows of sums with their stacks as paths of names: what differs only in call sites within its
 * functions is one row.
 */
#ifndef MT_REPORT_OUTPUTS_PATH_ROWS_H
#define MT_REPORT_OUTPUTS_PATH_ROWS_H

#include <stdbool.h>
#include <stddef.h>

struct mt_error;
struct mt_paths;
struct mt_table;

struct mt_path_rows {
	struct mt_paths *paths; /* NULL where the table has no stacks */
	struct mt_table *table; /* to be read: `made`, or the table itself */
	struct mt_table *made;	/* with MT_KEY_PATH columns, or NULL */
};

/*
 * Names the frames and sums; a listing, and sums without stacks, stay as they are. `srcline` as
 * mt_paths_create() has it. Borrows the table. `out` is to be deinited whatever comes of it.
 */
struct mt_error *mt_path_rows_init(struct mt_table *table, bool srcline, size_t weight,
				   struct mt_path_rows *out);
void mt_path_rows_deinit(struct mt_path_rows *rows);

#endif
