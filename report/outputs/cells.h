/*
 * The cells of any table as text, for outputs that show tables as they are.
 */
#ifndef MT_REPORT_OUTPUTS_CELLS_H
#define MT_REPORT_OUTPUTS_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/tables/text.h"

struct mt_path_rows;
struct mt_row;
struct mt_table;
struct mt_value;

/* True where the cell is a stack, and so read by mt_cell_path(). */
bool mt_cell_is_path(const struct mt_table *table, size_t column);

/*
 * The text of any other key: numbers in decimal, addresses as 0x..., times in seconds with nine
 * digits. NULL where it is not known. `room` holds what is no string; borrowed until it is used
 * again.
 */
const char *mt_cell_text(const struct mt_table *table, const struct mt_row *row, size_t column,
			 struct mt_snippet *room);

/*
 * The names of a stack, root first: ids in mt_frames_strings(table->frames). NULL with *count
 * SIZE_MAX out of memory. Borrowed until the rows end.
 */
const uint32_t *mt_cell_path(const struct mt_path_rows *rows, const struct mt_row *row,
			     size_t column, size_t *count);

/* A figure, whole where it is whole: "1234567", "0.5"; "" where it is no number. */
struct mt_snippet mt_cell_figure(double value);

/* "1,234,567", and, where it is not exact, what it is between: "12 (10..15)". Gives `room`. */
#define MT_FIGURE_ROOM 160
const char *mt_figure_text(const struct mt_value *value, char room[MT_FIGURE_ROOM]);

/* Whether nothing makes it uncertain. */
bool mt_value_is_exact(const struct mt_value *value);

#endif
