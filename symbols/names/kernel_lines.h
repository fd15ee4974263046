/*
 * What of the kernel's symbols a recording carries: lines of /proc/kallsyms around addresses. They
 * are not in order there, and are many: they are shown twice, piece by piece.
 */
#ifndef MT_SYMBOLS_NAMES_KERNEL_LINES_H
#define MT_SYMBOLS_NAMES_KERNEL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_kernel_lines;

/*
 * Wanted are the lines of functions that cover one of these addresses, which rise and are borrowed,
 * and those behind them, which tell where they end. NULL out of memory.
 */
struct mt_kernel_lines *mt_kernel_lines_create(const uint64_t *addresses, size_t count);
void mt_kernel_lines_destroy(struct mt_kernel_lines *lines);

/*
 * Leaves the lines of functions alone, in place, those that are ever looked at; gives their size.
 */
size_t mt_kernel_lines_functions(char *text, size_t size);

/* First all lines are shown, some whole ones at a time. */
void mt_kernel_lines_see(struct mt_kernel_lines *lines, const void *text, size_t size);

/*
 * Then they are again: those that are wanted are left, in place. Gives their size. Nothing is where
 * no line has an address (kptr_restrict).
 */
size_t mt_kernel_lines_keep(struct mt_kernel_lines *lines, void *text, size_t size);

/* Both, for a text that is there whole; 0 out of memory, too. */
size_t mt_kernel_lines_choose(char *text, size_t size, const uint64_t *addresses, size_t count);

#endif
