/*
 * Kernel and module symbols: a sorted table parsed from text in the form of /proc/kallsyms, of this
 * machine (if it still runs the recorded boot) or from the recording.
 */
#ifndef MT_SYMBOLS_NAMES_KERNEL_H
#define MT_SYMBOLS_NAMES_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;
struct mt_kernel_symbols;

/*
 * Symbol type of carried lines that only mark the end of the function before: addresses from there
 * on have no known name.
 */
#define MT_KERNEL_END '-'

/* True if the name, of `size` bytes, is a function's padding (__pfx_NAME). */
bool mt_kernel_is_padding(const char *name, size_t size);

/* Reads a kallsyms file. All-zero addresses (kptr_restrict) are an error. */
struct mt_error *mt_kernel_symbols_read(const char *path, struct mt_kernel_symbols **out);

/* Reads a kallsyms file as text, which the caller frees. */
struct mt_error *mt_kernel_text_read(const char *path, char **text, size_t *size);

/* Parses text in memory. */
struct mt_error *mt_kernel_symbols_parse(const char *text, size_t size,
					 struct mt_kernel_symbols **out);

void mt_kernel_symbols_destroy(struct mt_kernel_symbols *symbols);

/*
 * The function that covers address, or NULL. Sets *offset in the function and *module to the
 * module's name without brackets, or NULL for the kernel. Borrowed until destroyed.
 */
const char *mt_kernel_symbols_find(const struct mt_kernel_symbols *symbols, uint64_t address,
				   uint64_t *offset, const char **module);

#endif
