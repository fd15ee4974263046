/*
 * Prints a tracepoint's sample as text, by the kernel's format file. A simple print format (fields,
 * casts, strings, tables of words) is applied, as perf does. With other formats the fields are
 * listed as name=value.
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
 * Writes a sample's fields into out, NUL-terminated and cut to size. Fields beyond the sample's end
 * are left out.
 */
void mt_trace_format_print(const struct mt_trace_format *format, const uint8_t *raw,
			   size_t raw_size, char *out, size_t size);

#endif
