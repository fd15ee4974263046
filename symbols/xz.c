/*
 * The container of xz: streams of blocks, each with a header, LZMA2 data and a checksum, then an
 * index of them and a footer. Any damage is an error: half a symbol table names the wrong things.
 */
#include "symbols/xz.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/cursor.h"
#include "formats/base/err.h"
#include "symbols/crc.h"
#include "symbols/lzma2.h"

enum {
	HEADER_SIZE = 12,
	FOOTER_SIZE = 12,
	CHECK_NONE = 0,
	CHECK_CRC32 = 1,
	CHECK_CRC64 = 4,
	CHECKS = 16,
	FILTER_LZMA2 = 0x21,
	NUMBER_BYTES = 9, /* of a number of many bytes, at most */
};

struct xz {
	struct mt_cursor c;
	struct mt_lzma2_output out;
	uint8_t check;
	/* of the stream */
	uint64_t blocks;
	uint64_t unpadded, unpacked; /* sums over its blocks, as the index must have them */
};

static uint64_t take_number(struct mt_cursor *c)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < NUMBER_BYTES; i++) {
		uint8_t byte = mt_cursor_u8(c);

		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80))
			return value;
	}
	c->bad = true;
	return 0;
}

static bool take_zeros(struct mt_cursor *c, size_t count)
{
	bool zero = true;

	while (count--)
		zero &= !mt_cursor_u8(c);
	return zero && !c->bad;
}

/* How many bytes are missing to a multiple of four since `start`. */
static size_t padding(const struct mt_cursor *c, const uint8_t *start)
{
	return -(size_t)(c->pos - start) & 3;
}

static const char *read_header(struct xz *x)
{
	static const uint8_t magic[] = {0xfd, '7', 'z', 'X', 'Z', 0};
	const uint8_t *header = mt_cursor_bytes(&x->c, HEADER_SIZE);

	if (!header || memcmp(header, magic, sizeof(magic)) != 0)
		return "not an xz stream";
	if (mt_crc32(header + 6, 2) != mt_get_le32(header + 8))
		return "its header's checksum differs";
	if (header[6] || header[7] >= CHECKS)
		return "of an unknown kind";
	x->check = header[7];
	return NULL;
}

/* The size of the dictionary, from its one byte; 0 for what is none. */
static uint64_t dictionary_size(uint8_t bits)
{
	if (bits > 40)
		return 0;
	return bits == 40 ? UINT32_MAX : (UINT64_C(2) | (bits & 1)) << (bits / 2 + 11);
}

struct block {
	uint64_t packed, unpacked; /* UINT64_MAX: not said */
	uint64_t dictionary_size;
};

static const char *read_block_header(struct xz *x, struct block *block)
{
	const uint8_t *start = x->c.pos;
	size_t size = (size_t)(*start + 1) * 4;
	struct mt_cursor c = mt_cursor_sub(&x->c, size);
	uint8_t flags;

	if (c.bad || mt_crc32(start, size - 4) != mt_get_le32(start + size - 4))
		return "a block's header is cut short, or its checksum differs";
	c.end -= 4;
	mt_cursor_u8(&c);
	flags = mt_cursor_u8(&c);
	block->packed = flags & 0x40 ? take_number(&c) : UINT64_MAX;
	block->unpacked = flags & 0x80 ? take_number(&c) : UINT64_MAX;
	if ((flags & 0x3f) || take_number(&c) != FILTER_LZMA2 || take_number(&c) != 1)
		return "compressed by more than LZMA2";
	block->dictionary_size = dictionary_size(mt_cursor_u8(&c));
	if (!block->dictionary_size || !take_zeros(&c, mt_cursor_left(&c)))
		return "a block's header is corrupt";
	return NULL;
}

static bool check_agrees(struct xz *x, const uint8_t *bytes, size_t size)
{
	static const uint8_t sizes[CHECKS] = {0,  4,  4,  4,  8,  8,  8,  16,
					      16, 16, 32, 32, 32, 64, 64, 64};
	const uint8_t *check = mt_cursor_bytes(&x->c, sizes[x->check]);

	if (!check)
		return false;
	if (x->check == CHECK_CRC32)
		return mt_get_le32(check) == mt_crc32(bytes, size);
	return x->check != CHECK_CRC64 || mt_get_le64(check) == mt_crc64(bytes, size);
}

static const char *read_block(struct xz *x)
{
	size_t start = x->out.bytes.count, unpacked;
	const uint8_t *header = x->c.pos, *data;
	struct block block;
	const char *wrong = read_block_header(x, &block);
	uint64_t packed;

	if (wrong)
		return wrong;
	data = x->c.pos;
	wrong = mt_lzma2_decode(&x->c, block.dictionary_size, &x->out);
	if (wrong)
		return wrong;
	packed = (uint64_t)(x->c.pos - data);
	unpacked = x->out.bytes.count - start;
	if ((block.packed != UINT64_MAX && block.packed != packed) ||
	    (block.unpacked != UINT64_MAX && block.unpacked != unpacked))
		return "a block is not as long as it says";
	x->blocks++;
	x->unpacked += unpacked;
	x->unpadded += packed + (uint64_t)(data - header);
	if (!take_zeros(&x->c, padding(&x->c, data)))
		return "a block's padding is not";
	header = x->c.pos;
	if (!check_agrees(x, unpacked ? x->out.bytes.items + start : header, unpacked))
		return "a block's checksum differs";
	x->unpadded += (uint64_t)(x->c.pos - header);
	return NULL;
}

/* The index must list what was read; then the footer. */
static const char *read_index(struct xz *x)
{
	const uint8_t *start = x->c.pos, *footer;
	uint64_t blocks, unpadded = 0, unpacked = 0;
	size_t size;

	mt_cursor_u8(&x->c);
	blocks = take_number(&x->c);
	if (blocks != x->blocks)
		return "its index has not the blocks that it has";
	for (; blocks && !x->c.bad; blocks--) {
		unpadded += take_number(&x->c);
		unpacked += take_number(&x->c);
	}
	if (!take_zeros(&x->c, padding(&x->c, start)) || unpadded != x->unpadded ||
	    unpacked != x->unpacked)
		return "its index is corrupt";
	size = (size_t)(x->c.pos - start);
	if (mt_cursor_u32(&x->c) != mt_crc32(start, size) || x->c.bad)
		return "its index's checksum differs";
	footer = mt_cursor_bytes(&x->c, FOOTER_SIZE);
	if (!footer || memcmp(footer + 10, "YZ", 2) != 0 || footer[8] || footer[9] != x->check ||
	    mt_get_le32(footer) != mt_crc32(footer + 4, 6) || mt_get_le32(footer + 4) != size / 4)
		return "its footer is corrupt";
	return NULL;
}

static const char *read_stream(struct xz *x)
{
	const char *wrong = read_header(x);

	x->blocks = x->unpadded = x->unpacked = 0;
	while (!wrong && mt_cursor_left(&x->c) && *x->c.pos)
		wrong = read_block(x);
	if (!wrong && !mt_cursor_left(&x->c))
		wrong = "cut short";
	return wrong ? wrong : read_index(x);
}

struct mt_error *mt_xz_decode(const void *bytes, size_t size, size_t max, uint8_t **out,
			      size_t *out_size)
{
	struct xz x = {.c = mt_cursor_init(bytes, size), .out = {.max = max}};
	const char *wrong = read_stream(&x);

	/* streams may follow each other, with zeros between */
	while (!wrong && mt_cursor_left(&x.c)) {
		if (*x.c.pos)
			wrong = read_stream(&x);
		else if (!take_zeros(&x.c, 4))
			wrong = "followed by something else";
	}
	if (wrong) {
		mt_array_deinit(&x.out.bytes);
		return mt_error_create(MT_ERR_FORMAT, "xz: %s", wrong);
	}
	*out = x.out.bytes.items;
	*out_size = x.out.bytes.count;
	return NULL;
}
