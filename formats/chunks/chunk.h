/*
 * Chunk headers and record headers: the grammar of FORMAT.md sections 1 to 3, and the limits.
 */
#ifndef MT_FORMATS_CHUNKS_CHUNK_H
#define MT_FORMATS_CHUNKS_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MT_CHUNK_MAGIC "\x89MTRC\r\n\x1a"
#define MT_CHUNK_MAGIC_SIZE 8
#define MT_CHUNK_HEADER_SIZE 64
#define MT_CHUNK_RAW_MAX (64u << 20)

#define MT_FORMAT_MAJOR 1
#define MT_FORMAT_MINOR 0

enum mt_chunk_type {
	MT_CHUNK_HEAD = 1,
	MT_CHUNK_STATE = 2,
	MT_CHUNK_DATA = 3,
	MT_CHUNK_MARK = 4,
	MT_CHUNK_END = 5,
	MT_CHUNK_FILE = 6,
};

#define MT_CHUNK_CRITICAL 1u /* flags bit 0 */

enum mt_codec {
	MT_CODEC_STORED = 0,
	MT_CODEC_ZSTD = 1,
	MT_CODEC_PLANES = 2, /* of DATA alone */
};

struct mt_chunk_header {
	uint16_t type;
	uint16_t flags;
	uint8_t codec;
	uint32_t stored_size;
	uint32_t raw_size;
	uint64_t sequence;
	uint64_t first_time;
	uint64_t last_time;
	uint32_t stream;
	uint32_t records;
	uint32_t payload_crc;
};

/* Writes the 64 bytes, header_crc included. */
void mt_chunk_header_encode(const struct mt_chunk_header *header,
			    uint8_t out[MT_CHUNK_HEADER_SIZE]);

/*
 * True where the 64 bytes are a good header as FORMAT.md section 1 defines it. The codec may be
 * unknown.
 */
bool mt_chunk_header_decode(const uint8_t in[MT_CHUNK_HEADER_SIZE], struct mt_chunk_header *out);

/*
 * CRC-32C of size bytes, continuing from crc (0 to begin). Uses the processor's instruction where
 * there is one.
 */
uint32_t mt_crc32c(uint32_t crc, const void *bytes, size_t size);

/*
 * The same by tables alone, for processors without the instruction and to hold the two against each
 * other.
 */
uint32_t mt_crc32c_portable(uint32_t crc, const void *bytes, size_t size);

/*
 * A block: the payload of one chunk while it is built, in memory that its owner gave. One thread at
 * a time.
 */
struct mt_block {
	uint8_t *bytes;
	size_t capacity; /* at most MT_CHUNK_RAW_MAX */
	size_t used;
	uint64_t first_time, last_time;
	uint32_t records;
	uint32_t stream;
	uint16_t type; /* enum mt_chunk_type */
};

#define MT_RECORD_HEADER_SIZE 16

/* Empties the block and gives it a type and a stream. */
void mt_block_reset(struct mt_block *block, enum mt_chunk_type type, uint32_t stream);

/*
 * Room for a record of `size` bytes, its header counted and written, rounded up to 8 and the
 * padding zeroed; NULL where the block is full. The body starts MT_RECORD_HEADER_SIZE bytes in.
 * Times of 0 do not count towards first_time.
 */
uint8_t *mt_block_add(struct mt_block *block, uint32_t type, size_t size, uint64_t time);

#endif
