/*
 * What a tracepoint's sample says, as text: by the format that the kernel describes it with. Where
 * its print format is simple (fields, casts, strings, tables of words) it is followed, as perf
 * does; elsewhere the fields stand one behind the other, name=value.
 */
#ifndef MT_REPORT_SESSION_TRACE_FORMAT_H
#define MT_REPORT_SESSION_TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

struct mt_trace_format;

/* Of a format file's text, which is borrowed. NULL out of memory. */
struct mt_trace_format *mt_trace_format_create(const char *text);
void mt_trace_format_destroy(struct mt_trace_format *format);

/*
 * Writes a sample's fields into out, terminated, cut where it is full. A field behind the sample's
 * end is left out.
 */
void mt_trace_format_print(const struct mt_trace_format *format, const uint8_t *raw,
			   size_t raw_size, char *out, size_t size);

#endif
