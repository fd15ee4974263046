/*
 * Which functions were inlined at an address, and the lines that they stand in, from DWARF. Opening
 * reads one entry of each unit; a unit is read as a whole when the first address in it is asked
 * for, into tables of intervals, so that every later answer is two binary searches.
 *
 * Damage never ends more than the unit that has it: what came before it is used, addresses behind
 * it have no lines, and mt_lines_problem() says why. Not for two threads at once; many units can be
 * read by the threads of a pool beforehand.
 */
#ifndef MT_SYMBOLS_LINES_LINES_H
#define MT_SYMBOLS_LINES_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_elf;
struct mt_error;
struct mt_lines;
struct mt_pool;

/* No compiler inlines deeper; what is around it is left out. */
#define MT_LINES_DEPTH 64

struct mt_lines_frame {
	const char *name; /* as the DWARF has it; NULL where it has none */
	bool mangled;	  /* name is a linkage name; else, of an inlined call, it is qualified */
	const char *file; /* whole path, or NULL */
	uint32_t line;	  /* 0 where file is NULL */
};

/*
 * image is the file that is mapped, debug the one that has the DWARF: the same, or a debug file;
 * path is debug's, to look for further files beside, or NULL. All are borrowed. *out is NULL where
 * there is no DWARF.
 */
struct mt_error *mt_lines_create(const struct mt_elf *image, struct mt_elf *debug, const char *path,
				 struct mt_lines **out);
void mt_lines_destroy(struct mt_lines *lines);

/*
 * Reads what answers about these addresses need, a unit a job; returns when all is read. It need
 * not be done, and changes no answer.
 */
void mt_lines_prepare(struct mt_lines *lines, const uint64_t *vaddrs, size_t count,
		      struct mt_pool *pool);

/*
 * The functions at a link-time address, innermost first: calls that were inlined, then the function
 * that has the code. 0 where the DWARF does not cover it. Strings are borrowed from lines.
 */
size_t mt_lines_find(struct mt_lines *lines, uint64_t vaddr,
		     struct mt_lines_frame out[MT_LINES_DEPTH]);

/* What was found damaged or missing so far, one line, or NULL. */
const char *mt_lines_problem(const struct mt_lines *lines);

#endif
