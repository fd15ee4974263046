/*
 * LEB128 numbers through the cursor. An encoding longer than 19 bytes sets `bad`; bits past 64 are
 * dropped.
 */
#ifndef MT_FORMATS_BASE_LEB128_H
#define MT_FORMATS_BASE_LEB128_H

#include <stdint.h>

#include "formats/base/cursor.h"

/*
 * Decodes one number without sign extension; *shift is the number of bits read, *last the last
 * byte.
 */
static inline uint64_t mt_cursor_leb_bits(struct mt_cursor *c, unsigned int *shift, uint8_t *last)
{
	uint64_t value = 0;

	*shift = 0;
	do {
		*last = mt_cursor_u8(c);
		if (*shift < 64)
			value |= (uint64_t)(*last & 0x7f) << *shift;
		else if (*shift > 128)
			c->bad = true;
		*shift += 7;
	} while ((*last & 0x80) && !c->bad);
	return c->bad ? 0 : value;
}

static inline uint64_t mt_cursor_uleb(struct mt_cursor *c)
{
	unsigned int shift;
	uint8_t last;

	return mt_cursor_leb_bits(c, &shift, &last);
}

static inline int64_t mt_cursor_sleb(struct mt_cursor *c)
{
	unsigned int shift;
	uint8_t last;
	uint64_t value = mt_cursor_leb_bits(c, &shift, &last);

	if (shift < 64 && (last & 0x40))
		value |= ~(uint64_t)0 << shift;
	return c->bad ? 0 : (int64_t)value;
}

#endif
