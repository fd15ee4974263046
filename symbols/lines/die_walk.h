/*
 * A unit's entries, each once, in the order they stand in.
 */
#ifndef MT_SYMBOLS_LINES_DIE_WALK_H
#define MT_SYMBOLS_LINES_DIE_WALK_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct mt_error;

/* What an entry hands down to those in it; what it means is the visitor's. */
struct mt_die_level {
	uint64_t entry;
	uint32_t scope, rank;
};

enum mt_die_way {
	MT_DIE_ENTER, /* go on with what is in the entry */
	MT_DIE_SKIP,  /* with what is behind it */
	MT_DIE_STOP,
};

struct mt_die_visitor {
	/* `own` is as `above`; changes are seen by the entries in this one. */
	enum mt_die_way (*visit)(void *context, Dwarf_Die *die, int tag,
				 const struct mt_die_level *above, struct mt_die_level *own);
	void *context;
};

/*
 * Visits all entries of a unit that may have code or name it, or have such entries in them; not
 * those of a depth that no compiler makes.
 */
struct mt_error *mt_die_walk(Dwarf_Die *unit, const struct mt_die_level *top,
			     const struct mt_die_visitor *visitor);

/* Classes, structures and the like. */
bool mt_die_is_type(int tag);

#endif
