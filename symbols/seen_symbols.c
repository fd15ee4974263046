/*
 * What decides a name is where symbols start, so starts are chosen, and of each all its symbols:
 *
 * - of functions with a size that have a seen place in them;
 * - in each place, and the last one before it, whatever its size: it is where those without a size
 *   that start before it end;
 * - where that one may be a bare label, of functions around it: a label in a function counts for
 *   nothing, as does one at a place that they end before;
 * - where a stub's relocation has the address of its function's resolver in place of a symbol: as
 *   if that had been seen;
 * - the first one behind the last place, where the last function without a size ends.
 *
 * Names are not looked at for it, but on machines where they tell functions from marks.
 */
#include "symbols/seen_symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "symbols/address_sort.h"
#include "symbols/elf_private.h"
#include "symbols/function_symbol.h"
#include "symbols/number_index.h"
#include "symbols/seen_code.h"
#include "symbols/skeleton.h"
#include "symbols/skeleton_symbols.h"

#define WINDOW ((size_t)32 << 10) /* bytes of symbols that are looked at at a time */
#define AT_ONCE 64
#define FILTER_BITS 6 /* of a filter for each start: of other addresses one in 64 passes it */

/* The last start at or below a place and behind the one before it. */
struct nearest {
	uint64_t start;
	bool there, label; /* label: a symbol there has neither size nor type */
};

struct choice {
	MT_ARRAY(uint64_t) units; /* seen, and those of resolvers */
	struct mt_number_index places;
	struct nearest *nearest; /* by place */
	uint64_t behind;	 /* the first start behind the last place, or UINT64_MAX */
	MT_ARRAY(uint64_t) labels;
	struct mt_number_index label_index;
	MT_ARRAY(uint64_t) starts; /* those chosen */
	struct mt_number_index start_index;
	uint64_t *filter; /* of them, a bit for each hash */
	unsigned int filter_shift;
	struct mt_skeleton_table *table; /* that is gone through */
	uint8_t *entries;		 /* WINDOW bytes, to look at some of it */
};

static void choice_deinit(struct choice *choice)
{
	mt_array_deinit(&choice->units);
	mt_number_index_deinit(&choice->places);
	free(choice->nearest);
	mt_array_deinit(&choice->labels);
	mt_number_index_deinit(&choice->label_index);
	mt_array_deinit(&choice->starts);
	mt_number_index_deinit(&choice->start_index);
	free(choice->filter);
	free(choice->entries);
}

/* ---- Going through the tables ---- */

typedef bool visit_function(struct choice *choice, const struct mt_function_place *place);

/* The symbol, where it is a function's and its name may be needed to tell. */
static bool read_named(struct mt_skeleton_table *table, size_t i, struct mt_function_place *out)
{
	struct mt_elf_symbol symbol;

	if (!mt_elf_symbol(table->from, table->dynamic, i, &symbol))
		return false;
	if (symbol.type == STT_NOTYPE && table->input)
		table->input->need(table->input->context, (const uint8_t *)symbol.name, 4);
	if (!mt_symbol_is_function(table->from, &symbol))
		return false;
	*out = (struct mt_function_place){symbol.value, symbol.size, i, symbol.type != STT_NOTYPE};
	return true;
}

static bool visit_window(struct choice *choice, const uint8_t *entries, size_t i, size_t end,
			 visit_function *visit)
{
	struct mt_skeleton_table *table = choice->table;
	size_t stride = mt_elf_symbol_table(table->from, table->dynamic)->stride, first = i, given;
	struct mt_function_place places[AT_ONCE];

	while ((given = mt_symbol_functions_in(table->from, table->dynamic,
					       entries + (i - first) * stride, &i, end, places,
					       AT_ONCE))) {
		for (size_t k = 0; k < given; k++) {
			if (!visit(choice, &places[k]))
				return false;
		}
	}
	return true;
}

static bool visit_named(struct choice *choice, size_t i, visit_function *visit)
{
	struct mt_function_place place;

	return !read_named(choice->table, i, &place) || visit(choice, &place);
}

static bool visit_table(struct choice *choice, visit_function *visit)
{
	struct mt_skeleton_table *table = choice->table;
	const struct mt_elf_symbol_table *raw = mt_elf_symbol_table(table->from, table->dynamic);
	struct mt_span span = {raw->bytes, raw->count * raw->stride, 0};
	bool named = mt_symbol_names_tell(table->from);
	size_t step = raw->count && !named ? WINDOW / raw->stride : 1, n;

	for (size_t i = 1; i < raw->count && i < UINT32_MAX; i += n) {
		const uint8_t *entries;
		bool good;

		n = step < raw->count - i ? step : raw->count - i;
		if (named || !step) { /* alone, and where they are */
			n = 1;
			mt_skeleton_input_need(table->input, span, i * raw->stride, raw->stride);
			good = visit_named(choice, i, visit);
		} else {
			entries = mt_skeleton_input_look(table->input, span, i * raw->stride,
							 n * raw->stride, choice->entries);
			good = visit_window(choice, entries, i, i + n, visit);
		}
		if (!good)
			return false;
	}
	return true;
}

static bool visit_tables(struct choice *choice, struct mt_skeleton_table *const tables[2],
			 visit_function *visit)
{
	for (int i = 0; i < 2; i++) {
		choice->table = tables[i];
		if (!visit_table(choice, visit))
			return false;
	}
	return true;
}

/* ---- Choosing starts ---- */

static bool choose(struct choice *choice, uint64_t start)
{
	if (!mt_array_reserve(&choice->starts, choice->starts.count + 1))
		return false;
	choice->starts.items[choice->starts.count++] = start;
	return true;
}

static uint64_t end_of(const struct mt_function_place *place)
{
	uint64_t end;

	return __builtin_add_overflow(place->start, place->size, &end) ? UINT64_MAX : end;
}

static void note_nearest(struct nearest *nearest, const struct mt_function_place *place)
{
	bool label = !place->size && !place->typed;

	if (!nearest->there || place->start > nearest->start)
		*nearest = (struct nearest){place->start, true, label};
	else if (place->start == nearest->start)
		nearest->label |= label;
}

/* Chooses the start, where it has to do with the first place that ends behind it. */
static bool choose_by_place(struct choice *choice, const struct mt_function_place *place)
{
	uint64_t start = place->start, unit;
	size_t i = mt_number_index_less(&choice->places,
					start < MT_SEEN_UNIT ? 0 : start - (MT_SEEN_UNIT - 1));

	if (i == choice->units.count) {
		choice->behind = start < choice->behind ? start : choice->behind;
		return true;
	}
	unit = choice->units.items[i];
	if (start <= unit)
		note_nearest(&choice->nearest[i], place);
	return (start <= unit && end_of(place) <= unit) || choose(choice, start);
}

/* Chooses the start of a function around a label. */
static bool choose_by_label(struct choice *choice, const struct mt_function_place *place)
{
	size_t i = mt_number_index_less(&choice->label_index, place->start + 1);

	return i == choice->labels.count || choice->labels.items[i] >= end_of(place) ||
	       choose(choice, place->start);
}

/* Chooses the nearest starts, and lists those of labels before their place. */
static bool choose_nearest(struct choice *choice)
{
	for (size_t i = 0; i < choice->units.count; i++) {
		const struct nearest *nearest = &choice->nearest[i];

		if (!nearest->there)
			continue;
		if (!choose(choice, nearest->start))
			return false;
		if (!nearest->label || nearest->start == choice->units.items[i])
			continue;
		if (!mt_array_reserve(&choice->labels, choice->labels.count + 1))
			return false;
		choice->labels.items[choice->labels.count++] = nearest->start;
	}
	return choice->behind == UINT64_MAX || choose(choice, choice->behind);
}

/* Each place once, rising. */
static bool list_units(struct choice *choice, const struct mt_seen_code *seen,
		       const struct mt_skeleton_table *dynamic)
{
	size_t count = 0, all = seen->count + dynamic->resolvers.count;
	uint64_t *units;

	if (!mt_array_reserve(&choice->units, all))
		return false;
	units = choice->units.items;
	memcpy(units, seen->units, seen->count * sizeof(*units));
	for (size_t i = 0; i < dynamic->resolvers.count; i++)
		units[seen->count + i] =
			dynamic->resolvers.items[i] & ~(MT_SEEN_UNIT - UINT64_C(1));
	if (!mt_number_sort(units, all))
		return false;
	for (size_t i = 0; i < all; i++) {
		if (!count || units[count - 1] != units[i])
			units[count++] = units[i];
	}
	choice->units.count = count;
	return true;
}

static bool choose_starts(struct choice *choice, struct mt_skeleton_table *const tables[2])
{
	choice->behind = UINT64_MAX;
	choice->nearest = calloc(choice->units.count, sizeof(*choice->nearest));
	if (!choice->nearest ||
	    !mt_number_index_init(&choice->places, choice->units.items, choice->units.count) ||
	    !visit_tables(choice, tables, choose_by_place) || !choose_nearest(choice))
		return false;
	return !choice->labels.count ||
	       (mt_number_index_init(&choice->label_index, choice->labels.items,
				     choice->labels.count) &&
		visit_tables(choice, tables, choose_by_label));
}

/* ---- Marking symbols ---- */

static uint64_t filter_bit(const struct choice *choice, uint64_t start)
{
	return start * UINT64_C(0x9e3779b97f4a7c15) >> choice->filter_shift;
}

/* Sorts the starts, and prepares to ask for one. */
static bool index_starts(struct choice *choice)
{
	unsigned int bits = FILTER_BITS;

	while (bits < 26 && choice->starts.count >> (bits - FILTER_BITS))
		bits++;
	choice->filter_shift = 64 - bits;
	choice->filter = calloc((size_t)1 << (bits - FILTER_BITS), sizeof(*choice->filter));
	if (!choice->filter || !mt_number_sort(choice->starts.items, choice->starts.count) ||
	    !mt_number_index_init(&choice->start_index, choice->starts.items, choice->starts.count))
		return false;
	for (size_t i = 0; i < choice->starts.count; i++) {
		uint64_t bit = filter_bit(choice, choice->starts.items[i]);

		choice->filter[bit / 64] |= UINT64_C(1) << bit % 64;
	}
	return true;
}

static bool mark(struct choice *choice, const struct mt_function_place *place)
{
	uint64_t bit = filter_bit(choice, place->start);

	if (choice->filter[bit / 64] >> bit % 64 & 1 &&
	    mt_number_index_has(&choice->start_index, place->start))
		choice->table->marks.items[place->index / 8] |= (uint8_t)(1u << place->index % 8);
	return true;
}

static bool prepare_marks(struct mt_skeleton_table *table)
{
	size_t bytes = mt_elf_symbol_count(table->from, table->dynamic) / 8 + 1;

	if (!mt_array_reserve(&table->marks, bytes))
		return false;
	memset(table->marks.items, 0, bytes);
	table->marks.count = bytes;
	table->chosen = true;
	table->entries = malloc(MT_SKELETON_LOOK);
	table->names = malloc(MT_SKELETON_LOOK);
	return table->entries && table->names;
}

bool mt_seen_symbols_mark(const struct mt_seen_code *seen, struct mt_skeleton_table *plain,
			  struct mt_skeleton_table *dynamic)
{
	struct mt_skeleton_table *const tables[2] = {plain, dynamic};
	MT_CLEANUP(choice_deinit) struct choice choice = {0};

	choice.entries = malloc(WINDOW);
	if (!choice.entries || !prepare_marks(plain) || !prepare_marks(dynamic))
		return false;
	return !seen->count ||
	       (list_units(&choice, seen, dynamic) && choose_starts(&choice, tables) &&
		index_starts(&choice) && visit_tables(&choice, tables, mark));
}
