/*
 * Little-endian loads and stores at any alignment, on a host of any byte order, and a copy within
 * bounds.
 */
#ifndef MT_FORMATS_BASE_BYTES_H
#define MT_FORMATS_BASE_BYTES_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t mt_get_le16(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

static inline uint32_t mt_get_le32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline uint64_t mt_get_le64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static inline void mt_put_le16(void *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void mt_put_le32(void *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void mt_put_le64(void *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

/* Rounds n up to a multiple of 8; the caller makes sure that the sum does not overflow. */
static inline size_t mt_align8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

/* Copies up to n bytes from offset `at` of `bytes`; returns the number of bytes copied. */
static inline size_t mt_copy_at(const void *bytes, size_t size, uint64_t at, void *out, size_t n)
{
	size_t left = at < size ? size - (size_t)at : 0;

	n = n < left ? n : left;
	if (n) /* bytes may be NULL */
		memcpy(out, (const uint8_t *)bytes + at, n);
	return n;
}

#endif
