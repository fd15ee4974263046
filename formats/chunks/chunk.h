/*
 * Chunk headers and record headers (FORMAT.md sections 1 to 3), and their limits.
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

#define MT_CHUNK_CRITICAL 1u /* bit 0 of flags */

enum mt_codec {
	MT_CODEC_STORED = 0,
	MT_CODEC_ZSTD = 1,
	MT_CODEC_PLANES = 2, /* DATA chunks only */
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

/* Encodes the header's 64 bytes, including header_crc. */
void mt_chunk_header_encode(const struct mt_chunk_header *header,
			    uint8_t out[MT_CHUNK_HEADER_SIZE]);

/* False unless the 64 bytes are a valid header (FORMAT.md section 1). An unknown codec is valid. */
bool mt_chunk_header_decode(const uint8_t in[MT_CHUNK_HEADER_SIZE], struct mt_chunk_header *out);

/*
 * CRC-32C of `size` bytes, continuing from crc (0 to begin). Uses the processor's instruction if it
 * has one.
 */
uint32_t mt_crc32c(uint32_t crc, const void *bytes, size_t size);

/*
 * The same from tables only: for processors without the instruction, and to test one variant
 * against the other.
 */
uint32_t mt_crc32c_portable(uint32_t crc, const void *bytes, size_t size);

/* The payload of a chunk under construction, in memory that the owner provides. Not thread-safe. */
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

/* Empties the block and sets its type and stream. */
void mt_block_reset(struct mt_block *block, enum mt_chunk_type type, uint32_t stream);

/*
 * Reserves a record of `size` bytes, header included, and writes its header. The size is rounded up
 * to a multiple of 8, and the padding is zeroed; the body begins at MT_RECORD_HEADER_SIZE. NULL if
 * the block is full. A time of 0 does not count towards first_time.
 */
uint8_t *mt_block_add(struct mt_block *block, uint32_t type, size_t size, uint64_t time);

#endif
