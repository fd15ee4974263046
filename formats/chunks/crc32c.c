/*
 * CRC-32C (Castagnoli): the SSE 4.2 instruction on x86-64 if present, else eight table lookups for
 * each eight bytes.
 */
#include "formats/base/bytes.h"
#include "formats/base/cpu.h"
#include "formats/chunks/chunk.h"

/*
 * A CRC is linear: the table entry of a byte is the XOR of the entries of its bits. Row k is for a
 * byte that is followed by k more bytes. The row gives the entries of the eight bits; the
 * preprocessor computes the other entries from them.
 */
#define BIT(i, b, value) ((i) >> (b)&1 ? (value) : 0u)
#define SUM(i, b0, b1, b2, b3, b4, b5, b6, b7)                                           \
	(BIT(i, 0, b0) ^ BIT(i, 1, b1) ^ BIT(i, 2, b2) ^ BIT(i, 3, b3) ^ BIT(i, 4, b4) ^ \
	 BIT(i, 5, b5) ^ BIT(i, 6, b6) ^ BIT(i, 7, b7))
#define FOUR(i, ...)                                                               \
	SUM(i, __VA_ARGS__), SUM((i) + 1, __VA_ARGS__), SUM((i) + 2, __VA_ARGS__), \
		SUM((i) + 3, __VA_ARGS__)
#define SIXTEEN(i, ...)                                                               \
	FOUR(i, __VA_ARGS__), FOUR((i) + 4, __VA_ARGS__), FOUR((i) + 8, __VA_ARGS__), \
		FOUR((i) + 12, __VA_ARGS__)
#define SIXTY_FOUR(i, ...)                                                                       \
	SIXTEEN(i, __VA_ARGS__), SIXTEEN((i) + 16, __VA_ARGS__), SIXTEEN((i) + 32, __VA_ARGS__), \
		SIXTEEN((i) + 48, __VA_ARGS__)
#define ROW(...)                                                                   \
	{                                                                          \
		SIXTY_FOUR(0, __VA_ARGS__), SIXTY_FOUR(64, __VA_ARGS__),           \
			SIXTY_FOUR(128, __VA_ARGS__), SIXTY_FOUR(192, __VA_ARGS__) \
	}

/* clang-format off */
static const uint32_t table[8][256] = {
	ROW(0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf,
	    0x105ec76f, 0x20bd8ede, 0x417b1dbc, 0x82f63b78),
	ROW(0x13a29877, 0x274530ee, 0x4e8a61dc, 0x9d14c3b8,
	    0x3fc5f181, 0x7f8be302, 0xff17c604, 0xfbc3faf9),
	ROW(0xa541927e, 0x4f6f520d, 0x9edea41a, 0x38513ec5,
	    0x70a27d8a, 0xe144fb14, 0xc76580d9, 0x8b277743),
	ROW(0xdd45aab8, 0xbf672381, 0x7b2231f3, 0xf64463e6,
	    0xe964b13d, 0xd725148b, 0xaba65fe7, 0x52a0c93f),
	ROW(0x38116fac, 0x7022df58, 0xe045beb0, 0xc5670b91,
	    0x8f2261d3, 0x1ba8b557, 0x37516aae, 0x6ea2d55c),
	ROW(0xef306b19, 0xdb8ca0c3, 0xb2f53777, 0x6006181f,
	    0xc00c303e, 0x85f4168d, 0x0e045beb, 0x1c08b7d6),
	ROW(0x68032cc8, 0xd0065990, 0xa5e0c5d1, 0x4e2dfd53,
	    0x9c5bfaa6, 0x3d5b83bd, 0x7ab7077a, 0xf56e0ef4),
	ROW(0x493c7d27, 0x9278fa4e, 0x211d826d, 0x423b04da,
	    0x847609b4, 0x0d006599, 0x1a00cb32, 0x34019664),
};
/* clang-format on */

/* These functions take and return the register without the initial and the final inversion. */
static uint32_t update_byte(uint32_t crc, uint8_t byte)
{
	return crc >> 8 ^ table[0][(crc ^ byte) & 0xff];
}

static uint32_t update_eight(uint32_t crc, const uint8_t *p)
{
	uint32_t low = crc ^ mt_get_le32(p), high = mt_get_le32(p + 4);

	return table[7][low & 0xff] ^ table[6][low >> 8 & 0xff] ^ table[5][low >> 16 & 0xff] ^
	       table[4][low >> 24] ^ table[3][high & 0xff] ^ table[2][high >> 8 & 0xff] ^
	       table[1][high >> 16 & 0xff] ^ table[0][high >> 24];
}

static uint32_t update_by_table(uint32_t crc, const uint8_t *p, size_t size)
{
	for (; size >= 8; size -= 8, p += 8)
		crc = update_eight(crc, p);
	for (; size; size--)
		crc = update_byte(crc, *p++);
	return crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t update_by_instruction(uint32_t crc,
									const uint8_t *p,
									size_t size)
{
	uint64_t wide = crc;

	for (; size >= 8; size -= 8, p += 8)
		wide = __builtin_ia32_crc32di(wide, mt_get_le64(p));
	crc = (uint32_t)wide;
	for (; size; size--)
		crc = __builtin_ia32_crc32qi(crc, *p++);
	return crc;
}
#endif

uint32_t mt_crc32c_portable(uint32_t crc, const void *bytes, size_t size)
{
	return ~update_by_table(~crc, bytes, size);
}

uint32_t mt_crc32c(uint32_t crc, const void *bytes, size_t size)
{
#ifdef __x86_64__
	if (mt_cpu_has(SSE4_2, "sse4.2"))
		return ~update_by_instruction(~crc, bytes, size);
#endif
	return mt_crc32c_portable(crc, bytes, size);
}
