/*
 * --folded: one line for each distinct path, `comm;root;...;leaf COUNT`, as stackcollapse-perf.pl
 * writes them, sorted bytewise. --by replaces comm by other keys. With more than one event, the
 * event's alias comes first.
 */
#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/cells.h"
#include "report/outputs/parts/wordlines.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/table.h"

MT_DEFINE_CLEANUP(mt_paths, struct mt_paths)
MT_DEFINE_CLEANUP(mt_wordlines, struct mt_wordlines)

/* Words, indexed by the ids of their strings; MT_WORD_NONE: not made yet. */
struct words {
	MT_ARRAY(uint32_t) of;
};

struct folded {
	struct mt_table *table;
	struct mt_paths *paths;
	struct mt_wordlines *lines;
	struct words commands, functions;
	MT_ARRAY(uint32_t) line;    /* scratch: the event, the other keys, and the stack's words */
	size_t event, stack, state; /* key columns; `state` of a comparison is not shown */
	size_t head;		    /* words before the stack's */
	uint32_t first_event;	    /* the first row's */
	bool several_events;
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
	struct mt_snippet room;
	const char *text;

	if (column == MT_COLUMN_NONE || folded->table->keys[column].kind == MT_KEY_STRING)
		return word_of(folded, &folded->commands, folded->table->strings,
			       column == MT_COLUMN_NONE ? 0 : (uint32_t)row->keys[column]);
	text = mt_cell_text(folded->table, row, column, &room);
	return mt_wordlines_word(folded->lines, text ? text : "-", true);
}

/* Makes a word for each key but the stack, the event first; false out of memory. */
static bool spell_keys(struct folded *folded, const struct mt_row *row)
{
	size_t at = 0;

	if (!mt_array_reserve(&folded->line, folded->head))
		return false;
	folded->line.items[at++] = key_word(folded, row, folded->event);
	for (size_t i = 0; i < folded->table->key_count; i++) {
		if (i != folded->event && i != folded->stack && i != folded->state)
			folded->line.items[at++] = key_word(folded, row, i);
	}
	for (size_t i = 0; i < at; i++) {
		if (folded->line.items[i] == MT_WORD_NONE)
			return false;
	}
	return true;
}

/* Spells a row's stack after its keys, and reuses the words that it shares with the last row. */
static bool spell_stack(struct folded *folded, uint32_t stack)
{
	struct mt_strings *strings = mt_frames_strings(folded->table->frames);
	size_t depth, same;
	const uint32_t *names = mt_paths_spell(folded->paths, stack, &depth, &same);

	if (!names || !mt_array_reserve(&folded->line, folded->head + depth))
		return false;
	for (size_t i = same; i < depth; i++) {
		uint32_t word = word_of(folded, &folded->functions, strings, names[i]);

		if (word == MT_WORD_NONE)
			return false;
		folded->line.items[folded->head + i] = word;
	}
	folded->line.count = folded->head + depth;
	return true;
}

/* A comparison has two counts a line, as difffolded.pl writes them. */
static bool add_line(struct folded *folded, const struct mt_row *row, size_t value)
{
	if (folded->table->compared)
		return mt_wordlines_add_pair(folded->lines, folded->line.items, folded->line.count,
					     row->values[0].value, row->values[1].value);
	return mt_wordlines_add(folded->lines, folded->line.items, folded->line.count,
				row->values[value].value);
}

static struct mt_error *take_rows(struct folded *folded, size_t value)
{
	struct mt_row row;
	bool more;

	for (size_t seen = 0;; seen++) {
		struct mt_error *err = mt_table_next(folded->table, &row, &more);

		if (err || !more)
			return err;
		if (!spell_keys(folded, &row) ||
		    !spell_stack(folded, (uint32_t)row.keys[folded->stack]) ||
		    !add_line(folded, &row, value))
			return mt_error_nomem();
		folded->several_events |= seen && folded->line.items[0] != folded->first_event;
		folded->first_event = folded->line.items[0];
	}
}

static struct mt_error *write_folded(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	MT_CLEANUP(folded_deinit)
	struct folded folded = {
		.table = table,
		.event = mt_table_key(table, "event"),
		.stack = mt_table_key_of_kind(table, MT_KEY_STACK),
		.state = table->compared ? mt_table_key(table, "state") : MT_COLUMN_NONE,
		.head = table->key_count - (mt_table_key(table, "event") != MT_COLUMN_NONE) -
			table->compared,
	};
	MT_CLEANUP(mt_wordlines_destroy_p) struct mt_wordlines *lines = mt_wordlines_create();
	MT_CLEANUP(mt_paths_destroy_p)
	struct mt_paths *paths = mt_paths_create(table->stacks, table->frames, view->srcline);
	struct mt_limited_table limited;
	struct mt_error *err = NULL;

	if (!lines || !paths)
		return mt_error_nomem();
	folded.paths = paths;
	folded.lines = lines;
	if (table->compared) {
		err = mt_limited_table_init(&limited, table, view->value, &view->limit);
		folded.table = &limited.table;
	}
	err = err ? err : mt_frames_resolve(table->frames);
	err = err ? err : take_rows(&folded, view->value);
	if (err)
		return err;
	if (!table->compared && !mt_wordlines_limit(lines, &view->limit))
		return mt_error_nomem();
	if (!mt_wordlines_print(lines, folded.several_events ? 0 : 1, to))
		return mt_error_nomem();
	if (view->remainder)
		view->remainder->below_zero = mt_wordlines_left_out(lines);
	return NULL;
}

const struct mt_output mt_output_folded = {
	.name = "folded",
	.help = "one line per stack with its count, for flame graphs",
	.needs = MT_NEEDS_STACK | MT_TAKES_KEYS | MT_LIMITS_ROWS,
	.write = write_folded,
};
