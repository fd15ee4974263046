/* asprintf() whose result is the text. */
#ifndef MT_FORMATS_BASE_TEXTF_H
#define MT_FORMATS_BASE_TEXTF_H

#include <stdarg.h>
#include <stdio.h>

/* Formats into memory that the caller frees; NULL out of memory. */
static inline __attribute__((format(printf, 1, 2), warn_unused_result)) char *mt_textf(
	const char *format, ...)
{
	char *text;
	va_list ap;
	int size;

	va_start(ap, format);
	size = vasprintf(&text, format, ap);
	va_end(ap);
	return size < 0 ? NULL : text;
}

#endif
