/*
 * Walks the entries (DIEs) of a unit, each once, in order.
 */
#ifndef MT_SYMBOLS_LINES_DIE_WALK_H
#define MT_SYMBOLS_LINES_DIE_WALK_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct mt_error;

/* State that an entry passes to its children; the visitor defines its meaning. */
struct mt_die_level {
	uint64_t entry;
	uint32_t scope, rank;
};

enum mt_die_way {
	MT_DIE_ENTER, /* visit the children next */
	MT_DIE_SKIP,  /* skip the children */
	MT_DIE_STOP,
};

struct mt_die_visitor {
	/* `own` starts as a copy of `above` and is passed to the children. */
	enum mt_die_way (*visit)(void *context, Dwarf_Die *die, int tag,
				 const struct mt_die_level *above, struct mt_die_level *own);
	void *context;
};

/*
 * Visits all entries of a unit that may have code or name code, or contain such entries, up to a
 * depth that no compiler reaches.
 */
struct mt_error *mt_die_walk(Dwarf_Die *unit, const struct mt_die_level *top,
			     const struct mt_die_visitor *visitor);

/* A class, structure or similar. */
bool mt_die_is_type(int tag);

#endif
