/*
 * Memory. A function that allocates gives NULL or false out of memory, which mtrec and all that it
 * links handle. mtreport ends instead: once mt_memory_set_end() was called, no function here and
 * none of array.h, map64.h and strings.h fails, and files that only mtreport links do not check:
 * report/, formats/perfdata/, formats/reading/, formats/text/.
 */
#ifndef MT_FORMATS_BASE_MEMORY_H
#define MT_FORMATS_BASE_MEMORY_H

#include <stddef.h>
#include <stdio.h>

/*
 * Tunes malloc() for a program that allocates much memory and then exits: huge pages, and freed
 * memory is kept. Call first in main(). A setting that the system refuses is skipped.
 */
void mt_memory_tune(void);

/* From now on `end`, which must not return, is called where an allocation fails, on any thread. */
void mt_memory_set_end(void (*end)(void));

/* An allocation failed: ends the program if it has an end, else returns. */
void mt_memory_failed(void);

/* `count` zeroed elements. The caller frees. */
void *mt_alloc(size_t count, size_t size) __attribute__((alloc_size(1, 2), malloc));

/* Resizes `items` to `count` elements; the new ones are not zeroed. NULL leaves `items` as it is.
 */
void *mt_resize(void *items, size_t count, size_t size) __attribute__((alloc_size(2, 3)));

/* A copy of a string, and of at most its first `length` bytes. The caller frees. */
char *mt_copy_string(const char *string) __attribute__((malloc));
char *mt_copy_bytes(const char *string, size_t length) __attribute__((malloc));

/* Formats a string. The caller frees. */
char *mt_format(const char *format, ...) __attribute__((format(printf, 1, 2), malloc));

/* A stream into memory, as open_memstream() opens it. */
FILE *mt_open_text(char **text, size_t *size);

#endif
