/*
 * Encodes and decodes chunk headers, and fills blocks, which are payloads under construction. The
 * writer compresses and writes blocks; the reader finds chunks in a file.
 */
#include "formats/chunks/chunk.h"

#include <string.h>

#include "formats/base/bytes.h"

enum header_offset { /* FORMAT.md section 1 */
	OFF_TYPE = 8,
	OFF_FLAGS = 10,
	OFF_CODEC = 12,
	OFF_STORED_SIZE = 16,
	OFF_RAW_SIZE = 20,
	OFF_SEQUENCE = 24,
	OFF_FIRST_TIME = 32,
	OFF_LAST_TIME = 40,
	OFF_STREAM = 48,
	OFF_RECORDS = 52,
	OFF_PAYLOAD_CRC = 56,
	OFF_HEADER_CRC = 60,
};

void mt_chunk_header_encode(const struct mt_chunk_header *header, uint8_t out[MT_CHUNK_HEADER_SIZE])
{
	memset(out, 0, MT_CHUNK_HEADER_SIZE);
	memcpy(out, MT_CHUNK_MAGIC, MT_CHUNK_MAGIC_SIZE);
	mt_put_le16(out + OFF_TYPE, header->type);
	mt_put_le16(out + OFF_FLAGS, header->flags);
	out[OFF_CODEC] = header->codec;
	mt_put_le32(out + OFF_STORED_SIZE, header->stored_size);
	mt_put_le32(out + OFF_RAW_SIZE, header->raw_size);
	mt_put_le64(out + OFF_SEQUENCE, header->sequence);
	mt_put_le64(out + OFF_FIRST_TIME, header->first_time);
	mt_put_le64(out + OFF_LAST_TIME, header->last_time);
	mt_put_le32(out + OFF_STREAM, header->stream);
	mt_put_le32(out + OFF_RECORDS, header->records);
	mt_put_le32(out + OFF_PAYLOAD_CRC, header->payload_crc);
	mt_put_le32(out + OFF_HEADER_CRC, mt_crc32c(0, out, OFF_HEADER_CRC));
}

static bool sizes_good(const struct mt_chunk_header *header)
{
	if (header->raw_size > MT_CHUNK_RAW_MAX || header->stored_size > header->raw_size)
		return false;
	return header->codec != MT_CODEC_STORED || header->stored_size == header->raw_size;
}

bool mt_chunk_header_decode(const uint8_t in[MT_CHUNK_HEADER_SIZE], struct mt_chunk_header *out)
{
	struct mt_chunk_header header;

	if (memcmp(in, MT_CHUNK_MAGIC, MT_CHUNK_MAGIC_SIZE) != 0)
		return false;
	if (mt_get_le32(in + OFF_HEADER_CRC) != mt_crc32c(0, in, OFF_HEADER_CRC))
		return false;
	header = (struct mt_chunk_header){
		.type = mt_get_le16(in + OFF_TYPE),
		.flags = mt_get_le16(in + OFF_FLAGS),
		.codec = in[OFF_CODEC],
		.stored_size = mt_get_le32(in + OFF_STORED_SIZE),
		.raw_size = mt_get_le32(in + OFF_RAW_SIZE),
		.sequence = mt_get_le64(in + OFF_SEQUENCE),
		.first_time = mt_get_le64(in + OFF_FIRST_TIME),
		.last_time = mt_get_le64(in + OFF_LAST_TIME),
		.stream = mt_get_le32(in + OFF_STREAM),
		.records = mt_get_le32(in + OFF_RECORDS),
		.payload_crc = mt_get_le32(in + OFF_PAYLOAD_CRC),
	};
	if (!sizes_good(&header))
		return false;
	*out = header;
	return true;
}

void mt_block_reset(struct mt_block *block, enum mt_chunk_type type, uint32_t stream)
{
	block->used = 0;
	block->first_time = block->last_time = 0;
	block->records = 0;
	block->stream = stream;
	block->type = (uint16_t)type;
}

static void block_note_time(struct mt_block *block, uint64_t time)
{
	if (time && (!block->first_time || time < block->first_time))
		block->first_time = time;
	if (time > block->last_time)
		block->last_time = time;
}

uint8_t *mt_block_add(struct mt_block *block, uint32_t type, size_t size, uint64_t time)
{
	uint8_t *record = block->bytes + block->used;
	size_t padded;

	if (size < MT_RECORD_HEADER_SIZE || size > block->capacity)
		return NULL;
	padded = mt_align8(size);
	if (padded > block->capacity - block->used)
		return NULL;
	if (padded > size)
		memset(record + padded - 8, 0, 8);
	mt_put_le32(record, type);
	mt_put_le32(record + 4, (uint32_t)padded);
	mt_put_le64(record + 8, time);
	block->used += padded;
	block->records++;
	block_note_time(block, time);
	return record;
}
