/*
 * Only files with the name of a source are read: the lines end up in a page that may be passed on,
 * and paths come from debug information, which may name any file.
 */
#include "report/outputs/annotate/source_lines.h"

#include <stdlib.h>
#include <string.h>

#include "report/outputs/annotate/source_file.h"
#include "report/outputs/parts/places.h"
#include "report/tables/text.h"

enum {
	AROUND = 5,		       /* lines before and after one with a figure */
	COLUMNS_MOST = 240,	       /* of a line */
	TEXT_MOST = 4 << 20,	       /* bytes of all lines */
	LINE_BYTES = 4 * COLUMNS_MOST, /* UTF-8 */
};

/* The reader's options, and its result. */
struct reading {
	const struct mt_places *places;
	const struct mt_source_paths *paths;
	uint64_t recorded;
	MT_ARRAY(struct mt_source_line) wanted; /* lines with figures, sorted, without text */
	struct mt_source_lines *out;
};

static bool is_source(const char *path)
{
	static const char suffixes[] =
		" c cc cpp cxx C h hh hpp hxx inl ipp tcc S s asm rs go zig d "
		"java kt scala py js mjs ts rb php swift m mm f90 ";
	const char *dot = strrchr(path, '.');
	char word[10];

	if (!dot || strlen(dot) > 6 || strpbrk(dot, "/ "))
		return false;
	snprintf(word, sizeof(word), " %s ", dot + 1);
	return strstr(suffixes, word);
}

static int compare(const void *a, const void *b)
{
	const struct mt_source_line *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void find_wanted(struct reading *r)
{
	for (uint32_t i = 0; i < mt_places_count(r->places); i++) {
		const struct mt_stack_place *place = mt_places_get(r->places, i);

		if (place->line && is_source(mt_places_get_text(r->places, place->file)))
			*mt_array_push(&r->wanted) =
				(struct mt_source_line){.file = place->file, .line = place->line};
	}
	if (r->wanted.count)
		qsort(r->wanted.items, r->wanted.count, sizeof(*r->wanted.items), compare);
}

/* Takes a line of a file: makes it printable, with tabs as blanks. */
static void add_line(struct mt_source_lines *s, uint32_t file, uint32_t number, const char *text)
{
	char spaced[COLUMNS_MOST + 8], fitted[LINE_BYTES + 8];
	size_t used = 0;

	for (; *text && used < COLUMNS_MOST; text++) {
		if (*text == '\t')
			used += (size_t)snprintf(spaced + used, 5, "    ");
		else if (*text != '\r')
			spaced[used++] = *text;
	}
	spaced[used] = '\0';
	mt_text_fit(spaced, COLUMNS_MOST, fitted, sizeof(fitted));
	*mt_array_push(&s->lines) = (struct mt_source_line){file, number, mt_copy_string(fitted)};
	s->used += strlen(fitted) + 1;
}

/* Takes the wanted lines [first, end) of one file. */
static void add_file(struct reading *r, const struct mt_source_file *source, size_t first,
		     size_t end)
{
	uint32_t file = r->wanted.items[first].file, next = 1;

	for (size_t i = first; i < end; i++) {
		uint32_t line = r->wanted.items[i].line, last = line + AROUND;

		if (line > source->count)
			break;
		if (r->out->used > TEXT_MOST) {
			r->out->left++;
			continue;
		}
		next = line > next + AROUND ? line - AROUND : next;
		for (; next <= last && next <= source->count; next++)
			add_line(r->out, file, next, source->lines[next - 1]);
	}
}

static void read_file(struct reading *r, size_t first, size_t end)
{
	uint32_t file = r->wanted.items[first].file;
	struct mt_source_file source = {0};

	mt_source_file_read(mt_places_get_text(r->places, file), r->paths, &source);
	if (source.text) {
		add_file(r, &source, first, end);
		if (r->recorded && source.written > r->recorded)
			*mt_array_push(&r->out->changed) = file;
	}
	mt_source_file_deinit(&source);
}

void mt_source_lines_read(struct mt_source_lines *lines, const struct mt_places *places,
			  const struct mt_source_paths *paths, uint64_t recorded)
{
	struct reading r = {.places = places, .paths = paths, .recorded = recorded, .out = lines};
	const struct mt_source_line *wanted;

	find_wanted(&r);
	wanted = r.wanted.items;
	for (size_t i = 0, end; i < r.wanted.count; i = end) {
		for (end = i; end < r.wanted.count && wanted[end].file == wanted[i].file;)
			end++;
		read_file(&r, i, end);
	}
	mt_array_deinit(&r.wanted);
}

void mt_source_lines_deinit(struct mt_source_lines *lines)
{
	for (size_t i = 0; i < lines->lines.count; i++)
		free(lines->lines.items[i].text);
	mt_array_deinit(&lines->lines);
	mt_array_deinit(&lines->changed);
}
