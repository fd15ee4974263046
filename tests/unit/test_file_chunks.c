/*
 * formats/file_chunks: contents are unchanged, before and after a rest. At rest, the memory
 * used for packing is freed.
 */
#include "formats/file_chunks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "formats/records/record.h"
#include "record/rings/self_limits.h"
#include "tests/unit/unit.h"

#define SIZE ((size_t)3 << 20)

static uint8_t content[SIZE], unpacked[SIZE + 4096];
static size_t chunks_taken;

static bool take(void *context, struct mt_file_chunk *chunk)
{
	size_t size = chunk->header.raw_size, after;

	(void)context;
	MT_CHECK(size >= SIZE && size <= sizeof(unpacked));
	MT_CHECK_EQ(ZSTD_decompress(unpacked, size, chunk->payload, chunk->header.stored_size),
		    size);
	for (after = 0; after < 8 && memcmp(unpacked + size - SIZE - after, content, SIZE) != 0;)
		after++;
	MT_CHECK(after < 8);
	free(chunk->payload);
	chunks_taken++;
	return true;
}

static void put(struct mt_file_chunks *chunks, uint32_t kept)
{
	const struct mt_file_record file = {
		.kind = MT_FILE_SKELETON,
		.kept = kept,
		.size = SIZE,
		.path = {.bytes = "/bin/true", .size = 9},
	};
	size_t before = chunks_taken;

	mt_file_chunks_begin(chunks, 0, &file);
	for (size_t at = 0; at < SIZE; at += SIZE / 48)
		MT_CHECK(mt_file_chunks_put(chunks, content + at, SIZE / 48));
	MT_CHECK_EQ(chunks_taken, before + 1);
}

static struct mt_file_chunks *begin(void)
{
	const struct mt_file_chunk_sink sink = {NULL, take};
	struct mt_file_chunks *chunks;

	mt_self_limits_bound_heap(); /* as in the recorder */
	chunks = mt_file_chunks_create(&sink);
	for (size_t i = 0; i < SIZE; i++)
		content[i] = (uint8_t)(i % 4096 < 64 ? i * 2654435761u >> 24 : i >> 12);
	memset(unpacked, 1, sizeof(unpacked));
	MT_CHECK(chunks);
	return chunks;
}

MT_TEST(contents_come_out_before_and_after_a_rest)
{
	struct mt_file_chunks *chunks = begin();

	put(chunks, 0);
	put(chunks, MT_KEPT_SEEN);
	mt_file_chunks_rest(chunks);
	mt_file_chunks_rest(chunks);
	put(chunks, MT_KEPT_SEEN);
	put(chunks, 0);
	mt_file_chunks_destroy(chunks);
}

#if !MT_SANITIZED /* AddressSanitizer keeps freed memory */
/* Resident bytes. */
static size_t resident(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long size = 0, pages = 0;

	MT_CHECK(file && fscanf(file, "%lu %lu", &size, &pages) == 2);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

MT_TEST(at_rest_its_memory_is_given_back)
{
	struct mt_file_chunks *chunks = begin();
	size_t before, worked;

	put(chunks, 0);
	mt_file_chunks_rest(chunks);
	before = resident();
	for (int i = 0; i < 4; i++) {
		put(chunks, 0);
		worked = resident();
		mt_file_chunks_rest(chunks);
		MT_CHECK(worked >= before + ((size_t)1 << 20));
		MT_CHECK(resident() <= before + ((size_t)256 << 10));
	}
	mt_file_chunks_destroy(chunks);
}
#endif

MT_TEST_MAIN
