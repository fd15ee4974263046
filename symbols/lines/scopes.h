/*
 * The functions of a unit and the calls that were inlined into them: one walk of its entries into a
 * table of intervals. What else an entry says - names, where it was called - is read when it is
 * asked for, and kept.
 */
#ifndef MT_SYMBOLS_LINES_SCOPES_H
#define MT_SYMBOLS_LINES_SCOPES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "symbols/lines/line_rows.h"
#include "symbols/tables/interval_table.h"

struct mt_dwarf_budget;
struct mt_error;
struct mt_scope_names;
struct mt_strings;

#define MT_SCOPE_NONE UINT32_MAX

/* A function, or a call that was inlined. */
struct mt_scope {
	Dwarf_Die die;
	uint32_t parent; /* of a call, the scope that it stands in; else MT_SCOPE_NONE */
	uint32_t detail; /* from 1; 0: not yet read */
};

struct mt_scope_detail {
	const char *name;   /* or NULL */
	bool mangled;	    /* it is a linkage name */
	uint32_t call_file; /* in the unit's table */
	uint32_t call_line;
};

struct mt_scopes {
	MT_ARRAY(struct mt_scope) items;
	MT_ARRAY(struct mt_scope_detail) details;
	struct mt_map64 by_origin; /* address of an entry to the number of a detail with its name */
	struct mt_interval_table *table;
};

/* Reads a unit by its first entry into *scopes, which is empty; on damage, what came before it. */
struct mt_error *mt_scopes_read(Dwarf_Die *unit, const struct mt_code_filter *filter,
				struct mt_dwarf_budget *budget, struct mt_scopes *scopes);
void mt_scopes_deinit(struct mt_scopes *scopes);

/* The innermost scope at an address, or MT_SCOPE_NONE. */
uint32_t mt_scopes_find(const struct mt_scopes *scopes, uint64_t address);

/* What a scope's entry says. Qualified names are kept in `strings`. */
struct mt_scope_detail mt_scope_detail(struct mt_scopes *scopes, uint32_t scope,
				       struct mt_scope_names *names, struct mt_strings *strings);

/*
 * Gives each piece of an entry's code; false where the list is corrupt, the sink stopped or there
 * is no budget left.
 */
struct mt_range_sink {
	bool (*add)(void *context, uint64_t start, uint64_t end);
	void *context;
};
bool mt_die_ranges(Dwarf_Die *die, struct mt_dwarf_budget *budget,
		   const struct mt_range_sink *sink);

#endif
