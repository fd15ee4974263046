/*
 * What libdw would do for a unit, told beforehand from the bytes: libdw itself bounds neither its
 * memory nor its time. Each function says why a part is not to be read.
 */
#ifndef MT_SYMBOLS_LINES_DWARF_BOUNDS_H
#define MT_SYMBOLS_LINES_DWARF_BOUNDS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct mt_dwarf_file;
struct mt_error;

/*
 * A unit's first entry: libdw reads the abbreviations from abbrev_offset up to that entry's. Takes
 * their bytes from the file's budget, false where it is used up. entry is an offset in .debug_info.
 */
bool mt_dwarf_bound_entry(struct mt_dwarf_file *file, uint64_t entry, uint64_t abbrev_offset);

/* The same for all entries of a unit of so many bytes. */
bool mt_dwarf_bound_unit(struct mt_dwarf_file *file, uint64_t size, uint64_t abbrev_offset);

/*
 * A line program: libdw makes a row of each opcode that has one (48 bytes and more), and a whole
 * path for each file. Gives the program's size, in bytes.
 */
struct mt_error *mt_dwarf_bound_lines(struct mt_dwarf_file *file, uint64_t offset,
				      const char *comp_dir, uint64_t *size);

#endif
