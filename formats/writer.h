/*
 * Writing a recording: blocks in, chunks out, append only. One thread at a time.
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
	uint64_t written;	    /* bytes of file */
	uint64_t left_out;	    /* chunks that the limit did not let through */
	uint64_t stored;	    /* chunks without compression */
	uint64_t pack_ns, write_ns; /* spent compressing and checksumming, and in write() */
};

/* Writes to fd, which stays the caller's; max_block is the largest block that will come. */
struct mt_error *mt_writer_create(int fd, uint32_t max_block, struct mt_writer **out);
void mt_writer_destroy(struct mt_writer *writer);

/*
 * What to ask, ten times a second, while the output takes nothing (a pipe that nobody reads): true
 * gives up, which is an error like any other of the output. Without it a writer waits as long as it
 * takes. Only for descriptors that do not block.
 */
void mt_writer_set_patience(struct mt_writer *writer, bool (*give_up)(void *context),
			    void *context);

/*
 * Appends one block as a chunk: zstd at `level` (negative ones are zstd's fast levels), 0 stores.
 * An empty block writes nothing. After an error (MT_ERR_OUTPUT) the file ends with its last whole
 * chunk where it can be cut back; further calls fail the same way.
 */
struct mt_error *mt_writer_write(struct mt_writer *writer, const struct mt_block *block, int level);

/*
 * A chunk whose payload is compressed already, so that it costs this thread no time: the payload of
 * header->stored_size bytes, with type, codec and sizes set in header. What else is in the header
 * is filled in here. As mt_writer_write() in all else.
 */
struct mt_chunk_header;
struct mt_error *mt_writer_write_packed(struct mt_writer *writer,
					const struct mt_chunk_header *header,
					const uint8_t *payload);

/*
 * From now on, as each DATA block is written, what words of 8 bytes stand in it (at
 * multiples of 8): each once or more often, but for 0 and records' times. The words hold for the
 * call.
 */
void mt_writer_set_words(struct mt_writer *writer,
			 void (*tell)(void *context, const uint64_t *words, size_t count),
			 void *context);

/*
 * From now on a chunk that would make the file larger than so many bytes is left out and counted,
 * which is no error. 0: no limit.
 */
void mt_writer_set_limit(struct mt_writer *writer, uint64_t bytes);

/*
 * The next chunk gets this number: for who copies a recording that lacks some. Not below the one
 * it would get.
 */
void mt_writer_set_sequence(struct mt_writer *writer, uint64_t sequence);

/* What has gone out so far. */
struct mt_writer_counts mt_writer_counts(const struct mt_writer *writer);

#endif
