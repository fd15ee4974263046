/*
 * --annotate: the source lines of a function or a file. Each line has its own figure (the innermost
 * function is there) and the figure that passes through it (the line is on the path, counted once a
 * stack). If the source is not available, lines only have their numbers, and the instructions of
 * their functions follow. --asm shows only instructions.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/outputs/annotate/instructions.h"
#include "report/outputs/annotate/source_file.h"
#include "report/outputs/outputs.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/byte_runs.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

enum {
	SOURCE_COLUMNS_MOST = 400,
};

/* A line of a file, by the string ids of the files. */
struct place {
	uint32_t file, line;
};

struct annotated {
	struct place place;
	struct mt_annotate_figures figures;
};

struct annotation {
	const struct mt_view *view;
	struct mt_table *table;
	FILE *to;
	struct mt_strings *files;
	struct mt_byte_runs *places;
	struct mt_instructions *instructions;
	MT_ARRAY(struct mt_annotate_figures) figures; /* by place */
	MT_ARRAY(struct annotated) lines;	      /* sorted by file and line */
	MT_ARRAY(bool) sourceless;		      /* by id of file */
	size_t stack, count;   /* columns; count: MT_COLUMN_NONE without one */
	double total, through; /* of all rows; of those with the subject */
};

MT_DEFINE_CLEANUP(mt_byte_runs, struct mt_byte_runs)
MT_DEFINE_CLEANUP(mt_instructions, struct mt_instructions)
MT_DEFINE_CLEANUP(mt_strings, struct mt_strings)

static void annotation_deinit(struct annotation *a)
{
	mt_array_deinit(&a->figures);
	mt_array_deinit(&a->lines);
	mt_array_deinit(&a->sourceless);
}

/* ---- Selecting lines ---- */

/* "parse" also matches the functions "ns::parse" and "ns::parse(int)". */
static bool is_function(const char *name, const char *subject)
{
	size_t size = strlen(subject), named = strcspn(name, "(");

	if (!strcmp(name, subject))
		return true;
	return named >= size && !memcmp(name + named - size, subject, size) &&
	       (named == size || (named > size + 1 && name[named - size - 1] == ':'));
}

/* "parse.c" also matches the file "/src/parse.c". */
static bool is_file(const char *path, const char *subject)
{
	size_t size = strlen(subject), length = path ? strlen(path) : 0;

	return size && length >= size && !strcmp(path + length - size, subject) &&
	       (length == size || path[length - size - 1] == '/');
}

static bool is_subject(const struct annotation *a, const struct mt_frame_name *name)
{
	return is_file(name->file, a->view->subject) ||
	       is_function(mt_strings_get(mt_frames_strings(a->table->frames), name->name),
			   a->view->subject);
}

/* ---- Figures ---- */

/* Adds a row to the line of a frame's function, and to the frame's instruction. */
static void add_line(struct annotation *a, uint32_t frame, const struct mt_frame_name *name,
		     const struct mt_annotate_part *part)
{
	const char *file = name->file ? name->file : "";
	struct place place = {
		.file = mt_strings_intern(a->files, file, strlen(file)),
		.line = name->line,
	};
	uint32_t id = mt_byte_runs_intern(a->places, &place, sizeof(place));

	mt_annotate_add(mt_array_at(&a->figures, id), part);
	mt_instructions_add(a->instructions, frame, place.file, part);
}

/* Innermost first: the row's own figure belongs to the first function of the first frame. */
static void add_row(struct annotation *a, const struct mt_row *row, uint64_t serial)
{
	struct mt_annotate_part part = {
		.value = row->values[a->view->value].value,
		.count = a->count == MT_COLUMN_NONE ? 0 : row->values[a->count].value,
		.row = serial,
	};
	size_t depth, names;
	const uint32_t *frames =
		mt_stacks_get(a->table->stacks, (uint32_t)row->keys[a->stack], &depth);
	bool found = false;

	a->total += part.value;
	for (size_t i = 0; i < depth; i++) {
		const struct mt_frame_name *name =
			mt_frames_names(a->table->frames, frames[i], &names);

		for (size_t k = 0; k < names; k++) {
			if (!is_subject(a, &name[k]))
				continue;
			found = true;
			part.self = i + k == 0;
			add_line(a, frames[i], &name[k], &part);
		}
	}
	a->through += found ? part.value : 0;
}

static int by_place(const void *a, const void *b)
{
	const struct place *x = &((const struct annotated *)a)->place,
			   *y = &((const struct annotated *)b)->place;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void sort_lines(struct annotation *a)
{
	size_t size;

	for (uint32_t id = 0; id < a->figures.count; id++)
		*mt_array_push(&a->lines) = (struct annotated){
			.place = *(const struct place *)mt_byte_runs_get(a->places, id, &size),
			.figures = a->figures.items[id],
		};
	if (a->lines.count)
		qsort(a->lines.items, a->lines.count, sizeof(*a->lines.items), by_place);
}

/* ---- Text ---- */

static void put_line(const struct annotation *a, const struct mt_annotate_figures *figures,
		     uint32_t number, const struct mt_source_file *source)
{
	const char *text = number && number <= source->count ? source->lines[number - 1] : "";
	char fitted[4 * SOURCE_COLUMNS_MOST + 8], spaced[SOURCE_COLUMNS_MOST + 1];
	size_t used = 0;

	for (; *text && used + 8 < SOURCE_COLUMNS_MOST; text++) { /* a tab becomes four spaces */
		if (*text == '\t')
			used += (size_t)snprintf(spaced + used, 5, "    ");
		else if (*text != '\r')
			spaced[used++] = *text;
	}
	spaced[used] = '\0';
	mt_text_fit(spaced, SOURCE_COLUMNS_MOST, fitted, sizeof(fitted));
	mt_annotate_print(figures, a->total, a->count != MT_COLUMN_NONE, a->to);
	if (number)
		fprintf(a->to, " %6u%s%s\n", number, *fitted ? "  " : "", fitted);
	else
		fputs("      -  lines are not known\n", a->to);
}

static void put_file_head(const struct annotation *a, const char *path,
			  const struct mt_source_file *source)
{
	const struct mt_facts *facts = a->view->facts;
	uint64_t recorded = facts->recordings.count ? facts->recordings.items[0].start_utc : 0;

	fputc('\n', a->to);
	mt_text_print_clean(*path ? path : "no debug information", a->to);
	if (*path && !source->text) {
		fputs(": no source: ", a->to);
		mt_text_print_clean(source->path ? source->path : path, a->to);
		fprintf(a->to, ": %s; --source DIR says where it is", source->why);
	} else if (source->text && recorded && source->written > recorded) {
		fputs(": changed after it was recorded, lines may be others", a->to);
	}
	fputc('\n', a->to);
}

/* Prints lines [first, end) of one file, with the lines around each if the source is available. */
static void put_file(struct annotation *a, size_t first, size_t end)
{
	uint32_t file = a->lines.items[first].place.file;
	const char *path = mt_strings_get(a->files, file);
	struct mt_source_file source = {0};
	size_t next = 1; /* not yet shown */

	if (*path)
		mt_source_file_read(path, a->view->source_paths, &source);
	*mt_array_at(&a->sourceless, file) = !source.text;
	put_file_head(a, path, &source);
	for (size_t i = first; i < end; i++) {
		size_t line = a->lines.items[i].place.line;
		size_t stop = i + 1 < end ? a->lines.items[i + 1].place.line : SIZE_MAX;
		size_t from = line > MT_ANNOTATE_AROUND + next ? line - MT_ANNOTATE_AROUND : next;

		if (from > next && next > 1 && source.count)
			fputs("...\n", a->to);
		for (; source.count && from < line && from <= source.count; from++)
			put_line(a, NULL, (uint32_t)from, &source);
		put_line(a, &a->lines.items[i].figures, (uint32_t)line, &source);
		for (next = line + 1;
		     next <= line + MT_ANNOTATE_AROUND && next < stop && next <= source.count;
		     next++)
			put_line(a, NULL, (uint32_t)next, &source);
	}
	mt_source_file_deinit(&source);
}

static void put_head(const struct annotation *a)
{
	fputs("--", a->to);
	fputs(a->table->name, a->to);
	fputs(" of ", a->to);
	mt_text_print_clean(a->view->subject, a->to);
	fprintf(a->to, ": %s of %s %s (%s)\n", mt_text_count(a->through).text,
		mt_text_count(a->total).text, a->table->values[a->view->value].name,
		mt_text_percent(a->through, a->total).text);
	fprintf(a->to, "%15s %15s %7s %9s ", "own", "with callees", "", "count");
	fprintf(a->to, a->view->assembly ? "%12s\n" : "%6s\n",
		a->view->assembly ? "address" : "line");
}

/* Prints lines, and instructions of lines without source; or only instructions. */
static struct mt_error *put_all(struct annotation *a)
{
	bool counted = a->count != MT_COLUMN_NONE;

	put_head(a);
	if (a->view->assembly)
		return mt_instructions_print(a->instructions, a->total, counted, NULL, a->to);
	mt_array_at(&a->sourceless, mt_strings_count(a->files));
	for (size_t i = 0, end; i < a->lines.count; i = end) {
		for (end = i + 1; end < a->lines.count &&
				  a->lines.items[end].place.file == a->lines.items[i].place.file;)
			end++;
		put_file(a, i, end);
	}
	return mt_instructions_print(a->instructions, a->total, counted, a->sourceless.items,
				     a->to);
}

static struct mt_error *write_annotate(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	MT_CLEANUP(mt_strings_destroy_p) struct mt_strings *files = mt_strings_create();
	MT_CLEANUP(mt_byte_runs_destroy_p) struct mt_byte_runs *places = mt_byte_runs_create();
	MT_CLEANUP(mt_instructions_destroy_p)
	struct mt_instructions *instructions = mt_instructions_create(view, table);
	MT_CLEANUP(annotation_deinit)
	struct annotation a = {
		.view = view,
		.table = table,
		.to = to,
		.files = files,
		.places = places,
		.instructions = instructions,
		.stack = mt_table_key_of_kind(table, MT_KEY_STACK),
		.count = mt_table_value(table, "count"),
	};
	struct mt_error *err = NULL;
	struct mt_row row;

	if (table->most >> view->value & 1)
		return mt_error_create(MT_ERR_USAGE, "--annotate shows sums, and %s is none",
				       table->values[view->value].name);
	mt_frames_resolve(table->frames);
	for (uint64_t serial = 1; mt_table_read(table, &row, &err); serial++)
		add_row(&a, &row, serial);
	if (err)
		return err;
	sort_lines(&a);
	if (!a.lines.count)
		return mt_error_hint(mt_error_create(MT_ERR_NOT_FOUND,
						     "--annotate %s: no stack has a function or "
						     "a file of that name",
						     view->subject),
				     "--folded shows the functions");
	return put_all(&a);
}

const struct mt_output mt_output_annotate = {
	.name = "annotate",
	.argument = "FUNCTION|FILE",
	.help = "source lines or instructions, with figures",
	.rare = true,
	.needs = MT_NEEDS_STACK | MT_TAKES_SUBJECT | MT_FOR_READERS,
	.write = write_annotate,
};
