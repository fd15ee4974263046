/*
 * CRC-32 and CRC-64, a table of 256 entries each; made for every call, which costs less than the
 * smallest file that is checked.
 */
#include "symbols/crc.h"

static uint64_t crc(uint64_t polynomial, uint64_t ones, const uint8_t *bytes, size_t size)
{
	uint64_t table[256], value = ones;

	for (size_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? polynomial : 0);
	}
	for (size_t i = 0; i < size; i++)
		value = value >> 8 ^ table[(value ^ bytes[i]) & 0xff];
	return value ^ ones;
}

uint32_t mt_crc32(const void *bytes, size_t size)
{
	return (uint32_t)crc(0xedb88320, UINT32_MAX, bytes, size);
}

uint64_t mt_crc64(const void *bytes, size_t size)
{
	return crc(UINT64_C(0xc96c5795d7870f42), UINT64_MAX, bytes, size);
}
