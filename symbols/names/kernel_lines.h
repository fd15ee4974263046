/*
 * Selects the lines of /proc/kallsyms that a recording carries, around given addresses. The lines
 * are unordered and many, so they are passed twice, in pieces.
 */
#ifndef MT_SYMBOLS_NAMES_KERNEL_LINES_H
#define MT_SYMBOLS_NAMES_KERNEL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_kernel_lines;

/*
 * Selects the lines of functions that cover one of the addresses (ascending, borrowed), and the
 * line after each, which marks its end. NULL out of memory.
 */
struct mt_kernel_lines *mt_kernel_lines_create(const uint64_t *addresses, size_t count);
void mt_kernel_lines_destroy(struct mt_kernel_lines *lines);

/*
 * Keeps only the lines of functions, in place, and returns their size; other lines are never used.
 */
size_t mt_kernel_lines_functions(char *text, size_t size);

/* First pass: all lines, in pieces of whole lines. */
void mt_kernel_lines_see(struct mt_kernel_lines *lines, const void *text, size_t size);

/*
 * Second pass: keeps the selected lines of a piece, in place, and returns their size. Keeps none if
 * all addresses are 0 (kptr_restrict).
 */
size_t mt_kernel_lines_keep(struct mt_kernel_lines *lines, void *text, size_t size);

/* Both passes on a whole text; 0 also out of memory. */
size_t mt_kernel_lines_choose(char *text, size_t size, const uint64_t *addresses, size_t count);

#endif
