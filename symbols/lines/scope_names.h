/*
 * Qualifies the name of a function without a linkage name by its classes, namespaces and functions:
 * `total::<lambda(int)>::operator()`.
 */
#ifndef MT_SYMBOLS_LINES_SCOPE_NAMES_H
#define MT_SYMBOLS_LINES_SCOPE_NAMES_H

#include <elfutils/libdw.h>

#include "formats/base/map64.h"

/* All-zero is empty. */
struct mt_scope_names {
	struct mt_map64 parents; /* address of an entry to that of its parent */
	struct mt_map64 units;	 /* address of the first entry of each unit that was walked */
};

void mt_scope_names_deinit(struct mt_scope_names *names);

/*
 * The qualified name of a function's entry, the caller's to free. NULL if nothing encloses it, and
 * out of memory.
 */
char *mt_scope_name(struct mt_scope_names *names, Dwarf_Die *function);

#endif
