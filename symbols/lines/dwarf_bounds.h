/*
 * Estimates the cost of a unit from its bytes before libdw reads the unit: libdw bounds neither
 * memory nor time.
 */
#ifndef MT_SYMBOLS_LINES_DWARF_BOUNDS_H
#define MT_SYMBOLS_LINES_DWARF_BOUNDS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct mt_dwarf_file;
struct mt_error;

/*
 * Bounds a unit's first entry, for which libdw reads the abbreviations from abbrev_offset up to the
 * entry's. Takes their bytes from the file's budget; false if the budget is used up. entry is an
 * offset in .debug_info.
 */
bool mt_dwarf_bound_entry(struct mt_dwarf_file *file, uint64_t entry, uint64_t abbrev_offset);

/* The same for all entries of a unit of `size` bytes. */
bool mt_dwarf_bound_unit(struct mt_dwarf_file *file, uint64_t size, uint64_t abbrev_offset);

/*
 * Bounds a line program: libdw makes a row of at least 48 bytes for most opcodes, and a full path
 * for each file. Sets the program's size in bytes; an error says why the program must not be read.
 */
struct mt_error *mt_dwarf_bound_lines(struct mt_dwarf_file *file, uint64_t offset,
				      const char *comp_dir, uint64_t *size);

#endif
