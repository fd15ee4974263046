/*
 * --table: any table's rows, a column for each key and value, with stacks on separate lines below.
 * Columns of sums have the width of their widest cell; columns of a listing widen as it is printed.
 */
#include <inttypes.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/cells.h"
#include "report/stacks/frames.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

enum {
	COLUMNS_MOST = 32,
	GAP = 2,    /* between columns */
	INDENT = 8, /* of the functions of a stack */
};

struct columns {
	const struct mt_view *view;
	const struct mt_path_rows *rows;
	size_t widths[COLUMNS_MOST];
	size_t last; /* the last key that is not a stack; it may be long, so figures precede it */
	FILE *to;
};

static bool shows(const struct columns *columns, size_t value)
{
	return columns->view->weighed ? value == columns->view->value
				      : !(columns->rows->table->quiet_values >> value & 1);
}

/* True for keys that are shown in the row's line; a stack has separate lines. */
static bool shows_key(const struct mt_table *table, size_t column)
{
	return !mt_cell_is_path(table, column) && !(table->quiet_keys >> column & 1);
}

static bool is_number(const struct mt_table *table, size_t column)
{
	return table->keys[column].kind != MT_KEY_STRING;
}

/* A bucket: "64..128 us". */
static void write_span(uint64_t least, struct mt_snippet *room)
{
	if (least)
		snprintf(room->text, sizeof(room->text), "%" PRIu64 "..%" PRIu64 " us",
			 least / 1000, least / 1000 * 2);
	else
		snprintf(room->text, sizeof(room->text), "under 1 us");
}

static const char *key_text(const struct mt_table *table, const struct mt_row *row, size_t column,
			    struct mt_snippet *room)
{
	const char *text = row ? mt_cell_text(table, row, column, room) : table->keys[column].name;

	if (row && text && table->keys[column].kind == MT_KEY_TIME)
		room->text[strlen(room->text) - 3] = '\0'; /* microseconds suffice for display */
	if (row && table->keys[column].kind == MT_KEY_SPAN)
		write_span(row->keys[column], room);
	if (row && text && table->keys[column].kind == MT_KEY_BUCKET && row->keys[column] > 1)
		snprintf(room->text, sizeof(room->text), "%" PRIu64 "..%" PRIu64, row->keys[column],
			 row->keys[column] * 2 - 1);
	return text ? text : "-";
}

static void widen(size_t *width, const char *text)
{
	size_t length = mt_text_columns(text);

	*width = length > *width ? length : *width;
}

/* Widens the columns for a row, or for the column heads if row is NULL. */
static void measure(struct columns *columns, const struct mt_row *row)
{
	const struct mt_table *table = columns->rows->table;
	struct mt_snippet text;
	char figure[MT_FIGURE_ROOM];

	for (size_t i = 0; i < table->key_count; i++) {
		if (shows_key(table, i))
			widen(&columns->widths[i], key_text(table, row, i, &text));
	}
	for (size_t i = 0; i < table->value_count; i++)
		widen(&columns->widths[table->key_count + i],
		      row ? mt_figure_text(&row->values[i], figure) : table->values[i].name);
}

/* Prints the values flush right. */
static void print_values(const struct columns *columns, const struct mt_row *row)
{
	const struct mt_table *table = columns->rows->table;
	char figure[MT_FIGURE_ROOM];

	for (size_t i = 0; i < table->value_count; i++) {
		if (shows(columns, i))
			fprintf(columns->to, "%*s%*s", (int)columns->widths[table->key_count + i],
				row ? mt_figure_text(&row->values[i], figure)
				    : table->values[i].name,
				GAP, "");
	}
}

static void print_key(const struct columns *columns, const struct mt_row *row, size_t column)
{
	const struct mt_table *table = columns->rows->table;
	struct mt_snippet room;
	const char *text = key_text(table, row, column, &room);
	size_t length = mt_text_columns(text), width = columns->widths[column];
	int pad = length < width ? (int)(width - length) : 0;
	bool right = is_number(table, column);

	if (right)
		fprintf(columns->to, "%*s", pad, "");
	mt_text_print_clean(text, columns->to);
	if (column != columns->last)
		fprintf(columns->to, "%*s", (right ? 0 : pad) + GAP, "");
}

/* Prints the functions of a stack, innermost first. */
static void print_stack(const struct columns *columns, const struct mt_row *row, size_t column)
{
	struct mt_strings *names = mt_frames_strings(columns->rows->table->frames);
	size_t count;
	const uint32_t *path = mt_cell_path(columns->rows, row, column, &count);

	while (count--) {
		fprintf(columns->to, "%*s", INDENT, "");
		mt_text_print_clean(mt_strings_get(names, path[count]), columns->to);
		fputc('\n', columns->to);
	}
}

/* Prints a row, or the column heads if row is NULL. */
static void print_row(const struct columns *columns, const struct mt_row *row)
{
	const struct mt_table *table = columns->rows->table;

	for (size_t i = 0; i < table->key_count; i++) {
		if (i == columns->last)
			print_values(columns, row);
		if (shows_key(table, i))
			print_key(columns, row, i);
	}
	if (columns->last == MT_COLUMN_NONE)
		print_values(columns, row);
	fputc('\n', columns->to);
	for (size_t i = 0; row && i < table->key_count; i++) {
		if (mt_cell_is_path(table, i))
			print_stack(columns, row, i);
	}
}

static struct mt_error *walk(struct columns *columns, bool print)
{
	struct mt_error *err = NULL;
	struct mt_row row;

	while (!ferror(columns->to) && mt_table_read(columns->rows->table, &row, &err)) {
		if (!print || columns->rows->table->listing)
			measure(columns, &row);
		if (print)
			print_row(columns, &row);
	}
	return err;
}

/* Sets the columns of a listing to their usual maximum width. */
static void guess_widths(struct columns *columns)
{
	static const uint8_t usual[] = {
		[MT_KEY_STRING] = 8, [MT_KEY_STACK] = 0,    [MT_KEY_TIME] = 12,
		[MT_KEY_NUMBER] = 6, [MT_KEY_ADDRESS] = 14, [MT_KEY_SIGNED] = 8,
		[MT_KEY_PATH] = 0,   [MT_KEY_SPAN] = 12,    [MT_KEY_BUCKET] = 12,
	};
	const struct mt_table *table = columns->rows->table;

	for (size_t i = 0; i < table->key_count; i++)
		columns->widths[i] = usual[table->keys[i].kind];
	for (size_t i = 0; i < table->value_count; i++)
		columns->widths[table->key_count + i] = usual[MT_KEY_SIGNED];
}

static struct mt_error *write_columns(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	MT_CLEANUP(mt_path_rows_deinit) struct mt_path_rows rows = {0};
	struct columns columns = {.rows = &rows, .view = view, .last = MT_COLUMN_NONE, .to = to};
	struct mt_error *err;

	if (table->key_count + table->value_count > COLUMNS_MOST)
		return mt_error_create(MT_ERR_UNSUPPORTED, "--table: too many columns");
	err = mt_path_rows_init(table, view->srcline, view->value, &view->limit, &rows);
	for (size_t i = 0; i < table->key_count; i++)
		columns.last = shows_key(table, i) ? i : columns.last;
	if (!err && table->listing) {
		guess_widths(&columns);
	} else if (!err) {
		err = walk(&columns, false);
		err = err ? err : mt_table_rewind(rows.table);
	}
	if (err)
		return err;
	measure(&columns, NULL);
	print_row(&columns, NULL);
	return walk(&columns, true);
}

const struct mt_output mt_output_table = {
	.name = "table",
	.help = "a column for each key and each figure",
	.needs = MT_TAKES_KEYS | MT_TAKES_LISTING | MT_FOR_READERS | MT_LIMITS_ROWS,
	.write = write_columns,
};
