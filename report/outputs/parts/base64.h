/*
 * Base64 (RFC 4648, section 4): bytes as text that needs no escaping in HTML.
 */
#ifndef MT_REPORT_OUTPUTS_PARTS_BASE64_H
#define MT_REPORT_OUTPUTS_PARTS_BASE64_H

#include <stddef.h>
#include <stdio.h>

/* Writes the bytes, padded with "=". Errors stay in the stream. */
void mt_base64_write(const unsigned char *bytes, size_t size, FILE *to);

#endif
