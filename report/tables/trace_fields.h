/*
 * Where a tracepoint's fields stand in its raw bytes, by its `format` file.
 */
#ifndef MT_REPORT_TABLES_TRACE_FIELDS_H
#define MT_REPORT_TABLES_TRACE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_sample;
struct mt_text;

struct mt_field {
	uint32_t offset, size; /* size 0: there is no such field */
};

/* The field of that name; of size 0 where the format has none, or no number of at most 8 bytes. */
struct mt_field mt_field_find(const struct mt_text *format, const char *name);

/* Its value in a sample, without sign; false where the sample is too short for it. */
bool mt_field_get(const struct mt_field *field, const struct mt_sample *sample, uint64_t *out);

#endif
