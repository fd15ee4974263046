/*
 * The line table of one unit, copied from libdw's table, which is several times as large and then
 * freed.
 */
#ifndef MT_SYMBOLS_LINES_LINE_ROWS_H
#define MT_SYMBOLS_LINES_LINE_ROWS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_error;
struct mt_strings;

#define MT_LINE_FILE_NONE UINT32_MAX

/* Holds from its address to the next row's. */
struct mt_line_row {
	uint64_t address;
	uint32_t file; /* index in files; MT_LINE_FILE_NONE: no line from here on */
	uint32_t line;
};

struct mt_line_rows {
	MT_ARRAY(struct mt_line_row) rows; /* by address, ascending */
	MT_ARRAY(const char *) files;	   /* full paths, borrowed from the strings */
};

/* Says which addresses are code; code that the linker dropped is not. */
struct mt_code_filter {
	bool (*is_code)(const void *context, uint64_t address);
	const void *context;
};

/* Reads a unit's table into *rows, which is empty. Paths are interned in `strings`. */
struct mt_error *mt_line_rows_read(Dwarf_Die *unit, const struct mt_code_filter *filter,
				   struct mt_strings *strings, struct mt_line_rows *rows);
void mt_line_rows_deinit(struct mt_line_rows *rows);

/* The row at an address; NULL if no line is known. */
const struct mt_line_row *mt_line_rows_find(const struct mt_line_rows *rows, uint64_t address);

/* The path of a file by its number in the unit's table, or NULL. */
const char *mt_line_rows_path(const struct mt_line_rows *rows, uint32_t file);

#endif
