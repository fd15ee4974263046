/*
 * Builds recordings chunk by chunk, for tests: good ones and damaged ones.
 *
 *	struct mt_builder b;
 *
 *	mt_builder_init(&b);
 *	mt_builder_head(&b);
 *	block = mt_builder_begin(&b, MT_CHUNK_DATA, 0);
 *	mt_kernel_put(block, 100, 0, bytes, size);
 *	mt_builder_add(&b, MT_CODEC_ZSTD);
 *	mt_builder_end(&b);
 *	... b.bytes, b.size, or mt_builder_file(&b)
 *	mt_builder_deinit(&b);
 *
 * If memory runs out, the test program ends. The bytes are the same in every run.
 */
#ifndef MT_TESTS_UNIT_MT_BUILDER_H
#define MT_TESTS_UNIT_MT_BUILDER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "formats/chunks/chunk.h"
#include "formats/records/record.h"
#include "formats/stacks/sample_record.h"

#define MT_BUILDER_BLOCK (8u << 20)

struct mt_builder {
	uint8_t *bytes;
	size_t size;
	uint64_t sequence; /* of the next chunk */
	struct mt_block block;
	struct mt_chunk_header header; /* of the last chunk */
	size_t header_offset;
	int fd; /* of the file of mt_builder_file(), -1 if there is none yet */
	char path[64];
};

static inline void *mt_builder_memory(void *old, size_t size)
{
	void *memory = realloc(old, size);

	if (!memory)
		abort();
	return memory;
}

static inline void mt_builder_init(struct mt_builder *b)
{
	*b = (struct mt_builder){.block = {.capacity = MT_BUILDER_BLOCK}, .fd = -1};
	b->block.bytes = mt_builder_memory(NULL, MT_BUILDER_BLOCK);
}

static inline void mt_builder_deinit(struct mt_builder *b)
{
	if (b->fd >= 0)
		close(b->fd);
	free(b->block.bytes);
	free(b->bytes);
}

/* Adds raw bytes between the chunks. */
static inline void mt_builder_bytes(struct mt_builder *b, const void *bytes, size_t size)
{
	b->bytes = mt_builder_memory(b->bytes, b->size + size + 1);
	if (size)
		memcpy(b->bytes + b->size, bytes, size);
	b->size += size;
}

/* Empties the block for the payload of a new chunk. */
static inline struct mt_block *mt_builder_begin(struct mt_builder *b, enum mt_chunk_type type,
						uint32_t stream)
{
	mt_block_reset(&b->block, type, stream);
	return &b->block;
}

static inline void mt_builder_put_chunk(struct mt_builder *b, const uint8_t *payload)
{
	uint8_t bytes[MT_CHUNK_HEADER_SIZE];

	mt_chunk_header_encode(&b->header, bytes);
	b->header_offset = b->size;
	mt_builder_bytes(b, bytes, sizeof(bytes));
	mt_builder_bytes(b, payload, b->header.stored_size);
}

/*
 * Appends the block as a chunk; it is stored if zstd does not make it smaller. A test may change
 * b->header and write it again.
 */
static inline void mt_builder_add(struct mt_builder *b, enum mt_codec codec)
{
	const struct mt_block *block = &b->block;
	size_t bound = ZSTD_compressBound(block->used), stored = block->used;
	uint8_t *packed = mt_builder_memory(NULL, bound + 1);
	const uint8_t *payload = block->bytes;

	if (codec == MT_CODEC_ZSTD) {
		stored = ZSTD_compress(packed, bound, block->bytes, block->used, 1);
		payload = packed;
		if (ZSTD_isError(stored) || stored >= block->used) {
			codec = MT_CODEC_STORED;
			stored = block->used;
			payload = block->bytes;
		}
	}
	b->header = (struct mt_chunk_header){
		.type = block->type,
		.flags = block->type <= MT_CHUNK_DATA ? MT_CHUNK_CRITICAL : 0,
		.codec = (uint8_t)codec,
		.stored_size = (uint32_t)stored,
		.raw_size = (uint32_t)block->used,
		.sequence = b->sequence++,
		.first_time = block->first_time,
		.last_time = block->last_time,
		.stream = block->stream,
		.records = block->records,
		.payload_crc = mt_crc32c(0, payload, stored),
	};
	mt_builder_put_chunk(b, payload);
	free(packed);
}

static inline void mt_builder_head_version(struct mt_builder *b, uint16_t major, uint16_t minor)
{
	struct mt_header_record header = {
		.major = major, .minor = minor, .clock = 1, .id = {1, 2, 3}};

	b->sequence = 0;
	mt_builder_begin(b, MT_CHUNK_HEAD, 0);
	mt_header_put(&b->block, &header);
}

/* Begins a HEAD with a HEADER in the block; more records may follow before mt_builder_add(). */
static inline void mt_builder_head_begin(struct mt_builder *b)
{
	mt_builder_head_version(b, MT_FORMAT_MAJOR, MT_FORMAT_MINOR);
}

static inline void mt_builder_head(struct mt_builder *b)
{
	mt_builder_head_begin(b);
	mt_builder_add(b, MT_CODEC_STORED);
}

static inline void mt_builder_mark(struct mt_builder *b, uint64_t complete_below)
{
	mt_builder_begin(b, MT_CHUNK_MARK, 0);
	mt_mark_put(&b->block, &(struct mt_mark_record){.complete_below = complete_below});
	mt_builder_add(b, MT_CODEC_STORED);
}

static inline void mt_builder_end(struct mt_builder *b)
{
	mt_builder_begin(b, MT_CHUNK_END, 0);
	mt_end_put(&b->block, &(struct mt_end_record){
				      .start = 1, .end = 1000, .samples = 3, .written = b->size});
	mt_builder_add(b, MT_CODEC_STORED);
}

/*
 * Adds a KERNEL record of the given time to the block: a LOST_SAMPLES whose count is `value`, so
 * that tests can recognize it.
 */
static inline void mt_builder_kernel(struct mt_builder *b, uint64_t time, uint64_t value)
{
	struct {
		uint32_t type;
		uint16_t misc, size;
		uint64_t lost;
	} kernel = {.type = 13, .size = sizeof(kernel), .lost = value};

	mt_kernel_put(&b->block, time, 0, &kernel, sizeof(kernel));
}

/*
 * Adds a DATA chunk of one stream with one such record for each time; the value is the time. The
 * list ends with 0.
 */
static inline void mt_builder_data(struct mt_builder *b, uint32_t stream, const uint64_t *times)
{
	mt_builder_begin(b, MT_CHUNK_DATA, stream);
	for (; *times; times++)
		mt_builder_kernel(b, *times, *times);
	mt_builder_add(b, MT_CODEC_STORED);
}

/* Writes the bytes to a file in memory, which is closed with the builder. Returns its path. */
static inline const char *mt_builder_file(struct mt_builder *b)
{
	if (b->fd < 0)
		b->fd = memfd_create("recording", MFD_CLOEXEC);
	if (b->fd < 0 || ftruncate(b->fd, 0) ||
	    pwrite(b->fd, b->bytes, b->size, 0) != (ssize_t)b->size)
		abort();
	snprintf(b->path, sizeof(b->path), "/proc/self/fd/%d", b->fd);
	return b->path;
}

#endif
