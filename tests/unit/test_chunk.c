/*
 * formats/chunks/chunk, formats/chunks/crc32c: headers are encoded and decoded, other bytes are not
 * taken for headers, and blocks.
 */
#include "formats/chunks/chunk.h"

#include <string.h>

#include "formats/base/bytes.h"
#include "tests/unit/unit.h"

static const struct mt_chunk_header sample_header = {
	.type = MT_CHUNK_DATA,
	.flags = MT_CHUNK_CRITICAL,
	.codec = MT_CODEC_ZSTD,
	.stored_size = 100,
	.raw_size = 4000,
	.sequence = 0x1122334455667788,
	.first_time = 5,
	.last_time = UINT64_MAX,
	.stream = 3,
	.records = 17,
	.payload_crc = 0xdeadbeef,
};

MT_TEST(crc32c_of_the_check_string)
{
	MT_CHECK_EQ(mt_crc32c(0, "123456789", 9), 0xe3069283u);
	MT_CHECK_EQ(mt_crc32c_portable(0, "123456789", 9), 0xe3069283u);
	MT_CHECK_EQ(mt_crc32c(0, "", 0), 0);
}

MT_TEST(crc32c_continues)
{
	MT_CHECK_EQ(mt_crc32c(mt_crc32c(0, "1234", 4), "56789", 5), 0xe3069283u);
}

MT_TEST(crc32c_by_instruction_and_by_table_agree)
{
	uint8_t bytes[300];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * i * 7 + i);
	for (size_t from = 0; from < 9; from++) {
		for (size_t size = 0; size < sizeof(bytes) - from; size++) {
			if (!MT_CHECK_EQ(mt_crc32c(0, bytes + from, size),
					 mt_crc32c_portable(0, bytes + from, size)))
				return;
		}
	}
}

MT_TEST(header_there_and_back)
{
	uint8_t bytes[MT_CHUNK_HEADER_SIZE], again[MT_CHUNK_HEADER_SIZE];
	struct mt_chunk_header header;

	mt_chunk_header_encode(&sample_header, bytes);
	MT_CHECK(!memcmp(bytes, "\x89MTRC\r\n\x1a", 8));
	MT_CHECK_EQ(mt_get_le32(bytes + 20), 4000);
	MT_REQUIRE(mt_chunk_header_decode(bytes, &header));
	mt_chunk_header_encode(&header, again);
	MT_CHECK(!memcmp(bytes, again, sizeof(bytes)));
	MT_CHECK_EQ(header.sequence, sample_header.sequence);
	MT_CHECK_EQ(header.last_time, sample_header.last_time);
}

MT_TEST(any_flipped_bit_is_no_header)
{
	uint8_t bytes[MT_CHUNK_HEADER_SIZE];
	struct mt_chunk_header header = {.type = 99};

	mt_chunk_header_encode(&sample_header, bytes);
	for (size_t bit = 0; bit < sizeof(bytes) * 8; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (!MT_CHECK(!mt_chunk_header_decode(bytes, &header)))
			return;
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	MT_CHECK_EQ(header.type, 99);
}

static bool decodes(struct mt_chunk_header header)
{
	uint8_t bytes[MT_CHUNK_HEADER_SIZE];

	mt_chunk_header_encode(&header, bytes);
	return mt_chunk_header_decode(bytes, &header);
}

MT_TEST(sizes_have_bounds)
{
	struct mt_chunk_header header = sample_header;

	header.raw_size = MT_CHUNK_RAW_MAX;
	MT_CHECK(decodes(header));
	header.raw_size++;
	MT_CHECK(!decodes(header));
	header.raw_size = header.stored_size - 1;
	MT_CHECK(!decodes(header));
	header.raw_size = header.stored_size;
	header.codec = MT_CODEC_STORED;
	MT_CHECK(decodes(header));
	header.raw_size++;
	MT_CHECK(!decodes(header));
	header.codec = 200; /* the reader handles unknown codecs */
	MT_CHECK(decodes(header));
}

MT_TEST(a_block_fills_up)
{
	_Alignas(8) uint8_t bytes[64];
	struct mt_block block = {.bytes = bytes, .capacity = sizeof(bytes)};

	memset(bytes, 0xff, sizeof(bytes));
	mt_block_reset(&block, MT_CHUNK_DATA, 4);
	MT_CHECK_EQ(block.stream, 4);
	MT_CHECK(!mt_block_add(&block, 1, 65, 0));
	MT_CHECK(!mt_block_add(&block, 1, SIZE_MAX, 0));
	MT_CHECK(!mt_block_add(&block, 1, 15, 0));
	MT_CHECK(mt_block_add(&block, MT_CHUNK_DATA, 17, 0) == bytes);
	MT_CHECK_EQ(mt_get_le32(bytes + 4), 24);
	MT_CHECK_EQ(mt_get_le64(bytes + 16), 0); /* the last byte of the body, and its padding */
	MT_CHECK(mt_block_add(&block, 1, 40, 0) == bytes + 24);
	MT_CHECK(!mt_block_add(&block, 1, 16, 0));
	MT_CHECK_EQ(block.used, 64);
	MT_CHECK_EQ(block.records, 2);
}

MT_TEST(a_block_knows_its_times)
{
	uint8_t bytes[256];
	struct mt_block block = {.bytes = bytes, .capacity = sizeof(bytes)};

	mt_block_reset(&block, MT_CHUNK_DATA, 0);
	mt_block_add(&block, 1, 16, 0);
	MT_CHECK_EQ(block.first_time, 0);
	mt_block_add(&block, 1, 16, 50);
	mt_block_add(&block, 1, 16, 40);
	mt_block_add(&block, 1, 16, 45);
	MT_CHECK_EQ(block.first_time, 40);
	MT_CHECK_EQ(block.last_time, 50);
	mt_block_reset(&block, MT_CHUNK_STATE, 0);
	MT_CHECK_EQ(block.last_time, 0);
	MT_CHECK_EQ(block.records, 0);
}

MT_TEST_MAIN
