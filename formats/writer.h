/*
 * Writes a recording: blocks in, chunks out, append only. Not thread-safe.
 */
#ifndef MT_FORMATS_WRITER_H
#define MT_FORMATS_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_block;
struct mt_error;
struct mt_writer;

struct mt_writer_counts {
	uint64_t chunks;
	uint64_t raw;		    /* payload bytes before compression */
	uint64_t written;	    /* bytes of the file */
	uint64_t left_out;	    /* chunks dropped at the size limit */
	uint64_t stored;	    /* chunks stored uncompressed */
	uint64_t pack_ns, write_ns; /* time in compression and checksums, and in write() */
};

/* Writes to fd, which the caller still owns. max_block bounds the size of every block. */
struct mt_error *mt_writer_create(int fd, uint32_t max_block, struct mt_writer **out);
void mt_writer_destroy(struct mt_writer *writer);

/*
 * Sets a callback, called ten times a second while the output is stalled (a pipe without an active
 * reader). If it returns true, the write fails with an output error. Without a callback the writer
 * waits forever. Only for non-blocking descriptors.
 */
void mt_writer_set_patience(struct mt_writer *writer, bool (*give_up)(void *context),
			    void *context);

/*
 * Appends a block as one chunk, compressed by zstd at `level` (negative: zstd's fast levels; 0:
 * stored). An empty block writes nothing. On error (MT_ERR_OUTPUT) the file is truncated to its
 * last complete chunk if possible, and later calls fail the same way.
 */
struct mt_error *mt_writer_write(struct mt_writer *writer, const struct mt_block *block, int level);

/*
 * Appends a chunk that another thread compressed: header->stored_size bytes of payload, with type,
 * codec and sizes set in header; the writer sets the other fields. Otherwise like
 * mt_writer_write().
 */
struct mt_chunk_header;
struct mt_error *mt_writer_write_packed(struct mt_writer *writer,
					const struct mt_chunk_header *header,
					const uint8_t *payload);

/*
 * Sets a callback that receives the words of 8 bytes (at multiples of 8) of each DATA block as it
 * is written: each word at least once, except 0 and the times of records. The words are valid
 * during the call.
 */
void mt_writer_set_words(struct mt_writer *writer,
			 void (*deliver)(void *context, const uint64_t *words, size_t count),
			 void *context);

/*
 * Sets a size limit in bytes for the file; chunks that would exceed it are dropped and counted,
 * which is not an error. 0: no limit.
 */
void mt_writer_set_limit(struct mt_writer *writer, uint64_t bytes);

/*
 * Sets the next chunk's sequence number, not below its default: for copies of a recording that
 * lacks chunks.
 */
void mt_writer_set_sequence(struct mt_writer *writer, uint64_t sequence);

/* Counts of the data written so far. */
struct mt_writer_counts mt_writer_counts(const struct mt_writer *writer);

#endif
