/*
 * Only files with the name of a source are read: a page is handed on, and paths come from debug
 * information, which may name anything.
 */
#include "report/outputs/html/page_sources.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "report/outputs/annotate/source_file.h"
#include "report/outputs/html/page_data.h"
#include "report/outputs/parts/places.h"
#include "report/tables/text.h"

enum {
	AROUND = 5,		       /* lines before and behind one with a figure */
	COLUMNS_MOST = 240,	       /* of a line */
	TEXT_MOST = 4 << 20,	       /* bytes of all lines */
	LINE_BYTES = 4 * COLUMNS_MOST, /* UTF-8 */
};

struct page_line {
	uint32_t file, line;
	char *text; /* NULL: not read */
};

struct sources {
	const struct mt_places *places;
	MT_ARRAY(struct page_line) wanted; /* those with figures, sorted */
	MT_ARRAY(struct page_line) lines;
	MT_ARRAY(uint32_t) changed; /* files */
	size_t left, used;
};

static void sources_deinit(struct sources *s)
{
	for (size_t i = 0; i < s->lines.count; i++)
		free(s->lines.items[i].text);
	mt_array_deinit(&s->wanted);
	mt_array_deinit(&s->lines);
	mt_array_deinit(&s->changed);
}

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
	const struct page_line *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static bool find_wanted(struct sources *s)
{
	for (uint32_t i = 0; i < mt_places_count(s->places); i++) {
		const struct mt_stack_place *place = mt_places_get(s->places, i);
		struct page_line *line;

		if (!place->line || !is_source(mt_places_get_text(s->places, place->file)))
			continue;
		line = mt_array_push(&s->wanted);
		if (!line)
			return false;
		*line = (struct page_line){.file = place->file, .line = place->line};
	}
	if (s->wanted.count)
		qsort(s->wanted.items, s->wanted.count, sizeof(*s->wanted.items), compare);
	return true;
}

/* Takes a line of a file, printable, with tabs as blanks. */
static bool add_line(struct sources *s, uint32_t file, uint32_t number, const char *text)
{
	char spaced[COLUMNS_MOST + 8], fitted[LINE_BYTES + 8];
	struct page_line *line = mt_array_push(&s->lines);
	size_t used = 0;

	for (; line && *text && used < COLUMNS_MOST; text++) {
		if (*text == '\t')
			used += (size_t)snprintf(spaced + used, 5, "    ");
		else if (*text != '\r')
			spaced[used++] = *text;
	}
	spaced[used] = '\0';
	mt_text_fit(spaced, COLUMNS_MOST, fitted, sizeof(fitted));
	if (!line)
		return false;
	*line = (struct page_line){file, number, strdup(fitted)};
	s->used += strlen(fitted) + 1;
	return line->text;
}

/* The wanted lines [first, end) are of one file. */
static bool add_file(struct sources *s, const struct mt_source_file *source, size_t first,
		     size_t end)
{
	uint32_t file = s->wanted.items[first].file, next = 1;

	for (size_t i = first; i < end; i++) {
		uint32_t line = s->wanted.items[i].line, last = line + AROUND;

		if (line > source->count)
			break;
		if (s->used > TEXT_MOST) {
			s->left++;
			continue;
		}
		next = line > next + AROUND ? line - AROUND : next;
		for (; next <= last && next <= source->count; next++) {
			if (!add_line(s, file, next, source->lines[next - 1]))
				return false;
		}
	}
	return true;
}

static bool read_file(struct sources *s, const struct mt_source_paths *paths, uint64_t recorded,
		      size_t first, size_t end)
{
	uint32_t file = s->wanted.items[first].file, *slot;
	struct mt_source_file source = {0};
	bool good = true;

	mt_source_file_read(mt_places_get_text(s->places, file), paths, &source);
	if (source.text) {
		good = add_file(s, &source, first, end);
		slot = recorded && source.written > recorded ? mt_array_push(&s->changed) : NULL;
		if (slot)
			*slot = file;
	}
	mt_source_file_deinit(&source);
	return good;
}

static void write_all(const struct sources *s, struct mt_page_data *data)
{
	FILE *json = mt_page_data_json(data);

	fprintf(json, ",\"source_left\":%zu,\"source_changed\":[", s->left);
	for (size_t i = 0; i < s->changed.count; i++)
		fprintf(json, "%s%u", i ? "," : "", s->changed.items[i]);
	fputs("],", json);
	mt_page_data_column(data, "source_file", s->lines.count);
	for (size_t i = 0; i < s->lines.count; i++)
		mt_page_data_number(data, s->lines.items[i].file);
	fputc(',', json);
	mt_page_data_column(data, "source_line", s->lines.count);
	for (size_t i = 0; i < s->lines.count; i++)
		mt_page_data_number(data, s->lines.items[i].line);
	fputc(',', json);
	mt_page_data_column(data, "source_text", s->lines.count);
	for (size_t i = 0; i < s->lines.count; i++)
		mt_page_data_text(data, s->lines.items[i].text);
}

bool mt_page_sources_write(const struct mt_places *places, const struct mt_source_paths *paths,
			   uint64_t recorded, struct mt_page_data *data)
{
	MT_CLEANUP(sources_deinit) struct sources s = {.places = places};
	const struct page_line *wanted;

	if (!find_wanted(&s))
		return false;
	wanted = s.wanted.items;
	for (size_t i = 0, end; i < s.wanted.count; i = end) {
		for (end = i; end < s.wanted.count && wanted[end].file == wanted[i].file;)
			end++;
		if (!read_file(&s, paths, recorded, i, end))
			return false;
	}
	write_all(&s, data);
	return true;
}
