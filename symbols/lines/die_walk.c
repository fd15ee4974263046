/*
 * libdw finds an entry's sibling by reading all its children. The walk visits the children anyway,
 * and finds the sibling at the end of their list.
 */
#include "symbols/lines/die_walk.h"

#include <dwarf.h>

#include "symbols/lines/dwarf_file.h"

enum {
	DEPTH_MAX = 256,
};

struct walk {
	const struct mt_die_visitor *visitor;
	Dwarf_Die die;
	const unsigned char *end; /* end of the unit */
	struct mt_die_level levels[DEPTH_MAX];
	size_t level;
};

enum next {
	NEXT_DIE,
	NEXT_NONE,
	NEXT_BAD,
};

bool mt_die_is_type(int tag)
{
	return tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_interface_type;
}

static bool is_visited(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_entry_point:
		return true;
	default:
		return mt_die_is_type(tag);
	}
}

/* The end of a unit in memory. */
static const unsigned char *end_of(Dwarf_Die *unit)
{
	Dwarf_Off within = dwarf_cuoffset(unit), start = dwarf_dieoffset(unit) - within, next;
	size_t header;

	if (dwarf_next_unit(dwarf_cu_getdwarf(unit->cu), start, &next, &header, NULL, NULL, NULL,
			    NULL, NULL, NULL))
		return unit->addr;
	return (const unsigned char *)unit->addr - within + (next - start);
}

/* Moves past the 0 that ends a list, and past the ends of outer lists that follow it. */
static enum next leave(struct walk *walk, const unsigned char *at)
{
	for (; at < walk->end && !*at; at++) {
		if (!walk->level)
			return NEXT_NONE;
		walk->level--;
	}
	walk->die.addr = (void *)at;
	walk->die.abbrev = NULL;
	return at < walk->end ? NEXT_DIE : NEXT_NONE;
}

static enum next step_over(struct walk *walk)
{
	Dwarf_Die sibling = {0};
	int status = dwarf_siblingof(&walk->die, &sibling);

	if (status < 0)
		return NEXT_BAD;
	if (status > 0)
		return sibling.addr ? leave(walk, sibling.addr) : NEXT_NONE;
	walk->die = sibling;
	return NEXT_DIE;
}

/* Moves to the entry after this one, or to its first child. */
static enum next step(struct walk *walk, bool enter, const struct mt_die_level *own)
{
	Dwarf_Die child;

	if (!enter || walk->level + 1 == DEPTH_MAX || dwarf_child(&walk->die, &child))
		return step_over(walk);
	walk->levels[++walk->level] = *own;
	walk->die = child;
	return NEXT_DIE;
}

struct mt_error *mt_die_walk(Dwarf_Die *unit, const struct mt_die_level *top,
			     const struct mt_die_visitor *visitor)
{
	struct walk walk = {.visitor = visitor, .end = end_of(unit)};
	enum next next = NEXT_DIE;

	walk.levels[0] = *top;
	if (dwarf_child(unit, &walk.die))
		return NULL;
	while (next == NEXT_DIE) {
		const struct mt_die_level *above = &walk.levels[walk.level];
		struct mt_die_level own = *above;
		int tag = dwarf_tag(&walk.die);
		enum mt_die_way way = MT_DIE_SKIP;

		if (is_visited(tag))
			way = visitor->visit(visitor->context, &walk.die, tag, above, &own);
		if (way == MT_DIE_STOP)
			return NULL;
		next = tag == DW_TAG_invalid ? NEXT_BAD : step(&walk, way == MT_DIE_ENTER, &own);
	}
	return next == NEXT_BAD ? mt_dwarf_error("entries of the unit", dwarf_dieoffset(unit))
				: NULL;
}
