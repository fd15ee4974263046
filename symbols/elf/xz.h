/* Decompresses xz, the format of .gnu_debugdata. */
#ifndef MT_SYMBOLS_ELF_XZ_H
#define MT_SYMBOLS_ELF_XZ_H

#include <stddef.h>
#include <stdint.h>

struct mt_error;

/*
 * Decompresses all streams, to at most `max` bytes. Any damage is an error: half a symbol table
 * would name the wrong functions. *out is the caller's to free.
 */
struct mt_error *mt_xz_decode(const void *bytes, size_t size, size_t max, uint8_t **out,
			      size_t *out_size);

#endif
