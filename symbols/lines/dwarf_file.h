/*
 * One file's DWARF as libdw has it. libdw never opens the file: it gets the debug sections that our
 * ELF reader found, decompressed where need be (libdw 0.188 knows no zstd), so that a local file, a
 * debug file and what a recording carries are read alike. It looks for .dwo files itself (and from
 * elfutils 0.191 on for a .dwp); the file that dwz moved shared entries to is found here, by its
 * id.
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
 * What damaged or crafted debug information may cost: bytes of abbreviations, entries, ranges and
 * line programs that libdw goes through. A real file stays far below.
 */
struct mt_dwarf_budget {
	uint64_t left;
};

/* Takes from a budget; false where that much is not left. */
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
	Elf *view;			  /* the sections; libdw reads them where they are */
	struct mt_elf *supplement_elf;	  /* what dwz moved out, or NULL */
	struct mt_dwarf_file *supplement; /* the same, open */
};

/*
 * elf is borrowed, path its own, to look for .dwo files and for dwz's file beside it, or NULL. *out
 * is NULL where there is no .debug_info.
 */
struct mt_error *mt_dwarf_file_open(struct mt_elf *elf, const char *path,
				    struct mt_dwarf_file **out);
void mt_dwarf_file_destroy(struct mt_dwarf_file *file);

/* A second handle on the same sections, for dwarf_end(); NULL out of memory. */
Dwarf *mt_dwarf_file_again(struct mt_dwarf_file *file);

/* What libdw said last, as an error. */
struct mt_error *mt_dwarf_error(const char *what, uint64_t offset);

/* The string that an entry has as this attribute, or NULL. */
const char *mt_die_string(Dwarf_Die *die, unsigned int attribute);

/*
 * The entry that has the code of a unit: its own first one, or that of the .dwo file that it names.
 * Fails where that is not there.
 */
struct mt_error *mt_dwarf_full_unit(const char *path, Dwarf_Die *unit, Dwarf_Die *out);

#endif
