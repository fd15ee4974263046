/*
 * The chunk writer: compression, checksums, and write(2) repeated until all is written or the
 * output has failed.
 */
#include "formats/writer.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/pages.h"
#include "formats/chunks/chunk.h"
#include "formats/chunks/compressor.h"
#include "formats/stacks/planes_pack.h"

struct mt_writer {
	int fd;
	int failed; /* errno of the first failure */
	struct mt_compressor *compressor;
	struct mt_planes_packer *planes;
	uint8_t *out;
	size_t out_size;
	uint64_t sequence;
	struct mt_writer_counts counts;
	uint64_t limit; /* 0: none */
	bool (*give_up)(void *context);
	void *give_up_context;
	mt_words_deliver *deliver; /* or NULL */
	void *deliver_context;
};

#define PATIENCE_MS 100
#define PLANES_MIN 16384 /* smallest DATA block for which a directory of planes pays */

MT_DEFINE_CLEANUP(mt_writer, struct mt_writer)

struct mt_error *mt_writer_create(int fd, uint32_t max_block, struct mt_writer **out)
{
	MT_CLEANUP(mt_writer_destroy_p) struct mt_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return mt_error_nomem();
	writer->fd = fd;
	writer->out_size = ZSTD_compressBound(max_block);
	writer->out = malloc(writer->out_size);
	mt_pages_prefault(writer->out, writer->out_size);
	writer->compressor = mt_compressor_create();
	writer->planes = mt_planes_packer_create();
	if (!writer->out || !writer->compressor || !writer->planes)
		return mt_error_nomem();
	*out = MT_TAKE(writer);
	return NULL;
}

void mt_writer_destroy(struct mt_writer *writer)
{
	if (!writer)
		return;
	mt_compressor_destroy(writer->compressor);
	mt_planes_packer_destroy(writer->planes);
	free(writer->out);
	free(writer);
}

/*
 * Pointers often differ in their lower half. Level 1 looks for matches of 7 bytes, which are rarer
 * in samples than matches of 6. 0 out of memory.
 */
static size_t compress(struct mt_writer *writer, const struct mt_block *block, int level)
{
	ZSTD_CCtx *zstd = mt_compressor_for(writer->compressor, level, block->used);

	if (!zstd)
		return 0;
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_minMatch, level == 1 ? 6 : 0);
	return ZSTD_compress2(zstd, writer->out, writer->out_size, block->bytes, block->used);
}

/* Compresses if requested and if it pays; sets payload and the header's codec and stored_size. */
static const uint8_t *pack(struct mt_writer *writer, const struct mt_block *block, int level,
			   struct mt_chunk_header *header)
{
	size_t size = level && block->type == MT_CHUNK_DATA && block->used >= PLANES_MIN
			      ? mt_planes_pack(writer->planes, block->bytes, block->used, level,
					       writer->out, writer->out_size)
			      : 0;

	header->codec = MT_CODEC_PLANES;
	if (level && !size) {
		header->codec = MT_CODEC_ZSTD;
		size = compress(writer, block, level);
	}
	if (!level || !size || ZSTD_isError(size) || size >= block->used) {
		header->codec = MT_CODEC_STORED;
		header->stored_size = (uint32_t)block->used;
		return block->bytes;
	}
	header->stored_size = (uint32_t)size;
	return writer->out;
}

/* Waits for room in a non-blocking pipe that is full. False with errno if the callback gives up. */
static bool wait_for_room(const struct mt_writer *writer)
{
	struct pollfd room = {.fd = writer->fd, .events = POLLOUT};

	while (!poll(&room, 1, writer->give_up ? PATIENCE_MS : -1)) {
		if (writer->give_up(writer->give_up_context)) {
			errno = ETIMEDOUT;
			return false;
		}
	}
	return true;
}

/*
 * Writes all pieces, or returns false with errno; *done is the number of bytes written either way.
 */
static bool write_all(const struct mt_writer *writer, struct iovec *pieces, int count, size_t *done)
{
	*done = 0;
	while (count) {
		ssize_t n = writev(writer->fd, pieces, count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN && wait_for_room(writer))
			continue;
		if (!n)
			errno = EIO; /* write() returned 0: the output accepts no more bytes */
		if (n <= 0)
			return false;
		*done += (size_t)n;
		for (; count && (size_t)n >= pieces->iov_len; pieces++, count--)
			n -= (ssize_t)pieces->iov_len;
		if (count) {
			pieces->iov_base = (uint8_t *)pieces->iov_base + n;
			pieces->iov_len -= (size_t)n;
		}
	}
	return true;
}

/* Truncates a regular file before the incomplete chunk: the chunks before it are complete. */
static void cut_back(struct mt_writer *writer, size_t torn)
{
	off_t end = lseek(writer->fd, 0, SEEK_CUR);

	if (torn && end >= (off_t)torn && !ftruncate(writer->fd, end - (off_t)torn))
		lseek(writer->fd, end - (off_t)torn, SEEK_SET);
}

static struct mt_error *output_error(const struct mt_writer *writer)
{
	struct mt_error *err =
		writer->failed == ETIMEDOUT
			? mt_error_create(MT_ERR_OUTPUT, "cannot write the recording: nobody "
							 "reads it, and waiting was given up")
			: mt_error_os(writer->failed, "cannot write the recording");

	if (err->kind != MT_ERR_NOMEM)
		err->kind = MT_ERR_OUTPUT;
	if (!writer->counts.written)
		return mt_error_hint(err, "nothing was written");
	return mt_error_hint(err, "what was written before (%llu bytes) is a valid recording",
			     (unsigned long long)writer->counts.written);
}

/*
 * Passes the words of a block to the callback, which already got them if they were split into
 * planes. The bytes of a block are aligned as malloc() aligns.
 */
static void report_words(const struct mt_writer *writer, const struct mt_block *block,
			 uint8_t codec)
{
	if (!writer->deliver || block->type != MT_CHUNK_DATA)
		return;
	if (codec != MT_CODEC_PLANES)
		writer->deliver(writer->deliver_context,
				(const uint64_t *)(const void *)block->bytes, block->used / 8);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool over_limit(const struct mt_writer *writer, uint64_t size)
{
	return writer->limit && writer->counts.written + size > writer->limit;
}

/*
 * Numbers the chunk, computes its checksum, and writes it; *written is false if the size limit
 * dropped it.
 */
static struct mt_error *put_chunk(struct mt_writer *writer, struct mt_chunk_header *header,
				  const uint8_t *payload, bool *written)
{
	uint8_t bytes[MT_CHUNK_HEADER_SIZE];
	size_t done;

	*written = !over_limit(writer, sizeof(bytes) + header->stored_size);
	if (!*written) {
		writer->counts.left_out++;
		return NULL;
	}
	header->flags = header->type < MT_CHUNK_MARK ? MT_CHUNK_CRITICAL : 0;
	header->sequence = writer->sequence;
	header->payload_crc = mt_crc32c(0, payload, header->stored_size);
	mt_chunk_header_encode(header, bytes);
	if (!write_all(writer,
		       (struct iovec[]){{bytes, sizeof(bytes)},
					{(void *)payload, header->stored_size}},
		       2, &done)) {
		writer->failed = errno;
		cut_back(writer, done);
		return output_error(writer);
	}
	writer->sequence++;
	writer->counts.chunks++;
	writer->counts.stored += header->codec == MT_CODEC_STORED;
	writer->counts.raw += header->raw_size;
	writer->counts.written += done;
	return NULL;
}

struct mt_error *mt_writer_write(struct mt_writer *writer, const struct mt_block *block, int level)
{
	struct mt_chunk_header header = {
		.type = block->type,
		.raw_size = (uint32_t)block->used,
		.first_time = block->first_time,
		.last_time = block->last_time,
		.stream = block->stream,
		.records = block->records,
	};
	const uint8_t *payload;
	struct mt_error *err;
	uint64_t began, packed;
	bool written;

	if (writer->failed)
		return output_error(writer);
	if (!block->used)
		return NULL;
	began = now_ns();
	payload = pack(writer, block, level, &header);
	packed = now_ns();
	err = put_chunk(writer, &header, payload, &written);
	if (err || !written)
		return err;
	report_words(writer, block, header.codec);
	writer->counts.pack_ns += packed - began;
	writer->counts.write_ns += now_ns() - packed;
	return NULL;
}

struct mt_error *mt_writer_write_packed(struct mt_writer *writer,
					const struct mt_chunk_header *header,
					const uint8_t *payload)
{
	struct mt_chunk_header own = *header;
	uint64_t began = now_ns();
	struct mt_error *err;
	bool written;

	if (writer->failed)
		return output_error(writer);
	err = put_chunk(writer, &own, payload, &written);
	writer->counts.write_ns += now_ns() - began;
	return err;
}

void mt_writer_set_patience(struct mt_writer *writer, bool (*give_up)(void *context), void *context)
{
	writer->give_up = give_up;
	writer->give_up_context = context;
}

void mt_writer_set_words(struct mt_writer *writer,
			 void (*deliver)(void *context, const uint64_t *words, size_t count),
			 void *context)
{
	writer->deliver = deliver;
	writer->deliver_context = context;
	mt_planes_packer_set_words(writer->planes, deliver, context);
}

void mt_writer_set_limit(struct mt_writer *writer, uint64_t bytes)
{
	writer->limit = bytes;
}

void mt_writer_set_sequence(struct mt_writer *writer, uint64_t sequence)
{
	writer->sequence = sequence > writer->sequence ? sequence : writer->sequence;
}

struct mt_writer_counts mt_writer_counts(const struct mt_writer *writer)
{
	return writer->counts;
}
