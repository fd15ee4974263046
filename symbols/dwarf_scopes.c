/*
 * The functions of a unit and the calls that were inlined into them. A unit's outline - which
 * function has which addresses - is read first, stepping over what cannot have code and over the
 * functions' own entries; those are read when the first address in a function is asked for.
 *
 * Functions may stand where the outline does not look: in types that are local to a function, in
 * functions of their own. Their code is in no function of the outline, so that the first address in
 * such a gap has a unit looked through for them.
 */
#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "symbols/dwarf.h"
#include "symbols/interval_table.h"

enum {
	REFERENCES_MAX = 16, /* from an entry to the one that has the name */
	PADDING_MAX = 16,    /* between two functions; what is wider may have another */
	SCANS_MAX = 64,	     /* of a function's intervals, before they are put into a table */
	PENDING = 64,	     /* names that are looked for together */
};

static uint32_t find_in(const struct mt_interval_table *table, uint64_t address)
{
	return table ? mt_interval_table_find(table, address) : MT_INTERVAL_NONE;
}

bool mt_scopes_outlined(const struct mt_scopes *scopes, uint64_t address)
{
	return find_in(scopes->outline, address) != MT_INTERVAL_NONE;
}

/* Walks a unit into a table; *out is set on damage, too: what came before it holds. */
static struct mt_error *walk_unit(struct mt_scopes *scopes, enum mt_walk mode,
				  struct mt_interval_table **out)
{
	size_t first = scopes->intervals.count, count;
	struct mt_error *err = mt_walk_from(scopes, scopes->unit->entries, mode, NULL);

	if (err && err->kind == MT_ERR_NOMEM)
		return err;
	count = scopes->intervals.count - first;
	*out = mt_interval_table_create(count ? scopes->intervals.items + first : NULL, count);
	scopes->intervals.count = first;
	if (!first)
		mt_array_deinit(&scopes->intervals);
	mt_array_shrink(&scopes->functions);
	if (*out)
		return err;
	mt_error_destroy(err);
	return mt_error_nomem();
}

/* ---- Units ---- */

struct mt_error *mt_scopes_read(struct mt_dwarf_unit *unit, const struct mt_code_filter *filter,
				struct mt_scopes *out)
{
	struct mt_error *err = mt_dwarf_unit_abbrevs(unit);

	if (err)
		return err;
	*out = (struct mt_scopes){.unit = unit, .filter = *filter};
	return NULL;
}

void mt_scopes_deinit(struct mt_scopes *scopes)
{
	for (size_t i = 0; i < scopes->functions.count; i++)
		mt_interval_table_destroy(scopes->functions.items[i].table);
	mt_array_deinit(&scopes->functions);
	mt_array_deinit(&scopes->answers);
	mt_array_deinit(&scopes->items);
	mt_array_deinit(&scopes->details);
	mt_array_deinit(&scopes->intervals);
	mt_map64_deinit(&scopes->by_origin);
	mt_interval_table_destroy(scopes->outline);
	mt_interval_table_destroy(scopes->nested);
	scopes->outline = scopes->nested = NULL;
}

static struct mt_error *read_function(struct mt_scopes *scopes, struct mt_scope_function *function)
{
	struct mt_error *err;

	function->read = true;
	function->first = (uint32_t)scopes->intervals.count;
	err = mt_walk_from(scopes, function->entry, MT_WALK_TABLE, NULL);
	function->count = (uint32_t)scopes->intervals.count - function->first;
	return err;
}

/* The innermost of some intervals around an address, as a table of them would give it. */
static uint32_t scan(const struct mt_interval *items, size_t count, uint64_t address)
{
	const struct mt_interval *best = NULL;

	for (size_t i = 0; i < count; i++) {
		if (address - items[i].start < items[i].end - items[i].start &&
		    (!best || items[i].rank >= best->rank))
			best = &items[i]; /* of one rank the last: values rise */
	}
	return best ? best->value : MT_INTERVAL_NONE;
}

/*
 * Looking through a function's intervals costs less than to make a table of them, until it was done
 * often.
 */
static uint32_t find_in_function(struct mt_scopes *scopes, struct mt_scope_function *function,
				 uint64_t address)
{
	struct mt_interval *items =
		function->count ? &scopes->intervals.items[function->first] : NULL;

	if (!function->table && function->count > SCANS_MAX && function->asked++ == SCANS_MAX)
		function->table = mt_interval_table_create(items, function->count);
	return function->table ? find_in(function->table, address)
			       : scan(items, function->count, address);
}

/* Keeps the first of two errors. */
static struct mt_error *first_of(struct mt_error *err, struct mt_error *later)
{
	if (!err)
		return later;
	mt_error_destroy(later);
	return err;
}

/* The function that has an address, or MT_INTERVAL_NONE. */
static struct mt_error *find_function(struct mt_scopes *scopes, uint64_t address, uint32_t *out)
{
	struct mt_interval_gap gap;
	struct mt_error *err = NULL;

	if (!scopes->outline_read) {
		scopes->outline_read = true;
		err = walk_unit(scopes, MT_WALK_OUTLINE, &scopes->outline);
	}
	*out = find_in(scopes->outline, address);
	if (*out != MT_INTERVAL_NONE || !scopes->outline)
		return err;
	gap = mt_interval_table_gap(scopes->outline, address);
	if (gap.end - gap.start < PADDING_MAX)
		return err;
	if (!scopes->nested_read) {
		scopes->nested_read = true;
		err = first_of(err, walk_unit(scopes, MT_WALK_NESTED, &scopes->nested));
	}
	*out = find_in(scopes->nested, address);
	return err;
}

static uint32_t find_answer(const struct mt_scopes *scopes, uint64_t address, bool *found)
{
	const struct mt_scope_answer *items = scopes->answers.items;
	size_t at = mt_array_first_from(items, scopes->answers.count, address);

	*found = at < scopes->answers.count && items[at].address == address;
	return *found ? items[at].scope : MT_SCOPE_NONE;
}

struct mt_error *mt_scopes_find(struct mt_scopes *scopes, uint64_t address, uint32_t *out)
{
	struct mt_error *err, *later = NULL;
	uint32_t function;
	bool found;

	*out = find_answer(scopes, address, &found);
	if (found || !scopes->unit)
		return NULL;
	err = find_function(scopes, address, &function);
	if (function == MT_INTERVAL_NONE)
		return err;
	if (!scopes->functions.items[function].read)
		later = read_function(scopes, &scopes->functions.items[function]);
	*out = find_in_function(scopes, &scopes->functions.items[function], address);
	return first_of(err, later);
}

/* ---- Details ---- */

/* What an entry says about a function, here or elsewhere, and about where it was called. */
struct description {
	const char *name, *linkage_name;
	struct mt_dwarf_value elsewhere;
	uint32_t call_file, call_line;
};

static uint32_t small(uint64_t number)
{
	return number > UINT32_MAX ? 0 : (uint32_t)number;
}

static void take_description(const struct mt_dwarf_unit *unit, struct description *d, uint16_t name,
			     const struct mt_dwarf_value *value)
{
	switch (name) {
	case DW_AT_name:
		if (!d->name)
			d->name = mt_dwarf_string(unit, value);
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		d->linkage_name = mt_dwarf_string(unit, value);
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		d->elsewhere = *value;
		break;
	case DW_AT_call_file:
		d->call_file = small(value->number);
		break;
	case DW_AT_call_line:
		d->call_line = small(value->number);
		break;
	}
}

static void read_description(struct mt_dwarf_unit *unit, uint64_t entry, struct description *d)
{
	struct mt_cursor c = mt_cursor_init(unit->file->info.bytes + entry, unit->end - entry);
	struct mt_error *err = mt_dwarf_unit_abbrevs(unit);
	const struct mt_abbrev *abbrev =
		err ? NULL : mt_abbrevs_find(unit->abbrevs, mt_dwarf_uleb(&c));
	const uint8_t *values = c.pos;

	mt_error_destroy(err);
	d->elsewhere = (struct mt_dwarf_value){0};
	if (!abbrev || (abbrev->is_fixed && !mt_cursor_bytes(&c, abbrev->skip.bytes)))
		return;
	for (uint32_t i = 0; i < abbrev->count; i++) {
		const struct mt_abbrev_attribute *a =
			&unit->abbrevs->attributes.items[abbrev->first + i];
		struct mt_dwarf_value value;

		if (abbrev->is_fixed)
			c.pos = values + a->at;
		mt_dwarf_attribute_value(unit, &c, a, &value);
		if (c.bad)
			return;
		take_description(unit, d, a->name, &value);
	}
}

/* Follows references to a function's name, once for all calls of it: that costs most. */
static void find_name(struct mt_scopes *scopes, struct mt_dwarf_unit *unit, struct description *d,
		      struct mt_scope_detail *out)
{
	uint64_t entry, origin = 0, like;

	for (int i = 0; i < REFERENCES_MAX && !d->linkage_name && d->elsewhere.form &&
			mt_dwarf_reference(unit, &d->elsewhere, &unit, &entry);
	     i++) {
		if (!i && !d->name && unit->file == scopes->unit->file) {
			if (mt_map64_get(&scopes->by_origin, entry, &like)) {
				out->name = scopes->details.items[like].name;
				out->mangled = scopes->details.items[like].mangled;
				return;
			}
			origin = entry;
		}
		read_description(unit, entry, d);
	}
	out->mangled = d->linkage_name;
	out->name = d->linkage_name ? d->linkage_name : d->name;
	__builtin_prefetch(out->name); /* it is read soon */
	if (origin)		       /* not kept, it is found again */
		(void)mt_map64_put(&scopes->by_origin, origin,
				   (uint64_t)(out - scopes->details.items));
}

/* What an entry says by itself about a scope: all but its name. False out of memory. */
static bool begin_detail(struct mt_scopes *scopes, uint32_t index, struct description *d)
{
	struct mt_scope *scope = &scopes->items.items[index];
	struct mt_scope_detail *detail = mt_array_push(&scopes->details);

	if (!detail)
		return false;
	scope->detail = (uint32_t)scopes->details.count;
	*d = (struct description){0};
	read_description(scopes->unit, scope->entry, d);
	*detail = (struct mt_scope_detail){
		.parent = scope->parent,
		.call_file = d->call_file,
		.call_line = d->call_line,
	};
	return true;
}

struct mt_scope_detail mt_scope_detail(struct mt_scopes *scopes, uint32_t index)
{
	struct mt_scope *scope = &scopes->items.items[index];
	struct description d;

	if (!scope->detail) {
		if (!begin_detail(scopes, index, &d))
			return (struct mt_scope_detail){.parent = scope->parent};
		find_name(scopes, scopes->unit, &d, &scopes->details.items[scope->detail - 1]);
	}
	return scopes->details.items[scope->detail - 1];
}

/* ---- Many addresses ---- */

static int compare_answers(const void *a, const void *b)
{
	const struct mt_scope_answer *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Keeps what was found at some addresses. */
static struct mt_error *keep_answers(struct mt_scopes *scopes, const struct mt_scope_answer *found,
				     size_t count)
{
	size_t before = scopes->answers.count;

	if (!mt_array_reserve(&scopes->answers, before + count))
		return mt_error_nomem();
	memcpy(scopes->answers.items + before, found, count * sizeof(*found));
	scopes->answers.count += count;
	if (before)
		qsort(scopes->answers.items, scopes->answers.count, sizeof(*found),
		      compare_answers);
	return NULL;
}

/* Which functions have addresses, where tables of these pay: they are asked about for once more. */
static struct mt_error *place_by_tables(struct mt_scopes *scopes, const struct mt_walk_asked *asked)
{
	struct mt_error *err = NULL;
	uint32_t function;

	for (size_t i = 0; i < asked->count; i++) {
		err = first_of(err, find_function(scopes, asked->answers[i].address, &function));
		if (function != MT_INTERVAL_NONE)
			asked->places[i].function = scopes->functions.items[function].entry;
	}
	return err;
}

/* After a walk that looked for functions: how many addresses may be in one elsewhere. */
static size_t settle(const struct mt_walk_asked *asked)
{
	struct mt_scope_place *places = asked->places;
	size_t open = 0;

	for (size_t i = 1; i < asked->count; i++) {
		if (places[i].gap_start < places[i - 1].gap_start)
			places[i].gap_start = places[i - 1].gap_start;
	}
	for (size_t i = asked->count; i-- > 0;) {
		if (i + 1 < asked->count && places[i].gap_end > places[i + 1].gap_end)
			places[i].gap_end = places[i + 1].gap_end;
		if (places[i].function || places[i].gap_end - places[i].gap_start < PADDING_MAX)
			places[i].rank = UINT32_MAX;
		open += places[i].rank != UINT32_MAX;
	}
	return open;
}

/* The same without tables, by looking for these addresses alone. */
static struct mt_error *place_by_walks(struct mt_scopes *scopes, const struct mt_walk_asked *asked)
{
	/* nearly all that is elsewhere is in types and functions that are local to one */
	static const enum mt_walk modes[] = {MT_WALK_OUTLINE, MT_WALK_LOCAL, MT_WALK_NESTED};
	struct mt_error *err = NULL;
	size_t open = asked->count;

	for (size_t i = 0; i < asked->count; i++)
		asked->places[i].gap_end = UINT64_MAX;
	for (size_t i = 0; open && i < sizeof(modes) / sizeof(*modes); i++) {
		err = first_of(err, mt_walk_from(scopes, scopes->unit->entries, modes[i], asked));
		open = settle(asked);
	}
	return err;
}

/* Finds the scopes at addresses, each in its function. */
static struct mt_error *ask_functions(struct mt_scopes *scopes, const struct mt_walk_asked *asked)
{
	struct mt_error *err = NULL;
	size_t next;

	for (size_t i = 0; i < asked->count; i = next) {
		struct mt_walk_asked within = {.answers = &asked->answers[i]};
		uint64_t function = asked->places[i].function;

		for (next = i; next < asked->count && asked->places[next].function == function;)
			next++;
		within.count = next - i;
		if (next < asked->count)
			mt_walk_announce(scopes, asked->places[next].function);
		if (function)
			err = first_of(err, mt_walk_from(scopes, function, MT_WALK_ASKED, &within));
	}
	return err;
}

/* Scopes whose names are on their way. */
struct pending {
	struct description descriptions[PENDING];
	uint32_t details[PENDING];
	size_t count;
};

static void find_names(struct mt_scopes *scopes, struct pending *pending)
{
	for (size_t i = 0; i < pending->count; i++)
		find_name(scopes, scopes->unit, &pending->descriptions[i],
			  &scopes->details.items[pending->details[i]]);
	pending->count = 0;
}

/* Reads about a scope, and has memory make ready what it refers to. */
static void add_pending(struct mt_scopes *scopes, uint32_t scope, struct pending *pending)
{
	struct description *d = &pending->descriptions[pending->count];
	struct mt_dwarf_unit *unit = scopes->unit;
	uint64_t entry;

	if (!begin_detail(scopes, scope, d))
		return;
	if (d->elsewhere.form && mt_dwarf_reference(unit, &d->elsewhere, &unit, &entry))
		__builtin_prefetch(unit->file->info.bytes + entry);
	pending->details[pending->count++] = scopes->items.items[scope].detail - 1;
	if (pending->count == PENDING)
		find_names(scopes, pending);
}

/*
 * What is said about the scopes that were found, while their entries are at hand; the names of some
 * at a time, so that these do not wait for memory one after the other.
 */
static void read_details(struct mt_scopes *scopes, const struct mt_scope_answer *found,
			 size_t count)
{
	struct pending pending = {.count = 0};

	for (size_t i = 0; i < count; i++) {
		for (uint32_t scope = found[i].scope; scope != MT_SCOPE_NONE;
		     scope = scopes->items.items[scope].parent) {
			if (!scopes->items.items[scope].detail)
				add_pending(scopes, scope, &pending);
		}
	}
	find_names(scopes, &pending);
}

struct mt_error *mt_scopes_prepare(struct mt_scopes *scopes, const uint64_t *addresses,
				   size_t count)
{
	MT_CLEANUP_FREE struct mt_scope_answer *answers = calloc(count + 1, sizeof(*answers));
	MT_CLEANUP_FREE struct mt_scope_place *places = calloc(count + 1, sizeof(*places));
	struct mt_walk_asked asked = {.answers = answers, .places = places};
	struct mt_error *err;
	bool found;

	if (!answers || !places)
		return mt_error_nomem();
	for (size_t i = 0; i < count; i++) {
		(void)find_answer(scopes, addresses[i], &found);
		if (!found && (!i || addresses[i] != addresses[i - 1]))
			answers[asked.count++] =
				(struct mt_scope_answer){addresses[i], MT_SCOPE_NONE, 0};
	}
	if (!scopes->unit || !asked.count)
		return NULL;
	err = scopes->prepared || scopes->outline_read ? place_by_tables(scopes, &asked)
						       : place_by_walks(scopes, &asked);
	scopes->prepared = true;
	err = first_of(err, ask_functions(scopes, &asked));
	read_details(scopes, answers, asked.count);
	return first_of(err, keep_answers(scopes, answers, asked.count));
}
