/*
 * Names depend on where symbols start, so starts are chosen, and with each start all its symbols:
 *
 * 1. Functions with a size that contain a seen place.
 * 2. Starts in each place, and the last start before the place, whatever its size: functions
 *    without a size end there, if they start earlier.
 * 3. If that start may be a plain label, the functions around it: a label inside a function, or at
 *    a place where a function ends, does not count.
 * 4. Resolvers whose address a stub's relocation has instead of a symbol. They are seen places.
 * 5. The first start after the last place: the last function without a size ends there.
 *
 * Names are only read on machines where they distinguish functions from mapping symbols.
 */
#include "symbols/carried/skeleton_parts.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "symbols/carried/function_symbol.h"
#include "symbols/carried/seen_code.h"
#include "symbols/carried/skeleton.h"
#include "symbols/elf/elf_input.h"
#include "symbols/elf/elf_private.h"
#include "symbols/tables/address_sort.h"

#define CHOSEN_MAX ((size_t)32 << 20) /* bytes of symbols; no real file needs more */
#define WINDOW ((size_t)32 << 10)     /* bytes of symbols in memory at a time */

/* The last start at or before a place, but after the previous place. */
struct nearest {
	uint64_t start;
	uint64_t reach;	   /* the highest end of the functions that end before the place */
	bool there, label; /* label: a symbol at `start` has neither size nor type */
};

struct choice {
	MT_ARRAY(uint64_t) units; /* places, and those of resolvers */
	struct nearest *nearest;  /* by unit */
	size_t first;		  /* first place that ends after the current symbol */
	uint64_t after;		  /* the first start after the last place, or UINT64_MAX */
	MT_ARRAY(uint64_t) labels;
	MT_ARRAY(uint64_t) starts;     /* chosen starts */
	struct mt_kept_symbols *table; /* the current table */
	uint8_t *entries;	       /* WINDOW bytes for entries of the table */
};

static void choice_deinit(struct choice *choice)
{
	mt_array_deinit(&choice->units);
	free(choice->nearest);
	mt_array_deinit(&choice->labels);
	mt_array_deinit(&choice->starts);
	free(choice->entries);
}

/* ---- Visiting the tables ---- */

/*
 * Visits each symbol. matters() drops most symbols by their address, before the more expensive
 * check whether the symbol is a function.
 */
struct visitor {
	bool (*matters)(struct choice *choice, uint64_t start, uint64_t size);
	bool (*visit)(struct choice *choice, const struct mt_function_place *place,
		      const uint8_t *entry);
};

/* Loops are compiled for each visitor: an image has hundreds of thousands of symbols. */
#define FOR_EACH_VISITOR static inline __attribute__((always_inline))

/* Reads the symbol if it is a function; its name may be needed to decide that. */
static bool read_named(struct mt_kept_symbols *table, size_t i, struct mt_function_place *out)
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

static bool visit_named(struct choice *choice, size_t i, struct visitor visitor)
{
	struct mt_kept_symbols *table = choice->table;
	const struct mt_elf_symbol_table *raw = mt_elf_symbol_table(table->from, table->dynamic);
	struct mt_function_place place;

	return !read_named(table, i, &place) || !visitor.matters(choice, place.start, place.size) ||
	       visitor.visit(choice, &place, raw->bytes + i * raw->stride);
}

/* Visits the symbols [i, end), whose entries are in memory. */
FOR_EACH_VISITOR bool visit_entries(struct choice *choice, const struct mt_elf_symbol_table *raw,
				    const uint8_t *entry, size_t i, size_t end,
				    const struct visitor visitor)
{
	struct mt_elf *elf = choice->table->from;
	const size_t stride = raw->stride;
	const bool wide = elf->is_64;
	struct mt_function_place place;

	for (; i < end; i++, entry += stride) {
		uint64_t start = wide ? mt_get_le64(entry + 8) : mt_get_le32(entry + 4);
		uint64_t size = wide ? mt_get_le64(entry + 16) : mt_get_le32(entry + 8);

		if (visitor.matters(choice, start, size) &&
		    mt_symbol_function_at(elf, raw, entry, i, &place) &&
		    !visitor.visit(choice, &place, entry))
			return false;
	}
	return true;
}

FOR_EACH_VISITOR bool visit_table(struct choice *choice, const struct visitor visitor)
{
	struct mt_kept_symbols *table = choice->table;
	const struct mt_elf_symbol_table *raw = mt_elf_symbol_table(table->from, table->dynamic);
	struct mt_span span = {raw->bytes, raw->count * raw->stride, 0};
	bool named = mt_symbol_names_report(table->from);
	size_t step = raw->count && !named ? WINDOW / raw->stride : 1, n;

	for (size_t i = 1; i < raw->count && i < UINT32_MAX; i += n) {
		const uint8_t *entries;
		bool good;

		n = step < raw->count - i ? step : raw->count - i;
		if (named || !step) { /* one at a time, in place */
			n = 1;
			mt_elf_input_need(table->input, span, i * raw->stride, raw->stride);
			good = visit_named(choice, i, visitor);
		} else {
			entries = mt_elf_input_look(table->input, span, i * raw->stride,
						    n * raw->stride, choice->entries);
			good = visit_entries(choice, raw, entries, i, i + n, visitor);
		}
		if (!good)
			return false;
	}
	return true;
}

FOR_EACH_VISITOR bool visit_tables(struct choice *choice, struct mt_kept_symbols *const tables[2],
				   const struct visitor visitor)
{
	for (int i = 0; i < 2; i++) {
		choice->table = tables[i];
		if (!visit_table(choice, visitor))
			return false;
	}
	return true;
}

/* ---- Choosing starts ---- */

static bool choose(struct choice *choice, uint64_t start)
{
	return mt_array_append(&choice->starts, start);
}

static inline uint64_t end_of(uint64_t start, uint64_t size)
{
	uint64_t end;

	return __builtin_add_overflow(start, size, &end) ? UINT64_MAX : end;
}

static void note_nearest(struct nearest *nearest, const struct mt_function_place *place)
{
	bool label = !place->size && !place->typed;

	if (!nearest->there || place->start > nearest->start) {
		nearest->start = place->start;
		nearest->there = true;
		nearest->label = label;
	} else if (place->start == nearest->start) {
		nearest->label |= label;
	}
}

/* True if a symbol may matter for the first place that ends after its start. */
static inline bool is_near_place(struct choice *choice, uint64_t start, uint64_t size)
{
	const uint64_t *units = choice->units.items;
	size_t i = mt_array_split(choice->units.count, at,
				  start > units[at] && start - units[at] >= MT_SEEN_UNIT);

	choice->first = i;
	if (i == choice->units.count)
		return start < choice->after;
	return start >= choice->nearest[i].start || end_of(start, size) > choice->nearest[i].reach;
}

/*
 * Chooses the start if it is in the place or its function covers the place; otherwise it may be the
 * nearest one.
 */
static inline bool choose_by_place(struct choice *choice, const struct mt_function_place *place,
				   const uint8_t *entry)
{
	size_t i = choice->first;
	uint64_t end = end_of(place->start, place->size);
	struct nearest *nearest = &choice->nearest[i];

	(void)entry;
	if (i == choice->units.count) {
		choice->after = place->start;
		return true;
	}
	if (place->start > choice->units.items[i])
		return choose(choice, place->start);
	note_nearest(nearest, place);
	if (end > choice->units.items[i])
		return choose(choice, place->start);
	nearest->reach = end > nearest->reach ? end : nearest->reach;
	return true;
}

/* True if the symbol may cover a label. */
static inline bool is_near_label(struct choice *choice, uint64_t start, uint64_t size)
{
	size_t i;

	if (start > choice->labels.items[choice->labels.count - 1] ||
	    end_of(start, size) <= choice->labels.items[0])
		return false;
	i = mt_array_split(choice->labels.count, at, choice->labels.items[at] <= start);
	return i < choice->labels.count && choice->labels.items[i] < end_of(start, size);
}

static inline bool choose_by_label(struct choice *choice, const struct mt_function_place *place,
				   const uint8_t *entry)
{
	(void)entry;
	return choose(choice, place->start);
}

/* Chooses the nearest starts, and lists starts of labels before their place. */
static bool choose_nearest(struct choice *choice)
{
	for (size_t i = 0; i < choice->units.count; i++) {
		const struct nearest *nearest = &choice->nearest[i];

		if (!nearest->there)
			continue;
		if (!choose(choice, nearest->start))
			return false;
		if (!nearest->label || nearest->start == choice->units.items[i] ||
		    nearest->reach <= nearest->start)
			continue; /* symbols that cover both the label and the place are already
				     chosen */
		if (!mt_array_append(&choice->labels, nearest->start))
			return false;
	}
	return choice->after == UINT64_MAX || choose(choice, choice->after);
}

/* Lists each place once, ascending. */
static bool list_units(struct choice *choice, const struct mt_seen_code *seen,
		       const struct mt_kept_symbols *dynamic)
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

static bool choose_starts(struct choice *choice, struct mt_kept_symbols *const tables[2])
{
	static const struct visitor by_place = {is_near_place, choose_by_place};
	static const struct visitor by_label = {is_near_label, choose_by_label};

	choice->after = UINT64_MAX;
	choice->nearest = calloc(choice->units.count, sizeof(*choice->nearest));
	if (!choice->nearest || !visit_tables(choice, tables, by_place) || !choose_nearest(choice))
		return false;
	return !choice->labels.count || visit_tables(choice, tables, by_label);
}

/* ---- Choosing symbols ---- */

static inline bool is_chosen(struct choice *choice, uint64_t start, uint64_t size)
{
	const uint64_t *starts = choice->starts.items;
	size_t i = mt_array_split(choice->starts.count, at, starts[at] < start);

	(void)size;
	return i < choice->starts.count && starts[i] == start;
}

static inline bool choose_symbol(struct choice *choice, const struct mt_function_place *place,
				 const uint8_t *entry)
{
	struct mt_kept_symbols *table = choice->table;
	size_t size = mt_skeleton_symbol_size(table->from);

	(void)place;
	return table->chosen.count + size <= CHOSEN_MAX &&
	       mt_array_extend(&table->chosen, entry, size);
}

static inline bool is_any(struct choice *choice, uint64_t start, uint64_t size)
{
	(void)choice, (void)start, (void)size;
	return true;
}

bool mt_seen_symbols_choose(const struct mt_seen_code *seen, struct mt_kept_symbols *plain,
			    struct mt_kept_symbols *dynamic)
{
	struct mt_kept_symbols *const tables[2] = {plain, dynamic};
	static const struct visitor choosing = {is_chosen, choose_symbol};
	static const struct visitor choosing_all = {is_any, choose_symbol};
	MT_CLEANUP(choice_deinit) struct choice choice = {0};

	choice.entries = malloc(WINDOW);
	if (!choice.entries)
		return false;
	if (!seen)
		return visit_tables(&choice, tables, choosing_all);
	return !seen->count ||
	       (list_units(&choice, seen, dynamic) && choose_starts(&choice, tables) &&
		mt_number_sort(choice.starts.items, choice.starts.count) &&
		visit_tables(&choice, tables, choosing));
}
