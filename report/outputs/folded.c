/*
 * --folded: one line for each distinct path of names, `comm;root;...;leaf COUNT`, as
 * stackcollapse-perf.pl writes them; sorted bytewise. With more than one event in the table, the
 * event's alias comes first.
 */
#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/frames.h"
#include "report/outputs/outputs.h"
#include "report/outputs/wordlines.h"
#include "report/stacks.h"
#include "report/table.h"

MT_DEFINE_CLEANUP(mt_paths, struct mt_paths)
MT_DEFINE_CLEANUP(mt_wordlines, struct mt_wordlines)

/* Words by the ids of the strings they are made of; MT_WORD_NONE: not yet made. */
struct words {
	MT_ARRAY(uint32_t) of;
};

struct folded {
	struct mt_table *table;
	struct mt_paths *paths;
	struct mt_wordlines *lines;
	struct words commands, functions;
	MT_ARRAY(uint32_t) line; /* scratch: event, comm and the stack's words */
	uint32_t event;		 /* the first row's */
	bool several_events;
};

enum {
	LINE_EVENT,
	LINE_COMM,
	LINE_STACK
};

static void folded_deinit(struct folded *folded)
{
	mt_array_deinit(&folded->commands.of);
	mt_array_deinit(&folded->functions.of);
	mt_array_deinit(&folded->line);
}

static uint32_t make_word(struct folded *folded, struct words *words,
			  const struct mt_strings *strings, uint32_t id)
{
	bool command = words == &folded->commands;

	if (!mt_array_reserve(&words->of, (size_t)id + 1))
		return MT_WORD_NONE;
	while (words->of.count <= id)
		words->of.items[words->of.count++] = MT_WORD_NONE;
	words->of.items[id] =
		mt_wordlines_word(folded->lines, mt_strings_get(strings, id), command);
	return words->of.items[id];
}

/* The word of a string, made on first use; MT_WORD_NONE out of memory. */
static inline uint32_t word_of(struct folded *folded, struct words *words,
			       const struct mt_strings *strings, uint32_t id)
{
	if (id < words->of.count && words->of.items[id] != MT_WORD_NONE)
		return words->of.items[id];
	return make_word(folded, words, strings, id);
}

static uint32_t key_word(struct folded *folded, const struct mt_row *row, size_t column)
{
	return word_of(folded, &folded->commands, folded->table->strings,
		       column == MT_COLUMN_NONE ? 0 : (uint32_t)row->keys[column]);
}

/* Spells a row's stack behind its event and comm. */
static bool spell_stack(struct folded *folded, uint32_t stack)
{
	struct mt_strings *strings = mt_frames_strings(folded->table->frames);
	size_t depth;
	const uint32_t *names = mt_paths_spell(folded->paths, stack, &depth);

	if (!names || !mt_array_reserve(&folded->line, LINE_STACK + depth))
		return false;
	for (size_t i = 0; i < depth; i++) {
		uint32_t word = word_of(folded, &folded->functions, strings, names[i]);

		if (word == MT_WORD_NONE)
			return false;
		folded->line.items[LINE_STACK + i] = word;
	}
	folded->line.count = LINE_STACK + depth;
	return true;
}

static struct mt_error *take_rows(struct folded *folded, size_t value)
{
	size_t event = mt_table_key(folded->table, "event"),
	       comm = mt_table_key(folded->table, "comm");
	size_t stack = mt_table_key_of_kind(folded->table, MT_KEY_STACK), seen = 0;
	struct mt_row row;
	bool more;

	for (;; seen++) {
		struct mt_error *err = mt_table_next(folded->table, &row, &more);
		uint32_t *line;

		if (err || !more)
			return err;
		if (!spell_stack(folded, (uint32_t)row.keys[stack]))
			return mt_error_nomem();
		line = folded->line.items;
		line[LINE_EVENT] = key_word(folded, &row, event);
		line[LINE_COMM] = key_word(folded, &row, comm);
		if (line[LINE_EVENT] == MT_WORD_NONE || line[LINE_COMM] == MT_WORD_NONE ||
		    !mt_wordlines_add(folded->lines, line, folded->line.count,
				      row.values[value].value))
			return mt_error_nomem();
		folded->several_events |= seen && line[LINE_EVENT] != folded->event;
		folded->event = line[LINE_EVENT];
	}
}

static struct mt_error *write_folded(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	MT_CLEANUP(folded_deinit) struct folded folded = {.table = table};
	MT_CLEANUP(mt_wordlines_destroy_p) struct mt_wordlines *lines = mt_wordlines_create();
	MT_CLEANUP(mt_paths_destroy_p)
	struct mt_paths *paths = mt_paths_create(table->stacks, table->frames, view->srcline);
	struct mt_error *err;

	if (!lines || !paths)
		return mt_error_nomem();
	folded.paths = paths;
	folded.lines = lines;
	err = mt_frames_resolve(table->frames);
	err = err ? err : take_rows(&folded, view->value);
	if (err)
		return err;
	return mt_wordlines_print(lines, folded.several_events ? 0 : 1, to) ? NULL
									    : mt_error_nomem();
}

const struct mt_output mt_output_folded = {
	.name = "folded",
	.help = "one line a stack with its count, for flame graph tools",
	.needs = MT_NEEDS_STACK,
	.write = write_folded,
};
