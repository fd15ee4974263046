/*
 * The DWARF of one file, read by libdw. libdw never opens the file: it gets the debug sections from
 * symbols/elf/, decompressed (libdw 0.188 does not support zstd), so local, debug and carried files
 * are read alike. libdw itself finds .dwo files and, from elfutils 0.191 on, .dwp files.
 * dwarf_file.c finds dwz's supplementary file, by its build id.
 *
 * libdw is not thread-safe: each mt_dwarf_file is for one thread at a time.
 */
#ifndef MT_SYMBOLS_LINES_DWARF_FILE_H
#define MT_SYMBOLS_LINES_DWARF_FILE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbols/elf/elf.h"

struct mt_error;

/*
 * A bound on the cost of damaged or crafted debug information: bytes of abbreviations, entries,
 * ranges and line programs that libdw reads. Real files stay far below.
 */
struct mt_dwarf_budget {
	uint64_t left;
};

/* Takes `work` from a budget; false if less is left. */
static inline bool mt_dwarf_spend(struct mt_dwarf_budget *budget, uint64_t work)
{
	bool enough = work <= budget->left;

	budget->left -= enough ? work : budget->left;
	return enough;
}

struct mt_dwarf_file {
	struct mt_span info, abbrev, line, line_str, str;
	Dwarf *dwarf;
	struct mt_dwarf_budget budget;
	Elf *view;			  /* the sections, which libdw reads in place */
	struct mt_elf *supplement_elf;	  /* dwz's supplementary file, or NULL */
	struct mt_dwarf_file *supplement; /* the same, opened */
};

/*
 * Borrows elf. path is elf's path, to find .dwo files and dwz's file, or NULL. *out is NULL without
 * .debug_info.
 */
struct mt_error *mt_dwarf_file_open(struct mt_elf *elf, const char *path,
				    struct mt_dwarf_file **out);
void mt_dwarf_file_destroy(struct mt_dwarf_file *file);

/* A second handle on the same sections, for dwarf_end(); NULL out of memory. */
Dwarf *mt_dwarf_file_again(struct mt_dwarf_file *file);

/* libdw's last error. */
struct mt_error *mt_dwarf_error(const char *what, uint64_t offset);

/* The string attribute of an entry, or NULL. */
const char *mt_die_string(Dwarf_Die *die, unsigned int attribute);

/*
 * The entry with a unit's code: its first entry, or that of its .dwo file. An error if the .dwo is
 * missing.
 */
struct mt_error *mt_dwarf_full_unit(const char *path, Dwarf_Die *unit, Dwarf_Die *out);

#endif
