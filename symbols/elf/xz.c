/*
 * Decompresses xz with liblzma into a growing buffer. A file declares the dictionary size that it
 * needs, up to 4 GiB: liblzma's memory limit refuses more than xz itself ever uses.
 */
#include "symbols/elf/xz.h"

#include <lzma.h>
#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"

/* Bytes that the decoder may use: xz -9 needs 65 MiB. */
#define DECODER_MAX (UINT64_C(96) << 20)

/* Bytes of the first output buffer. */
#define OUTPUT_FIRST ((size_t)64 << 10)

static const char *complaint(lzma_ret ret)
{
	switch (ret) {
	case LZMA_FORMAT_ERROR:
		return "not an xz stream";
	case LZMA_BUF_ERROR:
		return "cut short";
	case LZMA_MEMLIMIT_ERROR:
		return "needs too large a dictionary";
	case LZMA_OPTIONS_ERROR:
		return "of a kind that this liblzma does not know";
	default:
		return "damaged";
	}
}

/* Doubles the output buffer, up to max. */
static struct mt_error *grow(lzma_stream *stream, uint8_t **out, size_t *capacity, size_t max)
{
	size_t size = *capacity ? *capacity * 2 : OUTPUT_FIRST;
	uint8_t *grown;

	if (*capacity == max)
		return mt_error_create(MT_ERR_FORMAT, "xz: unpacks to more than %zu bytes", max);
	if (size > max)
		size = max;
	grown = realloc(*out, size);
	if (!grown)
		return mt_error_nomem();
	stream->next_out = grown + *capacity;
	stream->avail_out = size - *capacity;
	*out = grown;
	*capacity = size;
	return NULL;
}

static struct mt_error *unpack(lzma_stream *stream, size_t max, uint8_t **out)
{
	lzma_ret ret = lzma_stream_decoder(stream, DECODER_MAX, LZMA_CONCATENATED);
	struct mt_error *err = NULL;
	size_t capacity = 0;

	while (ret == LZMA_OK && !err) {
		ret = lzma_code(stream, LZMA_FINISH);
		if (ret == LZMA_BUF_ERROR && !stream->avail_out) {
			err = grow(stream, out, &capacity, max);
			ret = LZMA_OK;
		}
	}
	if (err || ret == LZMA_STREAM_END)
		return err;
	return ret == LZMA_MEM_ERROR ? mt_error_nomem()
				     : mt_error_create(MT_ERR_FORMAT, "xz: %s", complaint(ret));
}

struct mt_error *mt_xz_decode(const void *bytes, size_t size, size_t max, uint8_t **out,
			      size_t *out_size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	MT_CLEANUP_FREE uint8_t *unpacked = NULL;
	struct mt_error *err;

	stream.next_in = bytes;
	stream.avail_in = size;
	err = unpack(&stream, max, &unpacked);
	if (!err) {
		*out_size = stream.total_out;
		*out = MT_TAKE(unpacked);
	}
	lzma_end(&stream);
	return err;
}
