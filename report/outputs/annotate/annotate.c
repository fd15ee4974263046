/*
 * --annotate: the source lines of a function or a file. Each line has its own figure, of stacks
 * whose innermost function is there, and the figure that passes through it, of all stacks that
 * contain the line. If the source is not available, lines only have their numbers, and the
 * instructions of their functions follow. --asm shows only instructions.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "report/outputs/annotate/source_file.h"
#include "report/outputs/outputs.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/byte_runs.h"
#include "report/tables/code_text.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

enum {
	SOURCE_COLUMNS_MOST = 400,
	AROUND = 3, /* lines shown before and after one with a figure */
};

/* The figures of a line or an instruction. */
struct figures {
	double self, through, count;
	uint64_t row; /* number of the last row that was added, from 1 on */
};

/* A row's figures at one place. */
struct part {
	double value, count;
	uint64_t row;
	bool self; /* the place is the innermost of the stack */
};

/* A line of a file, by the string ids of the files. */
struct place {
	uint32_t file, line;
};

struct annotated {
	struct place place;
	struct figures figures;
};

/* A frame's place in its function. */
struct frame_place {
	uint32_t file;
	uint32_t image;
	bool known;	/* the start of the function is known */
	uint64_t start; /* the function's start, as an offset in the image's file */
	uint64_t at;	/* offset after `start` */
	const struct mt_frame_name *name;
	struct figures figures;
};

struct annotation {
	const struct mt_view *view;
	struct mt_table *table;
	FILE *to;
	struct mt_strings *files;
	struct mt_byte_runs *places;
	MT_ARRAY(struct frame_place) frames;
	struct mt_map64 by_frame;	  /* to an index of `frames` */
	MT_ARRAY(struct figures) figures; /* by place */
	MT_ARRAY(struct annotated) lines; /* sorted by file and line */
	MT_ARRAY(bool) sourceless;	  /* by id of file */
	size_t stack, count;		  /* columns; count: MT_COLUMN_NONE if there is none */
	double total, through;		  /* of all rows; of those with the subject */
};

static void annotation_deinit(struct annotation *a)
{
	mt_strings_destroy(a->files);
	mt_byte_runs_destroy(a->places);
	mt_array_deinit(&a->figures);
	mt_array_deinit(&a->lines);
	mt_array_deinit(&a->sourceless);
	mt_array_deinit(&a->frames);
	mt_map64_deinit(&a->by_frame);
}

/* ---- Selecting lines ---- */

/* True if `name` is the subject: "parse" also matches "ns::parse" and "ns::parse(int)". */
static bool is_function(const char *name, const char *subject)
{
	size_t size = strlen(subject), named = strcspn(name, "(");

	if (!strcmp(name, subject))
		return true;
	return named >= size && !memcmp(name + named - size, subject, size) &&
	       (named == size || (named > size + 1 && name[named - size - 1] == ':'));
}

/* True if `path` is the subject: "parse.c" also matches the file "/src/parse.c". */
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

/* Adds a row's figures, only once even if the row passes through the place repeatedly. */
static void add_part(struct figures *figures, const struct part *part)
{
	if (part->self)
		figures->self += part->value;
	if (figures->row == part->row)
		return;
	figures->row = part->row;
	figures->through += part->value;
	figures->count += part->count;
}

/* Prints the columns of figures, without a newline; blanks if figures is NULL. */
static void print_figures(const struct annotation *a, const struct figures *figures)
{
	if (!figures)
		fprintf(a->to, "%15s %15s %7s %9s", "", "", "", "");
	else
		fprintf(a->to, "%15s %15s %7s %9s", mt_text_count(figures->self).text,
			mt_text_count(figures->through).text,
			mt_text_percent(figures->through, a->total).text,
			a->count != MT_COLUMN_NONE ? mt_text_count(figures->count).text : "-");
}

/* Fills in the function of a frame: the last of its names, into which the others are inlined. */
static void fill_place(struct annotation *a, uint32_t frame, struct frame_place *place)
{
	const struct mt_frame_key *key = mt_frames_key(a->table->frames, frame);
	size_t count;
	const struct mt_frame_name *names = mt_frames_names(a->table->frames, frame, &count);

	place->name = &names[count - 1];
	place->image = key->image;
	place->known = place->name->resolved && place->name->offset <= key->offset;
	place->at = place->known ? place->name->offset : key->offset;
	place->start = place->known ? key->offset - place->at : 0;
}

/* Adds a row to the instruction of a frame. `file` is the id of the file with its source. */
static void add_instruction(struct annotation *a, uint32_t frame, uint32_t file,
			    const struct part *part)
{
	struct frame_place *place = mt_map64_element(&a->by_frame, &a->frames, frame);

	if (!place->name) {
		fill_place(a, frame, place);
		place->file = file;
	}
	add_part(&place->figures, part);
}

/* Adds a row to the line of a frame's function, and to the frame's instruction. */
static void add_line(struct annotation *a, uint32_t frame, const struct mt_frame_name *name,
		     const struct part *part)
{
	const char *file = name->file ? name->file : "";
	struct place place = {
		.file = mt_strings_intern(a->files, file, strlen(file)),
		.line = name->line,
	};
	uint32_t id = mt_byte_runs_intern(a->places, &place, sizeof(place));

	add_part(mt_array_at(&a->figures, id), part);
	add_instruction(a, frame, place.file, part);
}

/* Adds a row to its places, innermost first. Its own figure belongs to the innermost function. */
static void add_row(struct annotation *a, const struct mt_row *row, uint64_t serial)
{
	struct part part = {
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

static void put_line(const struct annotation *a, const struct figures *figures, uint32_t number,
		     const struct mt_source_file *source)
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
	print_figures(a, figures);
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
		size_t from = line > AROUND + next ? line - AROUND : next;

		if (from > next && next > 1 && source.count)
			fputs("...\n", a->to);
		for (; source.count && from < line && from <= source.count; from++)
			put_line(a, NULL, (uint32_t)from, &source);
		put_line(a, &a->lines.items[i].figures, (uint32_t)line, &source);
		for (next = line + 1; next <= line + AROUND && next < stop && next <= source.count;
		     next++)
			put_line(a, NULL, (uint32_t)next, &source);
	}
	mt_source_file_deinit(&source);
}

/* ---- Instructions: functions with their code, and the figures of the frames there ---- */

static bool same_function(const struct frame_place *x, const struct frame_place *y)
{
	return x->image == y->image && x->known == y->known && x->start == y->start &&
	       x->name->name == y->name->name;
}

static int by_address(const void *a, const void *b)
{
	const struct frame_place *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->name->name != y->name->name)
		return x->name->name < y->name->name ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

struct function {
	const struct annotation *of;
	const struct frame_place *places; /* count of them, by address */
	size_t count;
	struct mt_code_text code;
	struct figures *figures; /* indexed by line of the code */
	FILE *to;
};

/*
 * The figures of the instruction at an address; NULL if its bytes are not available. A figure at
 * the address after a system call belongs to the call, because samples of a call are taken when it
 * returns.
 */
static struct figures *line_at(const struct function *f, uint64_t at)
{
	size_t low = 0, high = f->code.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (f->code.lines[middle].at + f->code.lines[middle].size <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == f->code.count || f->code.lines[low].at > at)
		return NULL;
	if (low && f->code.lines[low].at == at && f->code.lines[low - 1].is_syscall)
		low--;
	return &f->figures[low];
}

static void print_row(const struct function *f, const struct figures *figures, uint64_t address,
		      const char *text)
{
	print_figures(f->of, figures);
	fprintf(f->to, " %12" PRIx64 "  ", address);
	mt_text_print_clean(text, f->to);
	fputc('\n', f->to);
}

/* Adds figures to their instructions. Those without an instruction are printed before the code. */
static void take_figures(const struct function *f)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct frame_place *place = &f->places[i];
		struct figures *line = line_at(f, place->at);

		if (!line) {
			print_row(f, &place->figures, f->code.start + place->at, "-");
			continue;
		}
		line->self += place->figures.self;
		line->through += place->figures.through;
		line->count += place->figures.count;
		line->row = 1;
	}
}

static bool is_near(const struct function *f, size_t line)
{
	size_t from = line > AROUND ? line - AROUND : 0;

	for (size_t i = from; i <= line + AROUND && i < f->code.count; i++) {
		if (f->figures[i].row)
			return true;
	}
	return false;
}

static void print_code(const struct function *f)
{
	bool left_out = false;

	for (size_t i = 0; i < f->code.count; i++) {
		const struct mt_code_line *line = &f->code.lines[i];

		if (!is_near(f, i)) {
			left_out = true;
			continue;
		}
		left_out |= i && line[-1].at + line[-1].size != line->at;
		if (left_out)
			fputs("...\n", f->to);
		left_out = false;
		print_row(f, f->figures[i].row ? &f->figures[i] : NULL, f->code.start + line->at,
			  line->text);
	}
}

static void print_head(const struct function *f)
{
	const struct frame_place *first = f->places;

	fputc('\n', f->to);
	mt_text_print_clean(
		mt_strings_get(mt_frames_strings(f->of->table->frames), first->name->name), f->to);
	fputs(" in ", f->to);
	mt_text_print_clean(first->name->dso, f->to);
	if (f->code.why) {
		fputs(": no code: ", f->to);
		mt_text_print_clean(f->code.why, f->to);
	} else if (strcmp(f->code.from, first->name->dso) != 0) {
		fputs(": code from ", f->to);
		mt_text_print_clean(f->code.from, f->to);
	}
	fputc('\n', f->to);
}

static void print_function(struct function *f)
{
	const struct mt_view *view = f->of->view;
	MT_CLEANUP(mt_code_text_deinit) struct mt_code_text code = {0};
	MT_CLEANUP_FREE struct figures *figures = NULL;

	if (f->places->known && !f->of->table->compared)
		view->code.read(view->code.context, f->places->image, f->places->start,
				view->assembly == MT_ASM_ATT, &code);
	else
		code.why = f->places->known ? "a base is compared" : "no function is known there";
	figures = mt_alloc(code.count, sizeof(*figures));
	f->code = code;
	f->figures = figures;
	print_head(f);
	take_figures(f);
	print_code(f);
}

/* Prints each function; with `shown` only those that have lines in these files. */
static void print_instructions(struct annotation *a, const bool *shown)
{
	struct frame_place *places = a->frames.items;

	if (a->frames.count)
		qsort(places, a->frames.count, sizeof(*places), by_address);
	for (size_t i = 0, end; i < a->frames.count; i = end) {
		bool wanted = !shown;

		for (end = i; end < a->frames.count && same_function(&places[i], &places[end]);
		     end++)
			wanted |= shown && shown[places[end].file];
		if (wanted)
			print_function(&(struct function){
				.of = a, .places = &places[i], .count = end - i, .to = a->to});
	}
}

/* ---- The report ---- */

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
static void put_all(struct annotation *a)
{
	put_head(a);
	if (a->view->assembly) {
		print_instructions(a, NULL);
		return;
	}
	mt_array_at(&a->sourceless, mt_strings_count(a->files));
	for (size_t i = 0, end; i < a->lines.count; i = end) {
		for (end = i + 1; end < a->lines.count &&
				  a->lines.items[end].place.file == a->lines.items[i].place.file;)
			end++;
		put_file(a, i, end);
	}
	print_instructions(a, a->sourceless.items);
}

static struct mt_error *write_annotate(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	MT_CLEANUP(annotation_deinit)
	struct annotation a = {
		.view = view,
		.table = table,
		.to = to,
		.files = mt_strings_create(),
		.places = mt_byte_runs_create(),
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
	put_all(&a);
	return NULL;
}

const struct mt_output mt_output_annotate = {
	.name = "annotate",
	.argument = "FUNCTION|FILE",
	.help = "source lines or instructions, with figures",
	.rare = true,
	.needs = MT_NEEDS_STACK | MT_TAKES_SUBJECT | MT_FOR_READERS,
	.write = write_annotate,
};
