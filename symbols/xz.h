/* Files of the xz format with nothing but LZMA2 in them: .gnu_debugdata is one. */
#ifndef MT_SYMBOLS_XZ_H
#define MT_SYMBOLS_XZ_H

#include <stddef.h>
#include <stdint.h>

struct mt_error;

/*
 * Unpacks all of it, at most `max` bytes; checksums are verified where they are CRC-32 or CRC-64.
 * *out is the caller's to free.
 */
struct mt_error *mt_xz_decode(const void *bytes, size_t size, size_t max, uint8_t **out,
			      size_t *out_size);

#endif
