/*
 * Kernel and module symbols: a sorted table read from text in the form of /proc/kallsyms. Of this
 * machine when it is the very boot that was recorded; from the recording itself later.
 */
#ifndef MT_SYMBOLS_NAMES_KERNEL_H
#define MT_SYMBOLS_NAMES_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;
struct mt_kernel_symbols;

/*
 * In place of a symbol's letter in carried lines: the function before it ends there. What stands
 * behind is not known: the symbol names no address.
 */
#define MT_KERNEL_END '-'

/* Whether the name, of so many bytes, is that of the padding in front of a function. */
bool mt_kernel_is_padding(const char *name, size_t size);

/* Reads a kallsyms text file. All-zero addresses (kptr_restrict) are an error that says so. */
struct mt_error *mt_kernel_symbols_read(const char *path, struct mt_kernel_symbols **out);

/* The text of such a file, the caller's to free. */
struct mt_error *mt_kernel_text_read(const char *path, char **text, size_t *size);

/* The symbols in a text in memory. */
struct mt_error *mt_kernel_symbols_parse(const char *text, size_t size,
					 struct mt_kernel_symbols **out);

void mt_kernel_symbols_destroy(struct mt_kernel_symbols *symbols);

/*
 * The function that covers address, or NULL: *offset within it, *module its module's name without
 * brackets or NULL for the kernel proper. Borrowed until destroyed.
 */
const char *mt_kernel_symbols_find(const struct mt_kernel_symbols *symbols, uint64_t address,
				   uint64_t *offset, const char **module);

#endif
