/*
 * Inlined functions and lines at an address, from DWARF. Opening reads one entry of each unit; the
 * first lookup in a unit reads the whole unit into interval tables, so that later lookups are two
 * binary searches.
 *
 * Damage affects only its unit: data before it is used, addresses past it have no lines, and
 * mt_lines_problem() says why. Not thread-safe.
 */
#ifndef MT_SYMBOLS_LINES_LINES_H
#define MT_SYMBOLS_LINES_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_elf;
struct mt_error;
struct mt_lines;

/* Most frames at an address; no compiler inlines deeper. Outer frames past it are left out. */
#define MT_LINES_DEPTH 64

struct mt_lines_frame {
	const char *name; /* as in the DWARF; NULL if it has none */
	bool mangled;	  /* name is a linkage name; else an inlined call's name is qualified */
	const char *file; /* full path, or NULL */
	uint32_t line;	  /* 0 if file is NULL */
};

/*
 * image is the mapped file; debug has the DWARF: the same file, or a debug file; path is the path
 * of debug, or NULL; more files are searched in its directory. Borrows all of them. *out is NULL
 * without DWARF.
 */
struct mt_error *mt_lines_create(const struct mt_elf *image, struct mt_elf *debug, const char *path,
				 struct mt_lines **out);
void mt_lines_destroy(struct mt_lines *lines);

/*
 * The functions at a link-time address, innermost first: inlined calls, then the function that
 * contains the code. 0 if the DWARF does not cover it. Strings are borrowed from lines.
 */
size_t mt_lines_find(struct mt_lines *lines, uint64_t vaddr,
		     struct mt_lines_frame out[MT_LINES_DEPTH]);

/* Damaged or missing data found so far, one line, or NULL. */
const char *mt_lines_problem(const struct mt_lines *lines);

#endif
