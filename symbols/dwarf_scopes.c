/*
 * The functions of a unit and the calls that were inlined into them: one walk over all entries,
 * into a table of intervals.
 */
#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "symbols/dwarf.h"
#include "symbols/interval_table.h"

enum {
	DEPTH_MAX = 512,	 /* entries within entries; compilers stay below 60 */
	INTERVALS_MAX = 4 << 20, /* of one unit; the largest seen have 1 M */
	REFERENCES_MAX = 16,	 /* from an entry to the one that has the name */
};

struct walk {
	struct mt_dwarf_unit *unit;
	struct mt_cursor c;
	struct mt_scopes *scopes;
	bool (*is_code)(const void *context, uint64_t address);
	const void *context;
	MT_ARRAY(struct mt_interval) intervals;
	uint32_t enclosing[DEPTH_MAX]; /* the scope that each open level lies in */
	size_t depth;
	uint32_t scope; /* whose ranges are being read */
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

static bool add_interval(void *context, uint64_t start, uint64_t end)
{
	struct walk *walk = context;
	struct mt_interval *interval;

	if (!walk->is_code(walk->context, start))
		return true; /* code that the linker left out */
	walk->too_many |= walk->intervals.count >= INTERVALS_MAX;
	if (walk->too_many)
		return false;
	interval = mt_array_push(&walk->intervals);
	walk->nomem |= !interval;
	if (!interval)
		return false;
	*interval = (struct mt_interval){start, end, (uint32_t)walk->depth, walk->scope};
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

/* The scope of the entry in hand, or the one around it where it makes none. */
static uint32_t add_scope(struct walk *walk, uint16_t tag, uint64_t entry,
			  const struct scope_values *values)
{
	uint32_t around = walk->depth ? walk->enclosing[walk->depth - 1] : MT_SCOPE_NONE;
	bool inlined = tag == DW_TAG_inlined_subroutine;
	struct mt_scope *scope;

	if (!inlined && !values->ranges.form && !values->low.form)
		return MT_SCOPE_NONE; /* a declaration, or what inlined calls refer to */
	if (inlined && around == MT_SCOPE_NONE)
		return around;
	walk->scope = (uint32_t)walk->scopes->items.count;
	scope = mt_array_push(&walk->scopes->items);
	walk->nomem |= !scope;
	if (!scope)
		return around;
	*scope = (struct mt_scope){
		.unit = walk->unit,
		.entry = entry,
		.parent = inlined ? around : MT_SCOPE_NONE,
		.call_file = values->call_file,
		.call_line = values->call_line,
	};
	add_ranges(walk, values);
	return walk->scope;
}

/* Reads one value; those of the usual sizes without asking for the form again. */
static inline void read_value(const struct mt_dwarf_unit *unit, struct mt_cursor *c,
			      const struct mt_abbrev_attribute *a, struct mt_dwarf_value *value)
{
	uint8_t size = a->size == MT_SIZE_ADDRESS  ? unit->address_size
		       : a->size == MT_SIZE_OFFSET ? unit->offset_size
						   : a->size;

	value->form = a->form;
	value->string = NULL;
	if (size == 4)
		value->number = mt_cursor_u32(c);
	else if (size == 1)
		value->number = mt_cursor_u8(c);
	else if (size == 8)
		value->number = mt_cursor_u64(c);
	else if (size == 2)
		value->number = mt_cursor_u16(c);
	else
		mt_dwarf_value(unit, c, a->form, a->implicit, value);
}

static void read_scope(struct walk *walk, const struct mt_abbrev *abbrev,
		       struct scope_values *values)
{
	const struct mt_abbrev_attribute *a = walk->unit->abbrevs->attributes.items + abbrev->first;

	for (size_t i = 0; i < abbrev->count; i++) {
		struct mt_dwarf_value value;

		read_value(walk->unit, &walk->c, &a[i], &value);
		take_value(values, a[i].name, &value);
	}
}

static void skip_entry(struct walk *walk, const struct mt_abbrev *abbrev)
{
	const struct mt_dwarf_unit *unit = walk->unit;
	const struct mt_abbrev_skip *skips = unit->abbrevs->skips.items + abbrev->first_skip;
	struct mt_dwarf_value value;

	for (size_t i = 0; i < abbrev->skip_count; i++) {
		mt_cursor_bytes(&walk->c, skips[i].bytes +
						  (size_t)skips[i].addresses * unit->address_size +
						  (size_t)skips[i].offsets * unit->offset_size);
		if (skips[i].form == DW_FORM_exprloc)
			mt_cursor_bytes(&walk->c, mt_dwarf_uleb(&walk->c));
		else if (skips[i].form)
			mt_dwarf_value(unit, &walk->c, skips[i].form, 0, &value);
	}
}

/* Entries that no code is in. Types are not among them: those of a function may hold functions. */
static bool is_without_code(uint16_t tag)
{
	return tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site || tag == DW_TAG_array_type ||
	       tag == DW_TAG_enumeration_type || tag == DW_TAG_subroutine_type;
}

/* Goes on behind the entry's children, where it says how far that is. */
static bool skip_children(struct walk *walk, const struct mt_abbrev *abbrev, struct mt_cursor start)
{
	const struct mt_dwarf_unit *unit = walk->unit;
	const struct mt_abbrev_attribute *a = unit->abbrevs->attributes.items + abbrev->first;
	struct mt_dwarf_value value = {0};
	const uint8_t *to;

	for (size_t i = 0; i < abbrev->count; i++) {
		read_value(unit, &start, &a[i], &value);
		if (a[i].name == DW_AT_sibling)
			break;
	}
	if (value.form != DW_FORM_ref4 || value.number > unit->end - unit->offset)
		return false;
	to = unit->file->info.bytes + unit->offset + value.number;
	if (to <= walk->c.pos || to > walk->c.end)
		return false;
	walk->c.pos = to;
	return true;
}

static struct mt_error *walk_entry(struct walk *walk, uint64_t entry, uint64_t code)
{
	const struct mt_abbrev *abbrev = mt_abbrevs_find(walk->unit->abbrevs, code);
	uint32_t scope = walk->depth ? walk->enclosing[walk->depth - 1] : MT_SCOPE_NONE;
	struct mt_cursor attributes = walk->c;
	struct scope_values values = {0};
	bool scoped;

	if (!abbrev)
		return bad_entry(walk, entry, "its abbreviation is not in .debug_abbrev");
	scoped = abbrev->tag == DW_TAG_subprogram || abbrev->tag == DW_TAG_inlined_subroutine;
	if (scoped)
		read_scope(walk, abbrev, &values);
	else
		skip_entry(walk, abbrev);
	if (walk->c.bad)
		return bad_entry(walk, entry, "cut short, or of an unknown form");
	if (scoped)
		scope = add_scope(walk, abbrev->tag, entry, &values);
	if (walk->nomem)
		return mt_error_nomem();
	if (walk->too_many)
		return bad_entry(walk, entry, "more ranges than any compiler writes");
	if (!abbrev->has_children)
		return NULL;
	if (abbrev->has_sibling && is_without_code(abbrev->tag) &&
	    skip_children(walk, abbrev, attributes))
		return NULL;
	if (walk->depth == DEPTH_MAX)
		return bad_entry(walk, entry, "nested too deeply");
	walk->enclosing[walk->depth++] = scope;
	return NULL;
}

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
		if (!code && walk->depth)
			walk->depth--;
	} while (walk->depth && mt_cursor_left(&walk->c));
	return walk->bad_ranges ? mt_error_create(MT_ERR_FORMAT,
						  ".debug_info: unit at 0x%llx: corrupt ranges",
						  (unsigned long long)walk->unit->offset)
				: NULL;
}

struct mt_error *mt_scopes_read(struct mt_dwarf_unit *unit,
				bool (*is_code)(const void *context, uint64_t address),
				const void *context, struct mt_scopes *out)
{
	MT_CLEANUP(mt_scopes_deinit) struct mt_scopes scopes = {0};
	MT_CLEANUP(walk_deinit)
	struct walk walk = {
		.unit = unit, .scopes = &scopes, .is_code = is_code, .context = context};
	struct mt_error *err = mt_dwarf_unit_abbrevs(unit);

	if (err)
		return err;
	walk.c = mt_cursor_init(unit->file->info.bytes + unit->entries, unit->end - unit->entries);
	err = walk_entries(&walk);
	if (err && err->kind == MT_ERR_NOMEM)
		return err;
	/* what came before the damage holds */
	scopes.table = mt_interval_table_create(walk.intervals.items, walk.intervals.count);
	if (!scopes.table) {
		mt_error_destroy(err);
		return mt_error_nomem();
	}
	*out = scopes;
	scopes = (struct mt_scopes){0};
	return err;
}

void mt_scopes_deinit(struct mt_scopes *scopes)
{
	mt_array_deinit(&scopes->items);
	mt_interval_table_destroy(scopes->table);
	scopes->table = NULL;
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

const char *mt_scope_name(struct mt_scope *scope, bool *mangled)
{
	struct mt_dwarf_unit *unit = scope->unit;
	uint64_t entry = scope->entry;
	struct naming naming = {0};

	for (int i = 0; !scope->named && i < REFERENCES_MAX && !naming.linkage_name; i++) {
		read_naming(unit, entry, &naming);
		if (!naming.elsewhere.form ||
		    !mt_dwarf_reference(unit, &naming.elsewhere, &unit, &entry))
			break;
	}
	if (!scope->named) {
		scope->mangled = naming.linkage_name;
		scope->name = naming.linkage_name ? naming.linkage_name : naming.name;
		scope->named = true;
	}
	*mangled = scope->mangled;
	return scope->name;
}
