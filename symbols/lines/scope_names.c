/*
 * Qualified names. DWARF entries do not refer to their parents, so units are walked, each once, to
 * find the parents.
 */
#include "symbols/lines/scope_names.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "symbols/lines/die_walk.h"

enum {
	REFERENCES_MAX = 16, /* references from an entry to its declaration */
	SCOPES_MAX = 16,     /* scopes around a function */
	NAME_MAX_BYTES = 4096,
};

void mt_scope_names_deinit(struct mt_scope_names *names)
{
	mt_map64_deinit(&names->parents);
	mt_map64_deinit(&names->units);
}

static bool is_language_with_scopes(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DW_LANG_Rust:
	case DW_LANG_D:
		return true;
	default:
		return false;
	}
}

/*
 * Notes an entry's parent. Skips instances of functions: entries in them are declared in the
 * original function.
 */
static enum mt_die_way note_parent(void *context, Dwarf_Die *die, int tag,
				   const struct mt_die_level *above, struct mt_die_level *own)
{
	struct mt_scope_names *names = context;

	if (tag == DW_TAG_inlined_subroutine || dwarf_hasattr(die, DW_AT_abstract_origin))
		return MT_DIE_SKIP;
	if (tag == DW_TAG_lexical_block)
		return MT_DIE_ENTER;
	own->entry = (uintptr_t)die->addr;
	if (above->entry && !mt_map64_put(&names->parents, (uintptr_t)die->addr, above->entry))
		return MT_DIE_STOP;
	return MT_DIE_ENTER;
}

/* Walks a unit on first use. */
static void walk_unit(struct mt_scope_names *names, Dwarf_Die *unit)
{
	const struct mt_die_visitor visitor = {note_parent, names};
	const struct mt_die_level top = {0};
	uint64_t seen;

	if (mt_map64_get(&names->units, (uintptr_t)unit->addr, &seen) ||
	    !mt_map64_put(&names->units, (uintptr_t)unit->addr, 1))
		return;
	if (is_language_with_scopes(unit))
		mt_error_destroy(mt_die_walk(unit, &top, &visitor));
}

/* The entry that declares this one, or itself. */
static Dwarf_Die declaration_of(Dwarf_Die die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die to;

	for (int i = 0; i < REFERENCES_MAX; i++) {
		if (!dwarf_attr(&die, DW_AT_abstract_origin, &attribute) &&
		    !dwarf_attr(&die, DW_AT_specification, &attribute))
			break;
		if (!dwarf_formref_die(&attribute, &to))
			break;
		die = to;
	}
	return die;
}

/* The parent of an entry; false if that is the unit, or unknown. */
static bool find_parent(struct mt_scope_names *names, Dwarf_Die *die)
{
	Dwarf_Die unit;
	uint64_t parent;

	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return false;
	walk_unit(names, &unit);
	if (!mt_map64_get(&names->parents, (uintptr_t)die->addr, &parent))
		return false;
	*die = (Dwarf_Die){.addr = (void *)(uintptr_t)parent, .cu = die->cu};
	return true;
}

static const char *own_name(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	if (name)
		return name;
	return dwarf_tag(die) == DW_TAG_namespace ? "(anonymous namespace)" : "{unnamed}";
}

char *mt_scope_name(struct mt_scope_names *names, Dwarf_Die *function)
{
	Dwarf_Die die = declaration_of(*function);
	const char *name = dwarf_diename(&die);
	MT_CLEANUP_FREE char *full = name ? strdup(name) : NULL;
	bool is_call = name && !strcmp(name, "operator()");

	for (int i = 0; full && i < SCOPES_MAX; i++) {
		char *longer;

		if (!find_parent(names, &die))
			return i ? MT_TAKE(full) : NULL;
		die = declaration_of(die);
		name = !i && is_call && !dwarf_diename(&die) ? "{lambda}" : own_name(&die);
		if (strlen(name) + strlen(full) > NAME_MAX_BYTES ||
		    asprintf(&longer, "%s::%s", name, full) < 0)
			break;
		free(full);
		full = longer;
	}
	return MT_TAKE(full);
}
