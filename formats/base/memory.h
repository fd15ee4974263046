/*
 * Memory. In mtrec, a function that allocates returns NULL or false if memory runs out, and its
 * caller handles that. mtreport exits instead: after mt_memory_set_end(), no function here or in
 * array.h, map64.h and strings.h fails. So code that only mtreport runs does not check: report/,
 * formats/perfdata/, formats/reading/, formats/text/ and mt_pool_create().
 */
#ifndef MT_FORMATS_BASE_MEMORY_H
#define MT_FORMATS_BASE_MEMORY_H

#include <stddef.h>
#include <stdio.h>

/*
 * Tunes malloc() for a program that allocates much memory and then exits: uses huge pages and keeps
 * freed memory. Call first in main(). A setting that the system refuses is skipped.
 */
void mt_memory_tune(void);

/* From now on `end`, which must not return, is called when an allocation fails, on any thread. */
void mt_memory_set_end(void (*end)(void));

/* Call when an allocation fails. Calls the function of mt_memory_set_end() if set, else returns. */
void mt_memory_failed(void);

/* `count` zeroed elements. The caller frees. */
void *mt_alloc(size_t count, size_t size) __attribute__((alloc_size(1, 2), malloc));

/*
 * Resizes `items` to `count` elements; the new ones are not zeroed. Returns NULL out of memory, and
 * `items` is then unchanged.
 */
void *mt_resize(void *items, size_t count, size_t size) __attribute__((alloc_size(2, 3)));

/* Copy a string; copy at most its first `length` bytes and add a NUL. The caller frees. */
char *mt_copy_string(const char *string) __attribute__((malloc));
char *mt_copy_bytes(const char *string, size_t length) __attribute__((malloc));

/* Formats a string. The caller frees. */
char *mt_format(const char *format, ...) __attribute__((format(printf, 1, 2), malloc));

/* Opens a stream into memory, like open_memstream(). */
FILE *mt_open_text(char **text, size_t *size);

#endif
