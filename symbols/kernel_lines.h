/*
 * What of the kernel's symbols a recording carries: lines of /proc/kallsyms around addresses.
 */
#ifndef MT_SYMBOLS_KERNEL_LINES_H
#define MT_SYMBOLS_KERNEL_LINES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Of a text in the form of /proc/kallsyms, in place, the lines of functions that cover one of the
 * addresses, and of those behind them, which tell where they end. Gives the new size; 0 where no
 * line has an address (kptr_restrict), or no function is wanted.
 */
size_t mt_kernel_lines_choose(char *text, size_t size, const uint64_t *addresses, size_t count);

#endif
