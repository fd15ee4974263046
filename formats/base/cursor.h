/*
 * The one bounds-checked way to read untrusted bytes.
 *
 * A read past the end sets `bad`, returns zero (or NULL) and does not advance; every later read
 * fails the same way. A parser reads all its fields and tests `bad` once, before it uses them.
 */
#ifndef MT_FORMATS_BASE_CURSOR_H
#define MT_FORMATS_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "formats/base/bytes.h"

struct mt_cursor {
	const uint8_t *pos;
	const uint8_t *end;
	bool bad;
};

static inline struct mt_cursor mt_cursor_init(const void *bytes, size_t size)
{
	const uint8_t *pos = bytes;

	return (struct mt_cursor){.pos = pos, .end = pos ? pos + size : pos};
}

static inline size_t mt_cursor_left(const struct mt_cursor *c)
{
	return c->bad ? 0 : (size_t)(c->end - c->pos);
}

/* Borrows the next n bytes; NULL, and sets `bad`, if fewer are left. */
static inline const uint8_t *mt_cursor_bytes(struct mt_cursor *c, size_t n)
{
	const uint8_t *p = c->pos;

	if (c->bad || n > (size_t)(c->end - c->pos)) {
		c->bad = true;
		return NULL;
	}
	if (n) /* pos may be NULL, and NULL + 0 is undefined */
		c->pos += n;
	return p;
}

static inline uint8_t mt_cursor_u8(struct mt_cursor *c)
{
	const uint8_t *p = mt_cursor_bytes(c, 1);

	return p ? *p : 0;
}

static inline uint16_t mt_cursor_u16(struct mt_cursor *c)
{
	const uint8_t *p = mt_cursor_bytes(c, 2);

	return p ? mt_get_le16(p) : 0;
}

static inline uint32_t mt_cursor_u32(struct mt_cursor *c)
{
	const uint8_t *p = mt_cursor_bytes(c, 4);

	return p ? mt_get_le32(p) : 0;
}

static inline uint64_t mt_cursor_u64(struct mt_cursor *c)
{
	const uint8_t *p = mt_cursor_bytes(c, 8);

	return p ? mt_get_le64(p) : 0;
}

/*
 * Borrows a NUL-terminated string and steps past the NUL; NULL, and sets `bad`, if there is no NUL
 * before the end.
 */
static inline const char *mt_cursor_cstring(struct mt_cursor *c)
{
	const uint8_t *p = c->pos;
	const uint8_t *nul = c->bad ? NULL : memchr(p, 0, (size_t)(c->end - p));

	if (!nul) {
		c->bad = true;
		return NULL;
	}
	c->pos = nul + 1;
	return (const char *)p;
}

/* A new cursor on the next n bytes; it is bad if fewer are left. */
static inline struct mt_cursor mt_cursor_sub(struct mt_cursor *c, size_t n)
{
	const uint8_t *p = mt_cursor_bytes(c, n);
	struct mt_cursor sub = mt_cursor_init(p, p ? n : 0);

	sub.bad = !p;
	return sub;
}

/* ---- LEB128 numbers ---- */

/*
 * Decodes one number without sign extension. An encoding longer than 19 bytes sets `bad`; bits past
 * 64 are dropped. *shift is the number of bits read, *last is the last byte.
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
