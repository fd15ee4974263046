/*
 * --json: one object with the columns, the rows, one object and line each, and the losses.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/strings.h"
#include "report/outputs/json.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/cells.h"
#include "report/stacks/frames.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"

struct json {
	const struct mt_view *view;
	const struct mt_path_rows *rows;
	FILE *to;
};

/* The name of each kind of key, and whether its text is a JSON string. */
static const struct {
	const char *type;
	bool quoted;
} kinds[] = {
	[MT_KEY_STRING] = {"string", true},   [MT_KEY_STACK] = {"stack", false},
	[MT_KEY_TIME] = {"seconds", false},   [MT_KEY_NUMBER] = {"number", false},
	[MT_KEY_ADDRESS] = {"address", true}, [MT_KEY_SIGNED] = {"number", false},
	[MT_KEY_PATH] = {"stack", false},     [MT_KEY_SPAN] = {"seconds", false},
	[MT_KEY_BUCKET] = {"number", false},
};

void mt_json_string(const char *text, FILE *to)
{
	fputc('"', to);
	while (*text) {
		size_t size = mt_text_character(text);
		uint32_t code;

		if (*text == '"' || *text == '\\')
			fprintf(to, "\\%c", *text);
		else if (size)
			fwrite(text, 1, size, to);
		else if ((size = mt_text_decode(text, &code)))
			fprintf(to, "\\u%04x", code);
		else
			fputs("\\ufffd", to);
		text += size ? size : 1;
	}
	fputc('"', to);
}

static void put_path(const struct json *json, const struct mt_row *row, size_t column)
{
	struct mt_strings *names = mt_frames_strings(json->rows->table->frames);
	size_t count;
	const uint32_t *path = mt_cell_path(json->rows, row, column, &count);

	fputc('[', json->to);
	for (size_t i = 0; i < count; i++) {
		if (i)
			fputs(", ", json->to);
		mt_json_string(mt_strings_get(names, path[i]), json->to);
	}
	fputc(']', json->to);
}

static void put_name(const struct json *json, const char *name, const char *suffix, bool first)
{
	fprintf(json->to, "%s\"%s%s\": ", first ? "" : ", ", name, suffix);
}

static void put_number(const struct json *json, double value)
{
	struct mt_snippet text = mt_cell_figure(value);

	fputs(*text.text ? text.text : "null", json->to);
}

static void put_figure(const struct json *json, const char *name, const struct mt_value *value,
		       bool first)
{
	put_name(json, name, "", first);
	put_number(json, value->value);
	if (mt_value_is_exact(value))
		return;
	put_name(json, name, "_low", false);
	put_number(json, value->low);
	put_name(json, name, "_high", false);
	put_number(json, value->high);
}

static void put_key(const struct json *json, const struct mt_row *row, size_t column)
{
	const struct mt_table *table = json->rows->table;
	bool is_path = mt_cell_is_path(table, column);
	struct mt_snippet room;
	const char *text = is_path ? NULL : mt_cell_text(table, row, column, &room);

	put_name(json, table->keys[column].name, "", !column);
	if (is_path)
		put_path(json, row, column);
	else if (!text)
		fputs("null", json->to);
	else if (kinds[table->keys[column].kind].quoted)
		mt_json_string(text, json->to);
	else
		fputs(text, json->to);
}

static void put_row(const struct json *json, const struct mt_row *row)
{
	const struct mt_table *table = json->rows->table;

	fputc('{', json->to);
	for (size_t i = 0; i < table->key_count; i++)
		put_key(json, row, i);
	for (size_t i = 0, put = table->key_count; i < table->value_count; i++) {
		if (mt_view_shows(json->view, i))
			put_figure(json, table->values[i].name, &row->values[i], !put++);
	}
	fputc('}', json->to);
}

static void put_column(const struct json *json, const char *name, const char *type,
		       const char *unit, bool first)
{
	fprintf(json->to, "%s    {\"name\": \"%s\", \"type\": \"%s\"", first ? "" : ",\n", name,
		type);
	if (unit)
		fprintf(json->to, ", \"unit\": \"%s\"", unit);
	fputc('}', json->to);
}

static void put_head(const struct json *json)
{
	const struct mt_table *table = json->rows->table;
	size_t put = 0;

	fprintf(json->to, "  \"analysis\": \"%s\",\n  \"columns\": [\n", table->name);
	for (; put < table->key_count; put++)
		put_column(json, table->keys[put].name, kinds[table->keys[put].kind].type, NULL,
			   !put);
	for (size_t i = 0; i < table->value_count; i++) {
		if (mt_view_shows(json->view, i))
			put_column(json, table->values[i].name, "figure", table->values[i].unit,
				   !put++);
	}
	fputs("\n  ],\n  \"rows\": [", json->to);
}

void mt_json_facts(const struct mt_facts *facts, FILE *to)
{
	fprintf(to,
		"  \"samples\": %" PRIu64 ",\n  \"selected\": %" PRIu64 ",\n  \"lost\": %" PRIu64
		",\n  \"undecodable\": %" PRIu64 ",\n  \"user_stacks\": %" PRIu64
		",\n  \"incomplete_stacks\": %" PRIu64 "\n",
		facts->samples, facts->selected, mt_facts_lost_all(facts), facts->undecodable,
		facts->user_stacks, mt_facts_incomplete(facts));
}

struct mt_error *mt_json_table(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	MT_CLEANUP(mt_path_rows_deinit) struct mt_path_rows rows = {0};
	struct json json = {.rows = &rows, .view = view, .to = to};
	struct mt_error *err =
		mt_path_rows_init(table, view->srcline, view->value, &view->limit, &rows);
	struct mt_row row;

	if (err)
		return err;
	put_head(&json);
	for (size_t i = 0; !ferror(to) && mt_table_read(rows.table, &row, &err); i++) {
		fputs(i ? ",\n    " : "\n    ", to);
		put_row(&json, &row);
	}
	fputs("\n  ]", to);
	return err;
}

static struct mt_error *write_json(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	struct mt_error *err;

	fputs("{\n", to);
	err = mt_json_table(view, table, to);
	if (err)
		return err;
	fputs(",\n", to);
	mt_json_facts(view->facts, to);
	fputs("}\n", to);
	return NULL;
}

void mt_json_line(const char *text, FILE *to)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		fwrite(text, 1, length, to);
		text += length;
		text += strspn(text, "\n ");
	}
	fputc('\n', to);
}

const struct mt_output mt_output_json = {
	.name = "json",
	.help = "one JSON object; a stack is an array, root first",
	.rare = true,
	.needs = MT_TAKES_KEYS | MT_TAKES_LISTING | MT_LIKES_STACK | MT_LIMITS_ROWS | MT_IS_JSON,
	.write = write_json,
};
