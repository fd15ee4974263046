/* LZMA2, the one compression of xz files that debug information comes in. */
#ifndef MT_SYMBOLS_LZMA2_H
#define MT_SYMBOLS_LZMA2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/base/cursor.h"

/* What was unpacked so far, `max` bytes of it at most. */
struct mt_lzma2_output {
	MT_ARRAY(uint8_t) bytes;
	size_t max;
};

/*
 * Unpacks one LZMA2 stream at the end of out and leaves in behind it. NULL, or what is wrong with
 * it, a string of this module.
 */
const char *mt_lzma2_decode(struct mt_cursor *in, uint64_t dictionary_size,
			    struct mt_lzma2_output *out);

#endif
