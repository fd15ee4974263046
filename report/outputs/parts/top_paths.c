/*
 * Sums rows by path, and prints their two lines.
 */
#include "report/outputs/parts/top_paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/strings.h"
#include "report/outputs/parts/cells.h"
#include "report/outputs/parts/headline.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/text.h"

void mt_top_paths_deinit(struct mt_top_paths *top)
{
	mt_array_deinit(&top->items);
	mt_map64_deinit(&top->by_key);
	mt_paths_destroy(top->paths);
}

/* ---- Sums ---- */

static bool is_words(const struct mt_table *table, uint32_t stack)
{
	size_t depth;
	const uint32_t *ids = mt_stacks_get(table->stacks, stack, &depth);

	return depth && mt_frames_key(table->frames, ids[0])->flags & MT_FRAME_WORDS;
}

/* The string id of the texts of all keys except the stack, one after another. */
static uint32_t who_of(const struct mt_table *table, const struct mt_row *row)
{
	char text[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < table->key_count && used < sizeof(text); i++) {
		struct mt_snippet room;
		const char *cell = mt_cell_is_path(table, i) || (i && i == table->sentence)
					   ? NULL
					   : mt_cell_text(table, row, i, &room);

		if (cell && *cell)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? " " : "", cell);
	}
	return mt_strings_intern(table->strings, text, strlen(text));
}

static void add_row(struct mt_top_paths *top, size_t stack_column, const struct mt_row *row)
{
	uint32_t stack = (uint32_t)row->keys[stack_column];
	uint32_t who = who_of(top->table, row), id = mt_paths_of(top->paths, stack);
	double weight = fabs(row->values[top->weight].value);
	size_t known = top->items.count;
	struct mt_top_path *path =
		mt_map64_element(&top->by_key, &top->items, (uint64_t)who << 32 | id);

	if (top->items.count > known) {
		path->who = who;
		path->path = id;
		path->stack = stack;
		path->words = is_words(top->table, stack);
	}
	mt_table_add_values(top->table, path->values, row->values);
	if (weight > path->heaviest) {
		path->heaviest = weight;
		path->stack = stack;
		if (top->table->sentence)
			path->sentence = (uint32_t)row->keys[top->table->sentence];
	}
}

/* Equal values are ordered by path id, which is the order in which the paths were first read. */
static int compare(const void *a, const void *b, void *context)
{
	const struct mt_top_path *x = a, *y = b;
	size_t weight = *(const size_t *)context;
	double left = fabs(x->values[weight].value), right = fabs(y->values[weight].value);

	if (left != right)
		return left > right ? -1 : 1;
	if (x->path != y->path)
		return x->path < y->path ? -1 : 1;
	return x->who < y->who ? -1 : x->who > y->who;
}

struct mt_error *mt_top_paths_read(struct mt_table *table, size_t weight, struct mt_top_paths *out)
{
	size_t stack = mt_table_key_of_kind(table, MT_KEY_STACK);
	struct mt_error *err = mt_table_rewind(table);
	struct mt_row row;

	*out = (struct mt_top_paths){
		.table = table,
		.weight = weight,
		.paths = mt_paths_create(table->stacks, table->frames, false),
	};
	mt_frames_resolve(table->frames);
	while (mt_table_read(table, &row, &err))
		add_row(out, stack, &row);
	if (out->items.count)
		qsort_r(out->items.items, out->items.count, sizeof(*out->items.items), compare,
			&out->weight);
	return err;
}

/* ---- Lines ---- */

enum {
	WHO_MOST = 24,
	WHO_OF_SENTENCE = 40, /* the whole subject of the sentence */
	NAME_LEAST = 20,
	WHO_LEAST = 10, /* columns for the process, if the place takes the others */
	WHO_ENDED = 18, /* the same with a mark: "python3 [exited]" */
};

const char *mt_path_last_part(const char *text)
{
	const char *last = *text == '/' ? strrchr(text, '/') : NULL;

	return last && last[1] ? last + 1 : text;
}

void mt_top_path_print(const struct mt_top_paths *top, const struct mt_top_path *path,
		       const struct mt_headline *named, size_t room, FILE *to)
{
	struct mt_strings *names = mt_frames_strings(top->table->frames);
	struct mt_headline headline = named ? *named : mt_headline_of(top->table, path->stack);
	char place[80] = "", name[256], who[64];
	const char *whose = mt_path_last_part(mt_strings_get(top->table->strings, path->who));
	size_t used, least = strstr(whose, " [") ? WHO_ENDED : WHO_LEAST;

	if (headline.name != MT_STRING_NONE && strcmp(headline.dso, "[unknown]") != 0)
		mt_headline_place(headline.shown, headline.file, headline.line, room, place);
	used = mt_text_columns(place) + 24;
	used = mt_text_fit(whose,
			   top->table->sentence	    ? WHO_OF_SENTENCE
			   : room > used + WHO_MOST ? WHO_MOST
			   : room > used + least    ? room - used
						    : least,
			   who, sizeof(who));
	if (*place && mt_text_columns(place) + used + 4 + NAME_LEAST > room)
		mt_headline_place(headline.shown, headline.file, headline.line,
				  room > used + 4 + NAME_LEAST ? room - used - 4 - NAME_LEAST : 0,
				  place);
	used += mt_text_columns(place) + 4;
	mt_text_fit(headline.name != MT_STRING_NONE ? mt_strings_get(names, headline.name)
						    : "[unknown]",
		    room > used + NAME_LEAST ? room - used : NAME_LEAST, name, sizeof(name));
	fprintf(to, "%s%s%s%s%s\n", who, *who ? ": " : "", name, *place ? "  " : "", place);
}

void mt_top_path_print_end(const struct mt_top_paths *top, const struct mt_top_path *path,
			   size_t indent, size_t width, FILE *to)
{
	struct mt_strings *strings = mt_frames_strings(top->table->frames);
	size_t count, first, used = indent;
	const uint32_t *spelled = mt_paths_get(top->paths, path->path, &count);
	MT_CLEANUP_FREE uint32_t *names = mt_alloc(count, sizeof(*names));

	mt_headline_fold_nameless(top->table, spelled, names, &count);
	if (!count)
		return;
	for (first = count; first > 0; first--) {
		size_t size = mt_text_columns(mt_strings_get(strings, names[first - 1])) + 3;

		if (used + size + 5 > width && first < count)
			break;
		used += size;
	}
	fprintf(to, "%*s%s", (int)indent, "", first ? ".. > " : "");
	for (size_t i = first; i < count; i++) {
		char name[256];

		mt_text_fit(mt_strings_get(strings, names[i]),
			    width > indent + 25 ? width - indent - 5 : 20, name, sizeof(name));
		fprintf(to, "%s%s", i > first ? " > " : "", name);
	}
	fputc('\n', to);
}
