/*
 * --csv: a header line, then a line for each row, quoted as in RFC 4180. A value column of sums
 * that is inexact in any row is followed by _low and _high columns.
 */
#include <stdint.h>
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
	FIGURES_MOST = 32,
};

struct csv {
	const struct mt_view *view;
	const struct mt_path_rows *rows;
	bool uncertain[FIGURES_MOST];
	FILE *to;
};

/*
 * Writes text in quotes, made safe to show. Names in a path are separated by semicolons, so
 * semicolons inside names are replaced.
 */
static void put_quoted(const char *text, bool in_path, FILE *to)
{
	while (*text) {
		size_t size;
		const char *character = mt_text_take(&text, &size);

		if (*character == '"')
			fputc('"', to);
		fwrite(in_path && *character == ';' ? ":" : character, 1, size, to);
	}
}

/* Writes a field, quoted if it contains a delimiter. */
static void put_text(const char *text, FILE *to)
{
	if (!text[strcspn(text, ",\"")]) {
		mt_text_print_clean(text, to);
		return;
	}
	fputc('"', to);
	put_quoted(text, false, to);
	fputc('"', to);
}

static void put_path(const struct csv *csv, const struct mt_row *row, size_t column)
{
	struct mt_strings *names = mt_frames_strings(csv->rows->table->frames);
	size_t count;
	const uint32_t *path = mt_cell_path(csv->rows, row, column, &count);

	fputc('"', csv->to);
	for (size_t i = 0; i < count; i++) {
		if (i)
			fputc(';', csv->to);
		put_quoted(mt_strings_get(names, path[i]), true, csv->to);
	}
	fputc('"', csv->to);
}

static void put_figure(const struct csv *csv, const struct mt_value *value, bool comma,
		       bool uncertain)
{
	fprintf(csv->to, "%s%s", comma ? "," : "", mt_cell_figure(value->value).text);
	if (uncertain)
		fprintf(csv->to, ",%s,%s", mt_cell_figure(value->low).text,
			mt_cell_figure(value->high).text);
}

static void put_row(const struct csv *csv, const struct mt_row *row)
{
	const struct mt_table *table = csv->rows->table;
	struct mt_snippet room;

	for (size_t i = 0; i < table->key_count; i++) {
		if (i)
			fputc(',', csv->to);
		if (mt_cell_is_path(table, i))
			put_path(csv, row, i);
		else
			put_text(mt_cell_text(table, row, i, &room) ?: "", csv->to);
	}
	for (size_t i = 0, put = table->key_count; i < table->value_count; i++) {
		if (mt_view_shows(csv->view, i))
			put_figure(csv, &row->values[i], put++, csv->uncertain[i]);
	}
	fputc('\n', csv->to);
}

static void put_head(const struct csv *csv)
{
	const struct mt_table *table = csv->rows->table;
	size_t put = 0;

	for (; put < table->key_count; put++)
		fprintf(csv->to, "%s%s", put ? "," : "", table->keys[put].name);
	for (size_t i = 0; i < table->value_count; i++) {
		const char *name = table->values[i].name;

		if (!mt_view_shows(csv->view, i))
			continue;
		fprintf(csv->to, "%s%s", put++ ? "," : "", name);
		if (csv->uncertain[i])
			fprintf(csv->to, ",%s_low,%s_high", name, name);
	}
	fputc('\n', csv->to);
}

static void note_uncertain(struct csv *csv, const struct mt_row *row)
{
	for (size_t i = 0; i < csv->rows->table->value_count; i++)
		csv->uncertain[i] |= !mt_value_is_exact(&row->values[i]);
}

/* Reads all rows. A first pass only inspects them; with `write`, they are written. */
static struct mt_error *walk(struct csv *csv, bool write)
{
	struct mt_error *err = NULL;
	struct mt_row row;

	while (!ferror(csv->to) && mt_table_read(csv->rows->table, &row, &err)) {
		if (write)
			put_row(csv, &row);
		else
			note_uncertain(csv, &row);
	}
	return err;
}

static struct mt_error *write_csv(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	MT_CLEANUP(mt_path_rows_deinit) struct mt_path_rows rows = {0};
	struct csv csv = {.rows = &rows, .view = view, .to = to};
	struct mt_error *err;

	if (table->value_count > FIGURES_MOST)
		return mt_error_create(MT_ERR_UNSUPPORTED, "--csv: too many figures");
	err = mt_path_rows_init(table, view->srcline, view->value, &view->limit, &rows);
	if (!err && !table->listing) {
		err = walk(&csv, false);
		err = err ? err : mt_table_rewind(rows.table);
	}
	if (err)
		return err;
	put_head(&csv);
	return walk(&csv, true);
}

const struct mt_output mt_output_csv = {
	.name = "csv",
	.help = "comma-separated values; a stack is root;..;leaf",
	.rare = true,
	.needs = MT_TAKES_KEYS | MT_TAKES_LISTING | MT_LIKES_STACK | MT_LIMITS_ROWS,
	.write = write_csv,
};
