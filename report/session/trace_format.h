/*
 * Prints a tracepoint's sample as text, by the kernel's format file. A simple print format (fields,
 * casts, strings, tables of words) is applied, as perf does. Otherwise the fields are listed as
 * name=value.
 */
#ifndef MT_REPORT_SESSION_TRACE_FORMAT_H
#define MT_REPORT_SESSION_TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

struct mt_trace_format;

/* Parses a format file's text, which is borrowed. */
struct mt_trace_format *mt_trace_format_create(const char *text);
void mt_trace_format_destroy(struct mt_trace_format *format);

/*
 * Writes the fields of a sample to `out` as text, NUL-terminated and cut to `size` bytes. Fields
 * beyond the end of the sample are left out.
 */
void mt_trace_format_print(const struct mt_trace_format *format, const uint8_t *raw,
			   size_t raw_size, char *out, size_t size);

#endif
