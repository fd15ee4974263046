/*
 * Interned strings: each distinct string once, compared by id. Ids count from 0 in order of first
 * sight; 0 is "".
 */
#ifndef MT_FORMATS_BASE_STRINGS_H
#define MT_FORMATS_BASE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

struct mt_strings;

#define MT_STRING_NONE UINT32_MAX

/* NULL out of memory. */
struct mt_strings *mt_strings_create(void);
void mt_strings_destroy(struct mt_strings *strings);

/* The id of the string of `length` bytes (copied on first sight); MT_STRING_NONE out of memory. */
uint32_t mt_strings_intern(struct mt_strings *strings, const char *string, size_t length);

/* Borrows the NUL-terminated string of an id that intern gave; holds as long as the table. */
const char *mt_strings_get(const struct mt_strings *strings, uint32_t id);

/* How many distinct strings, "" included. */
size_t mt_strings_count(const struct mt_strings *strings);

#endif
