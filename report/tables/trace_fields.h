/*
 * Finds a tracepoint's fields in the raw bytes of its samples, by the kernel's `format` file.
 */
#ifndef MT_REPORT_TABLES_TRACE_FIELDS_H
#define MT_REPORT_TABLES_TRACE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_sample;
struct mt_text;

struct mt_field {
	uint32_t offset, size; /* in bytes; size 0: no such field */
	bool is_signed;
};

/* The field called `name`; size 0 if the format has none or its size is not 1, 2, 4 or 8. */
struct mt_field mt_field_find(const struct mt_text *format, const char *name);

/* The field's value in a sample, zero-extended; false if the sample's raw bytes end before it. */
bool mt_field_get(const struct mt_field *field, const struct mt_sample *sample, uint64_t *out);

/* Like mt_field_get(), as a number with its sign. */
bool mt_field_number(const struct mt_field *field, const struct mt_sample *sample, double *out);

/*
 * The text of a __data_loc, borrowed from the sample, of *length bytes; NULL if there is no such
 * field, or if the raw bytes end before the text.
 */
const char *mt_field_text(const struct mt_field *field, const struct mt_sample *sample,
			  size_t *length);

#endif
