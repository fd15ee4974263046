/*
 * FILE chunks out of a stream of bytes: each part is compressed as it comes, so that neither the
 * content nor a part of it is in memory but as what is left of it.
 */
#ifndef MT_RECORD_CARRY_FILE_CHUNKS_H
#define MT_RECORD_CARRY_FILE_CHUNKS_H

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

/* Takes a chunk and its payload; false ends the content. */
struct mt_file_chunk_sink {
	void *context;
	bool (*take)(void *context, struct mt_file_chunk *chunk);
};

/* NULL out of memory. */
struct mt_file_chunks *mt_file_chunks_create(const struct mt_file_chunk_sink *sink);
void mt_file_chunks_destroy(struct mt_file_chunks *chunks);

/*
 * Gives its working memory back, a few MiB after a large content, until the next one; between
 * contents.
 */
void mt_file_chunks_rest(struct mt_file_chunks *chunks);

/* Begins a content of file->size bytes, which is not 0; its strings are borrowed until the end. */
void mt_file_chunks_begin(struct mt_file_chunks *chunks, uint64_t time,
			  const struct mt_file_record *file);

/* The next bytes of it. False out of memory, or where the sink said so. */
bool mt_file_chunks_put(struct mt_file_chunks *chunks, const uint8_t *bytes, size_t size);

#endif
