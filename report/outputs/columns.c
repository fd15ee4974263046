/*
 * --table: the rows of any table of sums as they are, a column for each key and each figure.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/outputs/outputs.h"
#include "report/table.h"
#include "report/text.h"

enum {
	COLUMNS_MOST = 32,
	GAP = 2, /* between columns */
};

struct columns {
	struct mt_table *table;
	size_t widths[COLUMNS_MOST];
};

/* The text of a key column; `text` is room for one that is no string. */
static const char *key_text(const struct mt_table *table, const struct mt_row *row, size_t column,
			    struct mt_snippet *text)
{
	uint64_t key = row->keys[column];

	switch (table->keys[column].kind) {
	case MT_KEY_STRING:
		return mt_table_string(table, row, column);
	case MT_KEY_ADDRESS:
		snprintf(text->text, sizeof(text->text), "%" PRIx64, key);
		return text->text;
	default:
		if (key == UINT64_MAX)
			return "-";
		snprintf(text->text, sizeof(text->text), "%" PRIu64, key);
		return text->text;
	}
}

static void widen(size_t *width, const char *text)
{
	size_t length = strlen(text);

	*width = length > *width ? length : *width;
}

static void measure(struct columns *columns, const struct mt_row *row)
{
	const struct mt_table *table = columns->table;
	struct mt_snippet text;

	for (size_t i = 0; i < table->key_count; i++)
		widen(&columns->widths[i], key_text(table, row, i, &text));
	for (size_t i = 0; i < table->value_count; i++)
		widen(&columns->widths[table->key_count + i],
		      mt_text_count(row->values[i].value).text);
}

/* Figures stand before the last key, which may be long, and flush right. */
static void print_values(const struct columns *columns, const struct mt_row *row, FILE *to)
{
	const struct mt_table *table = columns->table;

	for (size_t i = 0; i < table->value_count; i++)
		fprintf(to, "%*s%*s", (int)columns->widths[table->key_count + i],
			row ? mt_text_count(row->values[i].value).text : table->values[i].name, GAP,
			"");
}

/* A row, or the heads without one. */
static void print_row(const struct columns *columns, const struct mt_row *row, FILE *to)
{
	const struct mt_table *table = columns->table;
	struct mt_snippet number;

	for (size_t i = 0; i < table->key_count; i++) {
		const char *text = row ? key_text(table, row, i, &number) : table->keys[i].name;
		bool last = i + 1 == table->key_count;

		if (last)
			print_values(columns, row, to);
		mt_text_print_clean(text, to);
		if (!last && strlen(text) < columns->widths[i] + GAP)
			fprintf(to, "%*s", (int)(columns->widths[i] + GAP - strlen(text)), "");
	}
	fputc('\n', to);
}

/* Calls `each` for all rows. */
static struct mt_error *walk(struct columns *columns, FILE *to)
{
	struct mt_error *err = mt_table_rewind(columns->table);
	struct mt_row row;
	bool more;

	while (!err) {
		err = mt_table_next(columns->table, &row, &more);
		if (err || !more)
			return err;
		if (to)
			print_row(columns, &row, to);
		else
			measure(columns, &row);
	}
	return err;
}

static struct mt_error *write_columns(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	struct columns columns = {.table = table};
	struct mt_error *err;

	(void)view;
	if (table->key_count + table->value_count > COLUMNS_MOST || table->listing)
		return mt_error_create(MT_ERR_UNSUPPORTED, "--table shows sums");
	for (size_t i = 0; i < table->key_count; i++)
		widen(&columns.widths[i], table->keys[i].name);
	for (size_t i = 0; i < table->value_count; i++)
		widen(&columns.widths[table->key_count + i], table->values[i].name);
	err = walk(&columns, NULL);
	if (err)
		return err;
	print_row(&columns, NULL, to);
	return walk(&columns, to);
}

const struct mt_output mt_output_table = {
	.name = "table",
	.help = "the rows as they are, a column for each key and each figure",
	.write = write_columns,
};
