/*
 * --folded: one line for each distinct path, `comm;root;...;leaf COUNT`, as stackcollapse-perf.pl
 * writes them, sorted bytewise. --by replaces comm by other keys. With more than one event, the
 * event's alias comes first.
 */
#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/strings.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/cells.h"
#include "report/outputs/parts/wordlines.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/table.h"

/* Ids of words + 1, indexed by the ids of their strings; 0: not made yet. */
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
	uint32_t first_event;	    /* event of the first row */
	bool several_events;
};

static void folded_deinit(struct folded *folded)
{
	mt_wordlines_destroy(folded->lines);
	mt_paths_destroy(folded->paths);
	mt_array_deinit(&folded->commands.of);
	mt_array_deinit(&folded->functions.of);
	mt_array_deinit(&folded->line);
}

/* The word of a string, made on first use. */
static uint32_t word_of(struct folded *folded, struct words *words,
			const struct mt_strings *strings, uint32_t id)
{
	uint32_t *word = mt_array_at(&words->of, id);

	if (!*word)
		*word = 1 + mt_wordlines_word(folded->lines, mt_strings_get(strings, id),
					      words == &folded->commands);
	return *word - 1;
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

/* Makes a word for each key but the stack, the event first. */
static void spell_keys(struct folded *folded, const struct mt_row *row)
{
	size_t at = 0;

	mt_array_reserve(&folded->line, folded->head);
	folded->line.items[at++] = key_word(folded, row, folded->event);
	for (size_t i = 0; i < folded->table->key_count; i++) {
		if (i != folded->event && i != folded->stack && i != folded->state)
			folded->line.items[at++] = key_word(folded, row, i);
	}
}

/* Spells a row's stack after its keys, and reuses the words that it shares with the last row. */
static void spell_stack(struct folded *folded, uint32_t stack)
{
	struct mt_strings *strings = mt_frames_strings(folded->table->frames);
	size_t depth, same;
	const uint32_t *names = mt_paths_spell(folded->paths, stack, &depth, &same);

	mt_array_reserve(&folded->line, folded->head + depth);
	for (size_t i = same; i < depth; i++)
		folded->line.items[folded->head + i] =
			word_of(folded, &folded->functions, strings, names[i]);
	folded->line.count = folded->head + depth;
}

/* Adds all rows. A line of a comparison has two counts, as difffolded.pl writes them. */
static struct mt_error *take_rows(struct folded *folded, size_t value)
{
	bool compared = folded->table->compared;
	struct mt_error *err = NULL;
	struct mt_row row;

	for (size_t seen = 0; mt_table_read(folded->table, &row, &err); seen++) {
		spell_keys(folded, &row);
		spell_stack(folded, (uint32_t)row.keys[folded->stack]);
		mt_wordlines_add(folded->lines, folded->line.items, folded->line.count,
				 row.values[compared ? 0 : value].value,
				 compared ? row.values[1].value : 0);
		folded->several_events |= seen && folded->line.items[0] != folded->first_event;
		folded->first_event = folded->line.items[0];
	}
	return err;
}

static struct mt_error *write_folded(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	MT_CLEANUP(folded_deinit)
	struct folded folded = {
		.table = table,
		.paths = mt_paths_create(table->stacks, table->frames, view->srcline),
		.lines = mt_wordlines_create(table->compared),
		.event = mt_table_key(table, "event"),
		.stack = mt_table_key_of_kind(table, MT_KEY_STACK),
		.state = table->compared ? mt_table_key(table, "state") : MT_COLUMN_NONE,
		.head = table->key_count - (mt_table_key(table, "event") != MT_COLUMN_NONE) -
			table->compared,
	};
	struct mt_limited_table limited;
	struct mt_error *err = NULL;

	if (table->compared) {
		err = mt_limited_table_init(&limited, table, view->value, &view->limit);
		folded.table = &limited.table;
	}
	mt_frames_resolve(table->frames);
	err = err ? err : take_rows(&folded, view->value);
	if (err)
		return err;
	if (!table->compared)
		mt_wordlines_limit(folded.lines, &view->limit);
	mt_wordlines_print(folded.lines, folded.several_events ? 0 : 1, to);
	if (view->remainder)
		view->remainder->below_zero = mt_wordlines_left_out(folded.lines);
	return NULL;
}

const struct mt_output mt_output_folded = {
	.name = "folded",
	.help = "one line per stack with its count, for flame graphs",
	.needs = MT_NEEDS_STACK | MT_TAKES_KEYS | MT_LIMITS_ROWS,
	.write = write_folded,
};
