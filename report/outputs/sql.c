/*
 * --sql: the result, with the data it refers to, as text that sqlite3 reads: docs/sql.md has the
 * schema. Rows are written as they are read. A frame, an image and a node of the tree of stacks are
 * written before the first row that needs them. So memory is bounded by the distinct frames and
 * stacks, whatever the length of a listing.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/cells.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/sums/sum_table.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

static const char schema[] =
	"BEGIN;\n"
	"CREATE TABLE info (recording TEXT, key TEXT, value TEXT);\n"
	"CREATE TABLE events (name TEXT, alias TEXT, unit TEXT, samples INTEGER, selected INTEGER, "
	"lost INTEGER);\n"
	"CREATE TABLE losses (recording TEXT, event TEXT, stream INTEGER, from_ns INTEGER, "
	"to_ns INTEGER, count INTEGER);\n"
	"CREATE TABLE images (id INTEGER PRIMARY KEY, path TEXT, build_id TEXT, missing TEXT);\n"
	"CREATE TABLE frames (id INTEGER PRIMARY KEY, function TEXT, file TEXT, line INTEGER, "
	"image INTEGER REFERENCES images (id), address TEXT, inlined INTEGER);\n"
	"CREATE TABLE stacks (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES stacks (id), "
	"frame INTEGER REFERENCES frames (id));\n";

/* Created after the rows, which is faster. */
static const char views[] =
	"CREATE INDEX stacks_parent ON stacks (parent);\n"
	"CREATE INDEX frames_function ON frames (function);\n"
	"CREATE VIEW paths AS WITH RECURSIVE down (stack, path) AS (SELECT s.id, f.function FROM "
	"stacks s JOIN frames f ON f.id = s.frame WHERE s.parent IS NULL UNION ALL SELECT s.id, "
	"d.path || ';' || f.function FROM down d JOIN stacks s ON s.parent = d.stack JOIN frames "
	"f ON f.id = s.frame) SELECT stack, path FROM down;\n";

/* For samples with stacks. %s: the figure that rows are ordered by. */
static const char stack_views[] =
	"CREATE INDEX samples_stack ON samples (stack);\n"
	"CREATE VIEW by_path AS SELECT path, SUM(%1$s) AS figure FROM samples JOIN paths USING "
	"(stack) GROUP BY path ORDER BY figure DESC;\n"
	"CREATE VIEW by_function AS WITH RECURSIVE sums (stack, figure) AS (SELECT stack, "
	"SUM(%1$s) FROM samples WHERE stack IS NOT NULL GROUP BY stack), up (stack, figure, node, "
	"own) AS (SELECT stack, figure, stack, 1 FROM sums UNION ALL SELECT u.stack, u.figure, "
	"s.parent, 0 FROM up u JOIN stacks s ON s.id = u.node WHERE s.parent IS NOT NULL), once "
	"(function, figure, own) AS (SELECT f.function, u.figure, MAX(u.own) FROM up u JOIN "
	"stacks s ON s.id = u.node JOIN frames f ON f.id = s.frame GROUP BY u.stack, f.function) "
	"SELECT function, SUM(figure * own) AS own, SUM(figure) AS inclusive FROM once GROUP BY "
	"function ORDER BY inclusive DESC;\n";

/* The functions of a frame: rows of table frames from `first` on, innermost first. */
struct span {
	uint32_t first, count; /* count 0: not yet written */
};

struct sql {
	const struct mt_view *view;
	FILE *to;
	struct mt_strings *images; /* paths; the id of a row is that of the string */
	struct mt_map64 nodes;	   /* from parent and frame to the row of stacks */
	MT_ARRAY(struct span) spans;
	uint32_t frames, image_count; /* rows written so far */
};

static void sql_deinit(struct sql *sql)
{
	mt_strings_destroy(sql->images);
	mt_map64_deinit(&sql->nodes);
	mt_array_deinit(&sql->spans);
}

/* ---- Words ---- */

/* Writes a string, or NULL. Line ends and characters that a terminal interprets are replaced. */
static void put_text(const char *text, FILE *to)
{
	size_t size;

	if (!text) {
		fputs("NULL", to);
		return;
	}
	fputc('\'', to);
	while (*text) {
		const char *character = mt_text_take(&text, &size);

		if (*character == '\'')
			fputc('\'', to);
		fwrite(character, 1, size, to);
	}
	fputc('\'', to);
}

/* A column's name: letters, digits, and _ for other characters; in quotes. */
struct column {
	char name[80];
};

static struct column column_of(const char *name, const char *suffix)
{
	struct column column;

	snprintf(column.name, sizeof(column.name), "\"%.60s%s\"", name, suffix);
	for (char *at = column.name + 1; at[1]; at++) {
		if (!isalnum((unsigned char)*at))
			*at = '_';
	}
	return column;
}

static void put_figure(double value, FILE *to)
{
	struct mt_snippet text = mt_cell_figure(value);

	fputs(*text.text ? text.text : "NULL", to);
}

/* ---- Frames and stacks ---- */

static uint32_t put_image(struct sql *sql, const char *path)
{
	uint32_t id = mt_strings_intern(sql->images, path, strlen(path));

	if (id < sql->image_count)
		return id;
	sql->image_count = id + 1;
	fprintf(sql->to, "INSERT INTO images (id, path) VALUES (%" PRIu32 ", ", id);
	put_text(path, sql->to);
	fputs(");\n", sql->to);
	return id;
}

static void put_frame(struct sql *sql, const struct mt_table *table, uint32_t frame,
		      const struct mt_frame_name *name)
{
	const struct mt_frame_key *key = mt_frames_key(table->frames, frame);
	uint32_t image = put_image(sql, name->dso);

	fprintf(sql->to, "INSERT INTO frames VALUES (%" PRIu32 ", ", sql->frames++);
	put_text(mt_strings_get(mt_frames_strings(table->frames), name->name), sql->to);
	fputs(", ", sql->to);
	put_text(name->file, sql->to);
	fprintf(sql->to, name->file ? ", %" PRIu32 : ", NULL", name->line);
	fprintf(sql->to, ", %" PRIu32 ", ", image);
	if (key->flags & MT_FRAME_WORDS)
		fputs("NULL", sql->to);
	else
		fprintf(sql->to, "'0x%" PRIx64 "'", key->offset);
	fprintf(sql->to, ", %d);\n", name->inlined);
}

/* The rows of a frame, written on first use. */
static struct span span_of(struct sql *sql, const struct mt_table *table, uint32_t frame)
{
	struct span *span = mt_array_at(&sql->spans, frame);
	const struct mt_frame_name *names;
	size_t count;

	if (span->count)
		return *span;
	names = mt_frames_names(table->frames, frame, &count);
	*span = (struct span){.first = sql->frames, .count = (uint32_t)count};
	for (size_t i = 0; i < count; i++)
		put_frame(sql, table, frame, &names[i]);
	return *span;
}

/* The row of stacks of a frame called by `parent` (0: a root). */
static uint32_t node_of(struct sql *sql, uint32_t parent, uint32_t frame)
{
	uint64_t key = (uint64_t)parent << 32 | frame, id;

	if (mt_map64_get(&sql->nodes, key, &id))
		return (uint32_t)id;
	id = sql->nodes.count + 1;
	if (id > UINT32_MAX)
		mt_memory_failed();
	mt_map64_put(&sql->nodes, key, id);
	fprintf(sql->to, "INSERT INTO stacks VALUES (%" PRIu64 ", ", id);
	fprintf(sql->to, parent ? "%" PRIu32 : "NULL", parent);
	fprintf(sql->to, ", %" PRIu32 ");\n", frame);
	return (uint32_t)id;
}

/* The innermost node of a stack; 0 for a stack without frames. */
static uint32_t put_stack(struct sql *sql, const struct mt_table *table, uint32_t stack)
{
	size_t depth;
	const uint32_t *frames = mt_stacks_get(table->stacks, stack, &depth);
	uint32_t node = 0;

	while (depth--) {
		struct span span = span_of(sql, table, frames[depth]);

		while (span.count--)
			node = node_of(sql, node, span.first + span.count);
	}
	return node;
}

/* ---- Tables ---- */

static void put_columns(const struct mt_table *table, const char *name, FILE *to)
{
	static const char *const types[] = {
		[MT_KEY_STRING] = "TEXT",  [MT_KEY_STACK] = "INTEGER REFERENCES stacks (id)",
		[MT_KEY_TIME] = "INTEGER", [MT_KEY_NUMBER] = "INTEGER",
		[MT_KEY_ADDRESS] = "TEXT", [MT_KEY_SIGNED] = "INTEGER",
	};

	fprintf(to, "CREATE TABLE %s (", name);
	for (size_t i = 0; i < table->key_count; i++)
		fprintf(to, "%s%s %s", i ? ", " : "", column_of(table->keys[i].name, "").name,
			types[table->keys[i].kind]);
	for (size_t i = 0; i < table->value_count; i++) {
		const char *value = table->values[i].name;

		fprintf(to, "%s%s NUMERIC, %s NUMERIC, %s NUMERIC",
			i || table->key_count ? ", " : "", column_of(value, "").name,
			column_of(value, "_low").name, column_of(value, "_high").name);
	}
	fputs(");\n", to);
}

static void put_key(const struct mt_table *table, const struct mt_row *row, size_t column, FILE *to)
{
	enum mt_key_kind kind = table->keys[column].kind;
	struct mt_snippet room;
	const char *text = mt_cell_text(table, row, column, &room);

	if (kind == MT_KEY_STRING || kind == MT_KEY_ADDRESS || !text)
		put_text(text, to);
	else if (kind == MT_KEY_TIME) /* in ns, although its text is in seconds */
		fprintf(to, "%" PRIu64, row->keys[column]);
	else
		fputs(text, to);
}

static void put_row(struct sql *sql, const struct mt_table *table, const char *name,
		    const struct mt_row *row)
{
	uint32_t nodes[MT_GROUPS_COLUMNS] = {0};

	for (size_t i = 0; i < table->key_count; i++) {
		if (table->keys[i].kind == MT_KEY_STACK)
			nodes[i] = put_stack(sql, table, (uint32_t)row->keys[i]);
	}
	fprintf(sql->to, "INSERT INTO %s VALUES (", name);
	for (size_t i = 0; i < table->key_count; i++) {
		fputs(i ? ", " : "", sql->to);
		if (table->keys[i].kind != MT_KEY_STACK)
			put_key(table, row, i, sql->to);
		else
			fprintf(sql->to, nodes[i] ? "%" PRIu32 : "NULL", nodes[i]);
	}
	for (size_t i = 0; i < table->value_count; i++) {
		const struct mt_value *value = &row->values[i];

		fputs(i || table->key_count ? ", " : "", sql->to);
		put_figure(value->value, sql->to);
		fputs(", ", sql->to);
		put_figure(value->low, sql->to);
		fputs(", ", sql->to);
		put_figure(value->high, sql->to);
	}
	fputs(");\n", sql->to);
}

static struct mt_error *put_table(struct sql *sql, struct mt_table *table, const char *name)
{
	struct mt_error *err = NULL;
	struct mt_row row;

	if (table->key_count > MT_GROUPS_COLUMNS)
		return mt_error_create(MT_ERR_UNSUPPORTED, "--%s has too many columns",
				       table->name);
	if (!table->listing && table->frames)
		mt_frames_resolve(table->frames);
	put_columns(table, name, sql->to);
	while (!ferror(sql->to) && mt_table_read(table, &row, &err))
		put_row(sql, table, name, &row);
	return err;
}

/* Writes the tables about memory, whatever the analysis is, each under its name in the schema. */
static struct mt_error *put_tables_alongside(struct sql *sql)
{
	static const char *const names[][2] = {
		{"host", "gauges"},   {"processes", "processes"}, {"resident", "resident"},
		{"growth", "growth"}, {"verdict", "verdicts"},
	};
	struct mt_error *err = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !err; i++) {
		struct mt_table *table = mt_view_alongside(sql->view, names[i][0]);

		if (table)
			err = put_table(sql, table, names[i][1]);
	}
	return err;
}

/* ---- Facts ---- */

static void put_info(const char *file, const char *key, const char *value, FILE *to)
{
	fputs("INSERT INTO info VALUES (", to);
	put_text(file, to);
	fputs(", ", to);
	put_text(key, to);
	fputs(", ", to);
	put_text(value, to);
	fputs(");\n", to);
}

static void put_count(const char *file, const char *key, uint64_t value, FILE *to)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	put_info(file, key, text, to);
}

static void put_recording(const struct mt_facts *facts, const struct mt_facts_recording *r,
			  FILE *to)
{
	char damage[400];

	for (size_t i = 0; i < r->info.count; i++)
		put_info(r->file, r->info.items[i].key, r->info.items[i].value, to);
	put_count(r->file, "start_ns", r->start, to);
	put_count(r->file, "end_ns", r->end, to);
	put_count(r->file, "start_utc_ns", r->start_utc, to);
	put_count(r->file, "samples", r->samples, to);
	put_count(r->file, "lost", mt_facts_lost(r), to);
	if (mt_facts_describe_damage(r, damage, sizeof(damage)))
		put_info(r->file, "damage", damage, to);
	for (size_t i = 0; i < r->losses.count; i++) {
		const struct mt_facts_loss *loss = &r->losses.items[i];

		fputs("INSERT INTO losses VALUES (", to);
		put_text(r->file, to);
		fputs(", ", to);
		put_text(loss->event < facts->events.count ? facts->events.items[loss->event].alias
							   : NULL,
			 to);
		fprintf(to, ", %" PRIu32 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ");\n",
			loss->stream, loss->from, loss->to, loss->count);
	}
}

static void put_event(const struct mt_facts_event *event, FILE *to)
{
	fputs("INSERT INTO events VALUES (", to);
	put_text(event->name, to);
	fputs(", ", to);
	put_text(event->alias, to);
	fputs(", ", to);
	put_text(event->unit, to);
	fprintf(to, ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ");\n", event->samples, event->selected,
		event->lost);
}

/* Written at the session's end, when all build ids are known. */
static void put_facts(const struct mt_facts *facts, FILE *to)
{
	for (size_t i = 0; i < facts->recordings.count; i++)
		put_recording(facts, &facts->recordings.items[i], to);
	for (size_t i = 0; i < facts->events.count; i++)
		put_event(&facts->events.items[i], to);
	for (size_t i = 0; i < facts->images.count; i++) {
		const struct mt_facts_image *image = &facts->images.items[i];

		fputs("UPDATE images SET build_id = ", to);
		put_text(*image->build_id ? image->build_id : NULL, to);
		fputs(", missing = ", to);
		put_text(image->missing, to);
		fputs(" WHERE path = ", to);
		put_text(image->path, to);
		fputs(";\n", to);
	}
}

/* ---- The file ---- */

static void put_views(struct sql *sql, const struct mt_table *table)
{
	const char *weight = table->value_count ? table->values[sql->view->value].name : "";

	fputs(views, sql->to);
	if (*weight && mt_table_key_of_kind(table, MT_KEY_STACK) != MT_COLUMN_NONE)
		fprintf(sql->to, stack_views, column_of(weight, "").name);
}

static struct mt_error *write_sql(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	MT_CLEANUP(sql_deinit)
	struct sql sql = {.view = view, .to = to, .images = mt_strings_create(), .frames = 1};
	struct mt_error *err;

	fputs(schema, to);
	put_info(NULL, "analysis", table->name, to);
	if (table->value_count)
		put_info(NULL, "figure", table->values[view->value].name, to);
	err = put_table(&sql, table, "samples");
	err = err ? err : put_tables_alongside(&sql);
	if (err)
		return err;
	put_facts(view->facts, to);
	put_views(&sql, table);
	fputs("COMMIT;\n", to);
	return NULL;
}

const struct mt_output mt_output_sql = {
	.name = "sql",
	.argument = "OUT.sql",
	.help = "the result with its stacks, for sqlite3",
	.rare = true,
	.needs = MT_TAKES_KEYS | MT_TAKES_LISTING | MT_LIKES_STACK | MT_NEEDS_IMAGES |
		 MT_MEMORY_ALONGSIDE,
	.write = write_sql,
};
