/*
 * Groups frames by function, has its code read, and prints the instructions with figures and the
 * instructions around them. A figure at the address after a system call belongs to the call, whose
 * samples are taken when it returns.
 */
#include "report/outputs/annotate/instructions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "report/outputs/outputs.h"
#include "report/stacks/frames.h"
#include "report/tables/code_text.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

/* A frame's place in its function. */
struct place {
	uint32_t file;
	uint32_t image;
	bool known;	/* index of its function */
	uint64_t start; /* the function's start, as an offset in the image's file */
	uint64_t at;	/* after it */
	const struct mt_frame_name *name;
	struct mt_annotate_figures figures;
};

struct mt_instructions {
	const struct mt_view *view;
	const struct mt_table *table;
	MT_ARRAY(struct place) places;
	struct mt_map64 by_frame;
};

void mt_annotate_add(struct mt_annotate_figures *figures, const struct mt_annotate_part *part)
{
	if (part->self)
		figures->self += part->value;
	if (figures->row == part->row)
		return;
	figures->row = part->row;
	figures->through += part->value;
	figures->count += part->count;
}

void mt_annotate_print(const struct mt_annotate_figures *figures, double total, bool counted,
		       FILE *to)
{
	if (!figures) {
		fprintf(to, "%15s %15s %7s %9s", "", "", "", "");
		return;
	}
	fprintf(to, "%15s %15s %7s %9s", mt_text_count(figures->self).text,
		mt_text_count(figures->through).text, mt_text_percent(figures->through, total).text,
		counted ? mt_text_count(figures->count).text : "-");
}

struct mt_instructions *mt_instructions_create(const struct mt_view *view,
					       const struct mt_table *table)
{
	struct mt_instructions *instructions = mt_alloc(1, sizeof(*instructions));

	instructions->view = view;
	instructions->table = table;
	return instructions;
}

void mt_instructions_destroy(struct mt_instructions *instructions)
{
	if (!instructions)
		return;
	mt_array_deinit(&instructions->places);
	mt_map64_deinit(&instructions->by_frame);
	free(instructions);
}

/* ---- Figures ---- */

/* The function of a frame is the last of its names: the others are inlined into it. */
static void fill_place(struct mt_instructions *s, uint32_t frame, struct place *place)
{
	const struct mt_frame_key *key = mt_frames_key(s->table->frames, frame);
	size_t count;
	const struct mt_frame_name *names = mt_frames_names(s->table->frames, frame, &count);

	place->name = &names[count - 1];
	place->image = key->image;
	place->known = place->name->resolved && place->name->offset <= key->offset;
	place->at = place->known ? place->name->offset : key->offset;
	place->start = place->known ? key->offset - place->at : 0;
}

void mt_instructions_add(struct mt_instructions *s, uint32_t frame, uint32_t file,
			 const struct mt_annotate_part *part)
{
	struct place *place = mt_map64_element(&s->by_frame, &s->places, frame);

	if (!place->name) {
		fill_place(s, frame, place);
		place->file = file;
	}
	mt_annotate_add(&place->figures, part);
}

static bool same_function(const struct place *x, const struct place *y)
{
	return x->image == y->image && x->known == y->known && x->start == y->start &&
	       x->name->name == y->name->name;
}

static int by_address(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->name->name != y->name->name)
		return x->name->name < y->name->name ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* ---- Text ---- */

struct function {
	const struct mt_instructions *of;
	const struct place *places; /* count of them, by address */
	size_t count;
	struct mt_code_text code;
	struct mt_annotate_figures *figures; /* indexed by line of the code */
	double total;
	bool counted;
	FILE *to;
};

/* The line of the code at an address; NULL if its bytes are not available. */
static struct mt_annotate_figures *line_at(const struct function *f, uint64_t at)
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

static void print_row(const struct function *f, const struct mt_annotate_figures *figures,
		      uint64_t address, const char *text)
{
	mt_annotate_print(figures, f->total, f->counted, f->to);
	fprintf(f->to, " %12" PRIx64 "  ", address);
	mt_text_print_clean(text, f->to);
	fputc('\n', f->to);
}

/* Figures without an available instruction are printed first, before the code. */
static void take_figures(const struct function *f)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct place *place = &f->places[i];
		struct mt_annotate_figures *line = line_at(f, place->at);

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
	size_t from = line > MT_ANNOTATE_AROUND ? line - MT_ANNOTATE_AROUND : 0;

	for (size_t i = from; i <= line + MT_ANNOTATE_AROUND && i < f->code.count; i++) {
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
	const struct place *first = f->places;

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

static struct mt_error *print_function(struct function *f)
{
	const struct mt_view *view = f->of->view;
	MT_CLEANUP(mt_code_text_deinit) struct mt_code_text code = {0};
	MT_CLEANUP_FREE struct mt_annotate_figures *figures = NULL;
	struct mt_error *err = NULL;

	if (f->places->known && !f->of->table->compared)
		err = view->code.read(view->code.context, f->places->image, f->places->start,
				      view->assembly == MT_ASM_ATT, &code);
	else
		code.why = f->places->known ? "a base is compared" : "no function is known there";
	if (err)
		return err;
	figures = mt_alloc(code.count, sizeof(*figures));
	f->code = code;
	f->figures = figures;
	print_head(f);
	take_figures(f);
	print_code(f);
	return NULL;
}

struct mt_error *mt_instructions_print(struct mt_instructions *s, double total, bool counted,
				       const bool *shown, FILE *to)
{
	struct place *places = s->places.items;
	struct mt_error *err = NULL;

	if (s->places.count)
		qsort(places, s->places.count, sizeof(*places), by_address);
	for (size_t i = 0, end; i < s->places.count && !err; i = end) {
		bool wanted = !shown;

		for (end = i; end < s->places.count && same_function(&places[i], &places[end]);
		     end++)
			wanted |= shown && shown[places[end].file];
		if (!wanted)
			continue;
		err = print_function(&(struct function){.of = s,
							.places = &places[i],
							.count = end - i,
							.total = total,
							.counted = counted,
							.to = to});
	}
	return err;
}
