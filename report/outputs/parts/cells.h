/*
 * Formats the cells of any table as text.
 */
#ifndef MT_REPORT_OUTPUTS_CELLS_H
#define MT_REPORT_OUTPUTS_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/tables/limited_table.h"
#include "report/tables/text.h"

struct mt_error;
struct mt_paths;
struct mt_row;
struct mt_table;
struct mt_value;

/* True for stack and path columns, which mt_cell_path() reads. */
bool mt_cell_is_path(const struct mt_table *table, size_t column);

/*
 * The text of any other key: decimal numbers, addresses as 0x..., times in seconds with nine
 * digits. NULL: unknown. Other texts than strings are written to `room`.
 */
const char *mt_cell_text(const struct mt_table *table, const struct mt_row *row, size_t column,
			 struct mt_snippet *room);

/*
 * Rows of sums with their stacks replaced by paths of names: rows that differ only in call sites
 * within the same functions are merged.
 */
struct mt_path_rows {
	struct mt_paths *paths; /* NULL without a stack column */
	struct mt_table *table; /* table to read: `made` or the original, within the limits */
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

/*
 * The names of a stack, root first, as ids in mt_frames_strings(table->frames). Borrowed until the
 * rows are deinited.
 */
const uint32_t *mt_cell_path(const struct mt_path_rows *rows, const struct mt_row *row,
			     size_t column, size_t *count);

/*
 * The shortest text that reads back as the same double: "1234567", "0.5"; "" for NaN and
 * infinities.
 */
struct mt_snippet mt_cell_figure(double value);

/* A figure as "1,234,567", with bounds if inexact: "12 (10..15)", "-" for NaN. Returns `room`. */
#define MT_FIGURE_ROOM 160
const char *mt_figure_text(const struct mt_value *value, char room[MT_FIGURE_ROOM]);

/* Whether the table has rows of different events. Leaves the table at its first row. */
struct mt_error *mt_has_several_events(struct mt_table *table, bool *several);

/* True if both bounds equal the value, and for NaN. */
bool mt_value_is_exact(const struct mt_value *value);

#endif
