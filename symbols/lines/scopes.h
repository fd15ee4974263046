/*
 * The functions of a unit and the calls inlined into them: one walk of its entries fills an
 * interval table. Other attributes (names, call sites) are read on first use and kept.
 */
#ifndef MT_SYMBOLS_LINES_SCOPES_H
#define MT_SYMBOLS_LINES_SCOPES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "symbols/tables/interval_table.h"

struct mt_dwarf_budget;
struct mt_error;
struct mt_strings;

#define MT_SCOPE_NONE UINT32_MAX

/* A function, or an inlined call. */
struct mt_scope {
	Dwarf_Die die;
	uint32_t parent; /* the scope that contains an inlined call; else MT_SCOPE_NONE */
	uint32_t detail; /* index in details plus 1; 0: not read yet */
};

struct mt_scope_detail {
	const char *name;   /* or NULL */
	bool mangled;	    /* name is a linkage name */
	uint32_t call_file; /* number in the unit's table */
	uint32_t call_line;
};

struct mt_scopes {
	MT_ARRAY(struct mt_scope) items;
	MT_ARRAY(struct mt_scope_detail) details;
	struct mt_map64 by_origin; /* address of an entry to the number of a detail with its name */
	struct mt_interval_table *table;
};

/* Says which addresses are code; code that the linker dropped is not. */
struct mt_code_filter {
	bool (*is_code)(const void *context, uint64_t address);
	const void *context;
};

/*
 * Reads a unit from its first entry into *scopes, which is empty; keeps what precedes any damage.
 */
struct mt_error *mt_scopes_read(Dwarf_Die *unit, const struct mt_code_filter *filter,
				struct mt_dwarf_budget *budget, struct mt_scopes *scopes);
void mt_scopes_deinit(struct mt_scopes *scopes);

/* The innermost scope at an address, or MT_SCOPE_NONE. */
uint32_t mt_scopes_find(const struct mt_scopes *scopes, uint64_t address);

/*
 * The parents of entries, which qualify the name of a function without a linkage name:
 * `total::<lambda(int)>::operator()`. All-zero is empty.
 */
struct mt_scope_names {
	struct mt_map64 parents; /* address of an entry to that of its parent */
	struct mt_map64 units;	 /* address of the first entry of each unit that was walked */
};

void mt_scope_names_deinit(struct mt_scope_names *names);

/* The attributes of a scope. Qualified names are interned in `strings`. */
struct mt_scope_detail mt_scope_detail(struct mt_scopes *scopes, uint32_t scope,
				       struct mt_scope_names *names, struct mt_strings *strings);

/*
 * Passes each address range of an entry's code to the sink. False if the list is corrupt, the sink
 * stopped or the budget is used up.
 */
struct mt_range_sink {
	bool (*add)(void *context, uint64_t start, uint64_t end);
	void *context;
};
bool mt_die_ranges(Dwarf_Die *die, struct mt_dwarf_budget *budget,
		   const struct mt_range_sink *sink);

#endif
