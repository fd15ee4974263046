/*
 * --folded: one line for each distinct path of names, `comm;root;...;leaf COUNT`, as
 * stackcollapse-perf.pl writes them; sorted bytewise. With more than one event in the table, the
 * event's alias comes first.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/frames.h"
#include "report/groups.h"
#include "report/outputs/outputs.h"
#include "report/stacks.h"
#include "report/table.h"

MT_DEFINE_CLEANUP(mt_groups, struct mt_groups)
MT_DEFINE_CLEANUP(mt_paths, struct mt_paths)

enum {
	KEY_EVENT,
	KEY_COMM,
	KEY_PATH,
	KEYS
};

static const struct mt_key_column line_keys[KEYS] = {
	[KEY_EVENT] = {"event", MT_KEY_STRING},
	[KEY_COMM] = {"comm", MT_KEY_STRING},
	[KEY_PATH] = {"path", MT_KEY_NUMBER},
};

struct line {
	char *text;
	double value;
};

struct folded {
	struct mt_table *table;
	struct mt_paths *paths;
	MT_ARRAY(struct line) lines;
	MT_ARRAY(char) text; /* scratch */
	uint64_t event;	     /* of the first row */
	bool several_events;
};

static void folded_deinit(struct folded *folded)
{
	for (size_t i = 0; i < folded->lines.count; i++)
		free(folded->lines.items[i].text);
	mt_array_deinit(&folded->lines);
	mt_array_deinit(&folded->text);
}

static uint64_t key_or_empty(const struct mt_row *row, size_t column)
{
	return column == MT_COLUMN_NONE ? 0 : row->keys[column];
}

/* Sums the rows by event, comm and path. */
static struct mt_error *sum_rows(struct folded *folded, size_t value, struct mt_groups *groups)
{
	size_t event = mt_table_key(folded->table, "event"),
	       comm = mt_table_key(folded->table, "comm");
	size_t stack = mt_table_key_of_kind(folded->table, MT_KEY_STACK), seen = 0;
	struct mt_row row;
	bool more;

	for (;; seen++) {
		struct mt_error *err = mt_table_next(folded->table, &row, &more);
		uint64_t keys[KEYS];

		if (err || !more)
			return err;
		keys[KEY_EVENT] = key_or_empty(&row, event);
		keys[KEY_COMM] = key_or_empty(&row, comm);
		keys[KEY_PATH] = mt_paths_of(folded->paths, (uint32_t)row.keys[stack]);
		if (keys[KEY_PATH] == MT_PATH_NONE ||
		    !mt_groups_add(groups, keys, &row.values[value]))
			return mt_error_nomem();
		folded->several_events |= seen && keys[KEY_EVENT] != folded->event;
		folded->event = keys[KEY_EVENT];
	}
}

/* Appends a name as one frame of a line; what would break the line is replaced. */
static bool add_frame(struct folded *folded, const char *name, bool comm)
{
	size_t length = strlen(name);
	char *to;

	if (!mt_array_reserve(&folded->text, folded->text.count + length + 2))
		return false;
	if (folded->text.count)
		folded->text.items[folded->text.count++] = ';';
	to = folded->text.items + folded->text.count;
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)name[i];

		to[i] = (char)(c == ';'		      ? ':'
			       : c < ' ' || c == 0x7f ? '?'
			       : comm && c == ' '     ? '_'
						      : c);
	}
	folded->text.count += length;
	to[length] = '\0';
	return true;
}

static bool add_line(struct folded *folded, const struct mt_row *row)
{
	struct mt_strings *strings = folded->table->strings;
	struct mt_strings *names = mt_frames_strings(folded->table->frames);
	size_t depth;
	const uint32_t *path = mt_paths_get(folded->paths, (uint32_t)row->keys[KEY_PATH], &depth);
	struct line *line;

	folded->text.count = 0;
	if (folded->several_events &&
	    !add_frame(folded, mt_strings_get(strings, (uint32_t)row->keys[KEY_EVENT]), true))
		return false;
	if (!add_frame(folded, mt_strings_get(strings, (uint32_t)row->keys[KEY_COMM]), true))
		return false;
	for (size_t i = 0; i < depth; i++) {
		if (!add_frame(folded, mt_strings_get(names, path[i]), false))
			return false;
	}
	line = mt_array_push(&folded->lines);
	if (!line)
		return false;
	line->value = row->values[0].value;
	line->text = strdup(folded->text.items);
	return line->text;
}

static struct mt_error *make_lines(struct folded *folded, struct mt_table *sums)
{
	struct mt_row row;
	bool more;

	for (;;) {
		struct mt_error *err = mt_table_next(sums, &row, &more);

		if (err || !more)
			return err;
		if (!add_line(folded, &row))
			return mt_error_nomem();
	}
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

/* Replacing characters may have made lines equal; they are printed as one. */
static void print_lines(struct folded *folded, FILE *to)
{
	const struct line *lines = folded->lines.items;
	size_t next;

	for (size_t i = 0; i < folded->lines.count; i = next) {
		double value = lines[i].value;

		for (next = i + 1;
		     next < folded->lines.count && !strcmp(lines[next].text, lines[i].text); next++)
			value += lines[next].value;
		if (value >= 0.5)
			fprintf(to, "%s %.0f\n", lines[i].text, value);
	}
}

static struct mt_error *write_folded(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	static const struct mt_value_column weight = {"weight", ""};
	MT_CLEANUP(folded_deinit) struct folded folded = {.table = table};
	const struct mt_table shape = {.keys = line_keys,
				       .key_count = KEYS,
				       .values = &weight,
				       .value_count = 1,
				       .strings = table->strings};
	MT_CLEANUP(mt_groups_destroy_p) struct mt_groups *groups = mt_groups_create(&shape);
	MT_CLEANUP(mt_paths_destroy_p)
	struct mt_paths *paths = mt_paths_create(table->stacks, table->frames, view->srcline);
	struct mt_error *err;

	if (!groups || !paths)
		return mt_error_nomem();
	folded.paths = paths;
	err = mt_frames_resolve(table->frames);
	err = err ? err : sum_rows(&folded, view->value, groups);
	err = err ? err : make_lines(&folded, mt_groups_table(groups));
	if (err)
		return err;
	if (folded.lines.count)
		qsort(folded.lines.items, folded.lines.count, sizeof(*folded.lines.items),
		      compare_lines);
	print_lines(&folded, to);
	return NULL;
}

const struct mt_output mt_output_folded = {
	.name = "folded",
	.help = "one line a stack with its count, for flame graph tools",
	.needs = MT_NEEDS_STACK,
	.write = write_folded,
};
