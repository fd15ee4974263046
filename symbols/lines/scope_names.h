/*
 * What a function is called with the classes, namespaces and functions around it, where the
 * compiler noted no linkage name: `total::<lambda(int)>::operator()`.
 */
#ifndef MT_SYMBOLS_LINES_SCOPE_NAMES_H
#define MT_SYMBOLS_LINES_SCOPE_NAMES_H

#include <elfutils/libdw.h>

#include "formats/base/map64.h"

/* Zeroed: none yet. */
struct mt_scope_names {
	struct mt_map64 parents; /* by address of an entry: of the one around it */
	struct mt_map64 units;	 /* by address of their first entry: those that were walked */
};

void mt_scope_names_deinit(struct mt_scope_names *names);

/*
 * The qualified name of a function's entry that has its plain name; the caller's to free. NULL
 * where nothing is around it, and out of memory.
 */
char *mt_scope_name(struct mt_scope_names *names, Dwarf_Die *function);

#endif
