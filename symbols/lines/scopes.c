/* Converts entries with code to intervals; the innermost has the highest rank. */
#include "symbols/lines/scopes.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "symbols/lines/die_walk.h"
#include "symbols/lines/dwarf_file.h"
#include "symbols/lines/scope_names.h"

enum {
	REFERENCES_MAX = 16, /* references from an entry to the one with the name */
	RANGE_COST = 16,     /* cost of keeping a range, in units of the budget */
};

struct reading {
	struct mt_scopes *scopes;
	const struct mt_code_filter *filter;
	struct mt_dwarf_budget *budget;
	MT_ARRAY(struct mt_interval) intervals;
	struct mt_interval like; /* rank and value for new intervals */
	bool declares_only;	 /* types outside of functions do not contain code */
	bool nomem;
};

/*
 * An entry's attributes about code, read in one pass over the entry. libdw's functions take a pass
 * each, and together a tenth of the time for 30,000 addresses of 100 MB.
 */
struct code {
	Dwarf_Addr low;
	Dwarf_Word high;
	bool has_low, has_high, is_size, has_ranges;
};

static int take_code(Dwarf_Attribute *attribute, void *arg)
{
	struct code *code = arg;

	switch (dwarf_whatattr(attribute)) {
	case DW_AT_low_pc:
		code->has_low = !dwarf_formaddr(attribute, &code->low);
		break;
	case DW_AT_high_pc:
		code->is_size = !dwarf_formudata(attribute, &code->high);
		code->has_high = code->is_size || !dwarf_formaddr(attribute, &code->high);
		break;
	case DW_AT_ranges:
		code->has_ranges = true;
		break;
	}
	return DWARF_CB_OK;
}

bool mt_die_ranges(Dwarf_Die *die, struct mt_dwarf_budget *budget, const struct mt_range_sink *sink)
{
	Dwarf_Addr base, start, end;
	struct code code = {0};
	ptrdiff_t at = 0;

	if (dwarf_getattrs(die, take_code, &code, 0) < 0)
		return false;
	if (code.has_low && code.has_high)
		return mt_dwarf_spend(budget, RANGE_COST) &&
		       sink->add(sink->context, code.low,
				 code.is_size ? code.low + code.high : code.high);
	if (!code.has_ranges)
		return true;
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (!mt_dwarf_spend(budget, RANGE_COST) || !sink->add(sink->context, start, end))
			return false;
	}
	return !at;
}

static bool add_interval(void *context, uint64_t start, uint64_t end)
{
	struct reading *reading = context;
	const struct mt_interval interval = {start, end, reading->like.rank, reading->like.value};

	if (reading->filter->is_code(reading->filter->context, start))
		reading->nomem |= !mt_array_append(&reading->intervals, interval);
	return !reading->nomem;
}

/* Makes a scope of an entry if the entry has code. */
static bool add_scope(struct reading *reading, Dwarf_Die *die, uint32_t parent,
		      struct mt_die_level *own)
{
	const struct mt_range_sink sink = {add_interval, reading};
	size_t before = reading->intervals.count;

	reading->like.rank = own->rank;
	reading->like.value = (uint32_t)reading->scopes->items.count;
	(void)mt_die_ranges(die, reading->budget, &sink); /* a damaged entry has no code */
	if (reading->nomem || !reading->budget->left)
		return false;
	if (reading->intervals.count == before)
		return true;
	own->scope = reading->like.value;
	reading->nomem |= !mt_array_append(&reading->scopes->items,
					   (struct mt_scope){.die = *die, .parent = parent});
	return !reading->nomem;
}

static enum mt_die_way visit(void *context, Dwarf_Die *die, int tag,
			     const struct mt_die_level *above, struct mt_die_level *own)
{
	const struct reading *reading = context;

	own->rank = above->rank + 1;
	switch (tag) {
	case DW_TAG_inlined_subroutine:
		if (above->scope != MT_SCOPE_NONE && !add_scope(context, die, above->scope, own))
			return MT_DIE_STOP;
		return MT_DIE_ENTER;
	case DW_TAG_subprogram:
		own->scope = MT_SCOPE_NONE;
		return add_scope(context, die, MT_SCOPE_NONE, own) ? MT_DIE_ENTER : MT_DIE_STOP;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return MT_DIE_ENTER;
	case DW_TAG_namespace:
		own->rank = above->rank;
		return MT_DIE_ENTER;
	default:
		own->scope = MT_SCOPE_NONE;
		return reading->declares_only && !above->rank && mt_die_is_type(tag) ? MT_DIE_SKIP
										     : MT_DIE_ENTER;
	}
}

/*
 * True for C and C++, where types contain only declarations, unless they are local to a function.
 */
static bool declares_in_types(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
		return true;
	default:
		return false;
	}
}

struct mt_error *mt_scopes_read(Dwarf_Die *unit, const struct mt_code_filter *filter,
				struct mt_dwarf_budget *budget, struct mt_scopes *scopes)
{
	struct reading reading = {.scopes = scopes,
				  .filter = filter,
				  .budget = budget,
				  .declares_only = declares_in_types(unit)};
	const struct mt_die_visitor visitor = {visit, &reading};
	const struct mt_die_level top = {.scope = MT_SCOPE_NONE};
	struct mt_error *err = mt_die_walk(unit, &top, &visitor);

	if (!err && !budget->left)
		err = mt_error_create(MT_ERR_FORMAT, ".debug_info: more ranges than are read");
	scopes->table = mt_interval_table_create(reading.intervals.items, reading.intervals.count);
	mt_array_deinit(&reading.intervals);
	mt_array_shrink(&scopes->items);
	if (!reading.nomem && scopes->table)
		return err;
	mt_error_destroy(err);
	return mt_error_nomem();
}

void mt_scopes_deinit(struct mt_scopes *scopes)
{
	mt_array_deinit(&scopes->items);
	mt_array_deinit(&scopes->details);
	mt_map64_deinit(&scopes->by_origin);
	mt_interval_table_destroy(scopes->table);
	scopes->table = NULL;
}

uint32_t mt_scopes_find(const struct mt_scopes *scopes, uint64_t address)
{
	return scopes->table ? mt_interval_table_find(scopes->table, address) : MT_SCOPE_NONE;
}

/* ---- Details ---- */

static uint32_t number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &number) ||
	    number > UINT32_MAX)
		return 0;
	return (uint32_t)number;
}

static bool follow(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die to;

	if ((!dwarf_attr(die, DW_AT_abstract_origin, &attribute) &&
	     !dwarf_attr(die, DW_AT_specification, &attribute)) ||
	    !dwarf_formref_die(&attribute, &to))
		return false;
	*die = to;
	return true;
}

/* Finds the name of the function that an entry is an instance of. names NULL: unqualified. */
static void find_name(Dwarf_Die die, struct mt_scope_names *names, struct mt_strings *strings,
		      struct mt_scope_detail *out)
{
	Dwarf_Die at = die;
	char *qualified;

	for (int i = 0; i < REFERENCES_MAX; i++) {
		const char *linkage = mt_die_string(&at, DW_AT_linkage_name);

		linkage = linkage ? linkage : mt_die_string(&at, DW_AT_MIPS_linkage_name);
		out->mangled = linkage;
		if (linkage) {
			out->name = linkage;
			return;
		}
		out->name = out->name ? out->name : mt_die_string(&at, DW_AT_name);
		if (!follow(&at))
			break;
	}
	qualified = names && out->name ? mt_scope_name(names, &die) : NULL;
	if (qualified) {
		uint32_t id = mt_strings_intern(strings, qualified, strlen(qualified));

		out->name = id == MT_STRING_NONE ? out->name : mt_strings_get(strings, id);
	}
	free(qualified);
}

/* The same, once for all calls of a function. */
static void find_name_once(struct mt_scopes *scopes, Dwarf_Die die, struct mt_scope_names *names,
			   struct mt_strings *strings, struct mt_scope_detail *out)
{
	uint64_t like;

	(void)follow(&die);
	if (mt_map64_get(&scopes->by_origin, (uintptr_t)die.addr, &like)) {
		out->name = scopes->details.items[like].name;
		out->mangled = scopes->details.items[like].mangled;
		return;
	}
	find_name(die, names, strings, out);
	(void)mt_map64_put(&scopes->by_origin, (uintptr_t)die.addr,
			   (uint64_t)(out - scopes->details.items));
}

struct mt_scope_detail mt_scope_detail(struct mt_scopes *scopes, uint32_t index,
				       struct mt_scope_names *names, struct mt_strings *strings)
{
	struct mt_scope *scope = &scopes->items.items[index];
	struct mt_scope_detail *detail;

	if (scope->detail)
		return scopes->details.items[scope->detail - 1];
	detail = mt_array_push(&scopes->details);
	if (!detail)
		return (struct mt_scope_detail){0};
	scope->detail = (uint32_t)scopes->details.count;
	detail->call_file = number_of(&scope->die, DW_AT_call_file);
	detail->call_line = number_of(&scope->die, DW_AT_call_line);
	if (scope->parent == MT_SCOPE_NONE) /* the symbol table's name is as good, and qualified */
		find_name(scope->die, NULL, strings, detail);
	else
		find_name_once(scopes, scope->die, names, strings, detail);
	return *detail;
}
