/*
 * Interned strings: each distinct string is stored once and compared by id. Ids count from 0 in the
 * order the strings are added; id 0 is "".
 */
#ifndef MT_FORMATS_BASE_STRINGS_H
#define MT_FORMATS_BASE_STRINGS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct mt_strings;

#define MT_STRING_NONE UINT32_MAX

/* NULL out of memory. */
struct mt_strings *mt_strings_create(void);
void mt_strings_destroy(struct mt_strings *strings);

/*
 * Id of the string of `length` bytes, which is copied if it is new; MT_STRING_NONE out of memory.
 */
uint32_t mt_strings_intern(struct mt_strings *strings, const char *string, size_t length);

/* The same for a NUL-terminated string. */
static inline uint32_t mt_strings_add(struct mt_strings *strings, const char *string)
{
	return mt_strings_intern(strings, string, strlen(string));
}

/* Borrows the NUL-terminated string of an interned id, until the table is destroyed. */
const char *mt_strings_get(const struct mt_strings *strings, uint32_t id);

/* Number of distinct strings, including "". */
size_t mt_strings_count(const struct mt_strings *strings);

#endif
