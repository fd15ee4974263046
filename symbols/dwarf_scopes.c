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
	DEPTH_MAX = 512,     /* entries within entries; compilers stay below 60 */
	REFERENCES_MAX = 16, /* from an entry to the one that has the name */
	PADDING_MAX = 16,    /* between two functions; what is wider may have another */
};

enum mode {
	WALK_OUTLINE, /* lists functions */
	WALK_NESTED,  /* lists those that the outline has not */
	WALK_TABLE,   /* makes scopes of all that has code */
};

struct walk {
	struct mt_dwarf_unit *unit;
	struct mt_cursor c;
	struct mt_scopes *scopes;
	enum mode mode;
	MT_ARRAY(struct mt_interval) intervals;
	uint32_t enclosing[DEPTH_MAX]; /* the scope that each open level lies in */
	size_t depth;
	uint32_t value; /* whose ranges are being read: scope or function */
	bool nomem, too_many, bad_ranges;
};

static void walk_deinit(struct walk *walk)
{
	mt_array_deinit(&walk->intervals);
}

static struct mt_error *bad_entry(const struct walk *walk, uint64_t entry, const char *what)
{
	return mt_error_create(MT_ERR_FORMAT, ".debug_info: entry 0x%llx of the unit at 0x%llx: %s",
			       (unsigned long long)entry, (unsigned long long)walk->unit->offset,
			       what);
}

/* ---- Scopes ---- */

/* What an entry says about a scope. */
struct scope_values {
	struct mt_dwarf_value low, high, ranges;
	uint32_t call_file, call_line;
};

static uint32_t small(uint64_t number)
{
	return number > UINT32_MAX ? 0 : (uint32_t)number;
}

static void take_value(struct scope_values *values, uint16_t name,
		       const struct mt_dwarf_value *value)
{
	switch (name) {
	case DW_AT_low_pc:
		values->low = *value;
		break;
	case DW_AT_high_pc:
		values->high = *value;
		break;
	case DW_AT_ranges:
		values->ranges = *value;
		break;
	case DW_AT_call_file:
		values->call_file = small(value->number);
		break;
	case DW_AT_call_line:
		values->call_line = small(value->number);
		break;
	}
}

static uint32_t find_in(const struct mt_interval_table *table, uint64_t address)
{
	return table ? mt_interval_table_find(table, address) : MT_INTERVAL_NONE;
}

static bool add_interval(void *context, uint64_t start, uint64_t end)
{
	struct walk *walk = context;
	const struct mt_code_filter *filter = &walk->scopes->filter;
	uint64_t *budget = &walk->unit->file->budget;
	struct mt_interval *interval;

	if (walk->mode != WALK_TABLE && !filter->is_code(filter->context, start))
		return true; /* code that the linker left out */
	if (walk->mode == WALK_NESTED && find_in(walk->scopes->outline, start) != MT_INTERVAL_NONE)
		return true;
	walk->too_many |= *budget < sizeof(*interval);
	if (walk->too_many)
		return false;
	*budget -= sizeof(*interval);
	interval = mt_array_push(&walk->intervals);
	walk->nomem |= !interval;
	if (!interval)
		return false;
	*interval = (struct mt_interval){start, end, (uint32_t)walk->depth, walk->value};
	return true;
}

static void add_ranges(struct walk *walk, const struct scope_values *values)
{
	const struct mt_range_sink sink = {add_interval, walk};
	uint64_t low;
	bool good = true;

	if (values->ranges.form)
		good = mt_dwarf_ranges(walk->unit, &values->ranges, &sink);
	else if (values->low.form && values->high.form)
		good = mt_dwarf_value_address(walk->unit, &values->low, &low) &&
		       mt_dwarf_low_high(walk->unit, low, &values->high, &sink);
	walk->bad_ranges |= !good;
}

static bool has_code(const struct scope_values *values)
{
	return values->ranges.form || values->low.form;
}

/* The scope of the entry in hand, or the one around it where it makes none. */
static uint32_t add_scope(struct walk *walk, uint16_t tag, uint64_t entry,
			  const struct scope_values *values)
{
	uint32_t around = walk->depth ? walk->enclosing[walk->depth - 1] : MT_SCOPE_NONE;
	bool inlined = tag == DW_TAG_inlined_subroutine;
	struct mt_scope *scope;

	if (!inlined && !has_code(values))
		return MT_SCOPE_NONE; /* a declaration, or what inlined calls refer to */
	if (inlined && around == MT_SCOPE_NONE)
		return around;
	walk->value = (uint32_t)walk->scopes->items.count;
	scope = mt_array_push(&walk->scopes->items);
	walk->nomem |= !scope;
	if (!scope)
		return around;
	*scope = (struct mt_scope){
		.entry = entry,
		.parent = inlined ? around : MT_SCOPE_NONE,
		.call_file = values->call_file,
		.call_line = values->call_line,
	};
	add_ranges(walk, values);
	return walk->value;
}

/* ---- Entries ---- */

/* Reads one value; those of the usual sizes without asking for the form again. */
static inline void read_value(const struct mt_dwarf_unit *unit, struct mt_cursor *c,
			      const struct mt_abbrev_attribute *a, struct mt_dwarf_value *value)
{
	value->form = a->form;
	value->string = NULL;
	if (a->size == 4)
		value->number = mt_cursor_u32(c);
	else if (a->size == 1)
		value->number = mt_cursor_u8(c);
	else if (a->size == 8)
		value->number = mt_cursor_u64(c);
	else if (a->size == 2)
		value->number = mt_cursor_u16(c);
	else if (a->form == DW_FORM_implicit_const)
		value->number = (uint64_t)a->implicit;
	else if (a->form != DW_FORM_flag_present)
		mt_dwarf_value(unit, c, a->form, a->implicit, value);
}

static void read_scope(struct walk *walk, const struct mt_abbrev *abbrev,
		       struct scope_values *values)
{
	const struct mt_abbrev_attribute *all = walk->unit->abbrevs->attributes.items;

	for (size_t i = 0; i < abbrev->count; i++) {
		const struct mt_abbrev_attribute *a = &all[abbrev->first + i];
		struct mt_dwarf_value value;

		read_value(walk->unit, &walk->c, a, &value);
		take_value(values, a->name, &value);
	}
}

/* By value, so that the caller's cursor can stay in registers. */
static __attribute__((noinline)) struct mt_cursor skip_value(const struct mt_dwarf_unit *unit,
							     struct mt_cursor c, uint16_t form)
{
	struct mt_dwarf_value value;

	mt_dwarf_value(unit, &c, form, 0, &value);
	return c;
}

static inline void skip_entry(const struct mt_dwarf_unit *unit, struct mt_cursor *c,
			      const struct mt_abbrev *abbrev)
{
	const struct mt_abbrev_skip *skip = unit->abbrevs->skips.items;

	if (!abbrev->skip_count) /* nor need there be any */
		return;
	skip += abbrev->first_skip;
	for (const struct mt_abbrev_skip *end = skip + abbrev->skip_count; skip < end; skip++) {
		if (skip->bytes > (size_t)(c->end - c->pos))
			c->bad = true;
		if (c->bad)
			return;
		c->pos += skip->bytes;
		if (!skip->form) /* the last one */
			return;
		if (skip->form == DW_FORM_exprloc)
			mt_cursor_bytes(c, mt_dwarf_uleb(c));
		else
			*c = skip_value(unit, *c, skip->form);
	}
}

/* Goes on behind the children of the entry that c is behind, where it says how far that is. */
static inline bool skip_to_sibling(const struct mt_dwarf_unit *unit, struct mt_cursor *c,
				   const struct mt_abbrev *abbrev)
{
	const uint8_t *to;
	uint64_t sibling;

	if (!abbrev->ends_in_sibling || c->bad)
		return false;
	sibling = mt_get_le32(c->pos - 4);
	if (sibling > unit->end - unit->offset)
		return false;
	to = unit->file->info.bytes + unit->offset + sibling;
	if (to <= c->pos || to > c->end)
		return false;
	c->pos = to;
	return true;
}

/* Goes behind the children of the entry that c is behind; c->bad where they are corrupt. */
static void skip_children(const struct mt_dwarf_unit *unit, struct mt_cursor *c,
			  const struct mt_abbrev *abbrev)
{
	size_t depth = 1;

	if (skip_to_sibling(unit, c, abbrev))
		return;
	while (depth && mt_cursor_left(c)) {
		uint64_t code = mt_dwarf_uleb(c);

		abbrev = code ? mt_abbrevs_find(unit->abbrevs, code) : NULL;
		if (!code)
			depth--;
		else if (abbrev)
			skip_entry(unit, c, abbrev);
		else
			c->bad = true;
		if (abbrev && abbrev->has_children && !skip_to_sibling(unit, c, abbrev))
			depth++;
	}
}

/* Lists the function that was just read. */
static void add_function(struct walk *walk, uint64_t entry, const struct scope_values *values)
{
	size_t ranges = walk->intervals.count;
	struct mt_scope_function *function;

	walk->value = (uint32_t)walk->scopes->functions.count;
	add_ranges(walk, values);
	if (walk->intervals.count == ranges)
		return; /* left out, or listed before */
	function = mt_array_push(&walk->scopes->functions);
	walk->nomem |= !function;
	if (function)
		function->entry = entry;
}

/* Goes behind the children of the entry that was just read. */
static struct mt_error *pass_children(struct walk *walk, const struct mt_abbrev *abbrev,
				      uint64_t entry)
{
	if (abbrev->has_children)
		skip_children(walk->unit, &walk->c, abbrev);
	return walk->c.bad ? bad_entry(walk, entry, "cut short, or of an unknown form") : NULL;
}

static struct mt_error *open_level(struct walk *walk, uint64_t entry, uint32_t scope)
{
	if (walk->depth == DEPTH_MAX)
		return bad_entry(walk, entry, "nested too deeply");
	walk->enclosing[walk->depth++] = scope;
	return NULL;
}

static struct mt_error *walk_scope(struct walk *walk, const struct mt_abbrev *abbrev,
				   uint64_t entry)
{
	struct scope_values values = {0};
	uint32_t scope = MT_SCOPE_NONE;

	read_scope(walk, abbrev, &values);
	if (walk->c.bad)
		return bad_entry(walk, entry, "cut short, or of an unknown form");
	if (walk->mode == WALK_TABLE)
		scope = add_scope(walk, abbrev->tag, entry, &values);
	else
		add_function(walk, entry, &values);
	if (walk->mode == WALK_OUTLINE)
		return pass_children(walk, abbrev, entry);
	if (!abbrev->has_children)
		return NULL;
	return open_level(walk, entry, scope);
}

/* Whether an entry's children are of no interest. */
static inline bool can_skip(enum mode mode, const struct mt_abbrev *abbrev)
{
	return mode == WALK_OUTLINE ? abbrev->is_rarely_code : abbrev->is_without_code;
}

/* Whether more of an entry is needed than where it ends. */
static inline bool is_wanted(enum mode mode, const struct mt_abbrev *abbrev)
{
	return mode == WALK_TABLE ? abbrev->is_scope : abbrev->is_function;
}

/* Goes to the next entry that walk_entry() is needed for: most say nothing about code. */
static void skip_plain_entries(struct walk *walk)
{
	const struct mt_dwarf_unit *unit = walk->unit;
	const struct mt_abbrevs *abbrevs = unit->abbrevs;
	enum mode mode = walk->mode;
	size_t depth = walk->depth;

	for (struct mt_cursor c = walk->c;; walk->c.pos = c.pos, walk->depth = depth) {
		uint64_t code = mt_dwarf_uleb(&c);
		const struct mt_abbrev *abbrev = code ? mt_abbrevs_find(abbrevs, code) : NULL;

		if (abbrev ? is_wanted(mode, abbrev) : code || depth == 1)
			return;
		if (abbrev)
			skip_entry(unit, &c, abbrev);
		else
			depth--;
		if (c.bad || c.pos == c.end)
			return;
		if (!abbrev || !abbrev->has_children ||
		    (can_skip(mode, abbrev) && skip_to_sibling(unit, &c, abbrev)))
			continue;
		if (depth == DEPTH_MAX)
			return;
		walk->enclosing[depth] = walk->enclosing[depth - 1];
		depth++;
	}
}

static struct mt_error *walk_entry(struct walk *walk, uint64_t entry, uint64_t code)
{
	const struct mt_abbrev *abbrev = mt_abbrevs_find(walk->unit->abbrevs, code);

	if (!abbrev)
		return bad_entry(walk, entry, "its abbreviation is not in .debug_abbrev");
	if (is_wanted(walk->mode, abbrev))
		return walk_scope(walk, abbrev, entry);
	skip_entry(walk->unit, &walk->c, abbrev);
	if (walk->c.bad)
		return bad_entry(walk, entry, "cut short, or of an unknown form");
	if (!abbrev->has_children)
		return NULL;
	if (can_skip(walk->mode, abbrev) && skip_to_sibling(walk->unit, &walk->c, abbrev))
		return NULL;
	return open_level(walk, entry,
			  walk->depth ? walk->enclosing[walk->depth - 1] : MT_SCOPE_NONE);
}

/* An entry and all that is in it. */
static struct mt_error *walk_entries(struct walk *walk)
{
	const uint8_t *info = walk->unit->file->info.bytes;

	do {
		uint64_t entry = (uint64_t)(walk->c.pos - info), code = mt_dwarf_uleb(&walk->c);
		struct mt_error *err;

		if (walk->c.bad)
			return bad_entry(walk, entry, "cut short");
		err = code ? walk_entry(walk, entry, code) : NULL;
		if (err)
			return err;
		if (walk->nomem)
			return mt_error_nomem();
		if (walk->too_many)
			return bad_entry(walk, entry, "more ranges than any compiler writes");
		if (!code && walk->depth)
			walk->depth--;
		if (walk->depth)
			skip_plain_entries(walk);
	} while (walk->depth && mt_cursor_left(&walk->c));
	return walk->bad_ranges ? mt_error_create(MT_ERR_FORMAT,
						  ".debug_info: unit at 0x%llx: corrupt ranges",
						  (unsigned long long)walk->unit->offset)
				: NULL;
}

/* Counts what was walked, so that entries without an end are not walked for each function. */
static void spend(struct walk *walk, uint64_t bytes)
{
	uint64_t *budget = &walk->unit->file->budget;

	*budget -= bytes < *budget ? bytes : *budget;
}

/* Walks from one entry to the end of what is in it, into a table; *out is set on damage, too. */
static struct mt_error *walk_table(struct mt_scopes *scopes, uint64_t entry, enum mode mode,
				   struct mt_interval_table **out)
{
	MT_CLEANUP(walk_deinit)
	struct walk walk = {.unit = scopes->unit, .scopes = scopes, .mode = mode};
	const uint8_t *start = walk.unit->file->info.bytes + entry;
	struct mt_error *err;

	walk.c = mt_cursor_init(start, walk.unit->end - entry);
	err = walk_entries(&walk);
	spend(&walk, (uint64_t)(walk.c.pos - start));
	if (err && err->kind == MT_ERR_NOMEM)
		return err;
	/* what came before the damage holds */
	*out = mt_interval_table_create(walk.intervals.items, walk.intervals.count);
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
	return walk_table(out, unit->entries, WALK_OUTLINE, &out->outline);
}

void mt_scopes_deinit(struct mt_scopes *scopes)
{
	for (size_t i = 0; i < scopes->functions.count; i++)
		mt_interval_table_destroy(scopes->functions.items[i].table);
	mt_array_deinit(&scopes->functions);
	mt_array_deinit(&scopes->items);
	mt_map64_deinit(&scopes->by_origin);
	mt_interval_table_destroy(scopes->outline);
	mt_interval_table_destroy(scopes->nested);
	scopes->outline = scopes->nested = NULL;
}

/* In one function, MT_INTERVAL_NONE for none. */
static struct mt_error *find_in_function(struct mt_scopes *scopes, uint32_t index, uint64_t address,
					 uint32_t *out)
{
	struct mt_scope_function *function;
	struct mt_error *err = NULL;

	if (index == MT_INTERVAL_NONE)
		return NULL;
	function = &scopes->functions.items[index];
	if (!function->read) {
		function->read = true;
		err = walk_table(scopes, function->entry, WALK_TABLE, &function->table);
	}
	*out = find_in(function->table, address);
	return err;
}

/* Where the outline has nothing. */
static struct mt_error *find_in_gap(struct mt_scopes *scopes, uint64_t address, uint32_t *out)
{
	struct mt_interval_gap gap = mt_interval_table_gap(scopes->outline, address);
	struct mt_error *err, *nested_err = NULL;

	if (gap.end - gap.start < PADDING_MAX)
		return NULL;
	if (!scopes->nested_read) {
		scopes->nested_read = true;
		nested_err =
			walk_table(scopes, scopes->unit->entries, WALK_NESTED, &scopes->nested);
	}
	err = find_in_function(scopes, find_in(scopes->nested, address), address, out);
	if (!nested_err)
		return err;
	mt_error_destroy(err);
	return nested_err;
}

struct mt_error *mt_scopes_find(struct mt_scopes *scopes, uint64_t address, uint32_t *out)
{
	uint32_t function;

	*out = MT_SCOPE_NONE;
	if (!scopes->outline)
		return NULL;
	function = mt_interval_table_find(scopes->outline, address);
	return function == MT_INTERVAL_NONE ? find_in_gap(scopes, address, out)
					    : find_in_function(scopes, function, address, out);
}

/* ---- Names ---- */

/* What an entry says about the name of a function, here or elsewhere. */
struct naming {
	const char *name, *linkage_name;
	struct mt_dwarf_value elsewhere;
};

static void take_naming(const struct mt_dwarf_unit *unit, struct naming *naming, uint16_t name,
			const struct mt_dwarf_value *value)
{
	switch (name) {
	case DW_AT_name:
		if (!naming->name)
			naming->name = mt_dwarf_string(unit, value);
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		naming->linkage_name = mt_dwarf_string(unit, value);
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		naming->elsewhere = *value;
		break;
	}
}

static void read_naming(struct mt_dwarf_unit *unit, uint64_t entry, struct naming *naming)
{
	struct mt_cursor c = mt_cursor_init(unit->file->info.bytes + entry, unit->end - entry);
	const struct mt_abbrev *abbrev;
	struct mt_error *err = mt_dwarf_unit_abbrevs(unit);

	naming->elsewhere = (struct mt_dwarf_value){0};
	abbrev = err ? NULL : mt_abbrevs_find(unit->abbrevs, mt_dwarf_uleb(&c));
	mt_error_destroy(err);
	for (size_t i = 0; abbrev && i < abbrev->count; i++) {
		const struct mt_abbrev_attribute *a =
			&unit->abbrevs->attributes.items[abbrev->first + i];
		struct mt_dwarf_value value;

		mt_dwarf_value(unit, &c, a->form, a->implicit, &value);
		if (c.bad)
			return;
		take_naming(unit, naming, a->name, &value);
	}
}

/* Finds a scope's name, once for all calls of a function: following references costs most. */
static void name_scope(struct mt_scopes *scopes, struct mt_scope *scope)
{
	struct mt_dwarf_unit *unit = scopes->unit;
	uint64_t entry = scope->entry, origin = 0, like;
	struct naming naming = {0};

	scope->named = true;
	for (int i = 0; i < REFERENCES_MAX && !naming.linkage_name; i++) {
		read_naming(unit, entry, &naming);
		if (!naming.elsewhere.form ||
		    !mt_dwarf_reference(unit, &naming.elsewhere, &unit, &entry))
			break;
		if (i || naming.name || naming.linkage_name || unit->file != scopes->unit->file)
			continue;
		if (mt_map64_get(&scopes->by_origin, entry, &like)) {
			scope->name = scopes->items.items[like].name;
			scope->mangled = scopes->items.items[like].mangled;
			return;
		}
		origin = entry;
	}
	scope->mangled = naming.linkage_name;
	scope->name = naming.linkage_name ? naming.linkage_name : naming.name;
	if (origin) /* not kept, it is found again */
		(void)mt_map64_put(&scopes->by_origin, origin,
				   (uint64_t)(scope - scopes->items.items));
}

const char *mt_scope_name(struct mt_scopes *scopes, uint32_t index, bool *mangled)
{
	struct mt_scope *scope = &scopes->items.items[index];

	if (!scope->named)
		name_scope(scopes, scope);
	*mangled = scope->mangled;
	return scope->name;
}
