/*
 * Makes FILE chunks from a stream of bytes. Compresses each part as it arrives, so that only
 * compressed bytes are in memory.
 */
#ifndef MT_FORMATS_FILE_CHUNKS_H
#define MT_FORMATS_FILE_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/chunks/chunk.h"

struct mt_file_chunks;
struct mt_file_record;

struct mt_file_chunk {
	struct mt_chunk_header header;
	uint8_t *payload; /* header.stored_size bytes; free() it */
};

/* Receives each chunk and takes ownership of its payload. If it returns false, the content ends. */
struct mt_file_chunk_sink {
	void *context;
	bool (*take)(void *context, struct mt_file_chunk *chunk);
};

/* NULL out of memory. */
struct mt_file_chunks *mt_file_chunks_create(const struct mt_file_chunk_sink *sink);
void mt_file_chunks_destroy(struct mt_file_chunks *chunks);

/*
 * Frees the working memory, a few MiB after a large content, until the next content. Call it
 * between contents.
 */
void mt_file_chunks_rest(struct mt_file_chunks *chunks);

/*
 * Begins a content of file->size bytes, which is not 0. Borrows the strings of `file` until the
 * content is complete.
 */
void mt_file_chunks_begin(struct mt_file_chunks *chunks, uint64_t time,
			  const struct mt_file_record *file);

/* Adds the next bytes of the content. False out of memory, or if the sink returned false. */
bool mt_file_chunks_put(struct mt_file_chunks *chunks, const uint8_t *bytes, size_t size);

#endif
