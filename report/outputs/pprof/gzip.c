/*
 * zlib's deflate in a gzip wrapper.
 */
#include "report/outputs/pprof/gzip.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "formats/base/memory.h"

enum {
	OUTPUT_SIZE = 64 << 10,
	GZIP_WRAPPER = 16, /* added to zlib's window bits */
	MEMORY_LEVEL = 8,
};

struct mt_gzip {
	z_stream stream;
	FILE *to;
	unsigned char output[OUTPUT_SIZE];
};

struct mt_gzip *mt_gzip_create(FILE *to)
{
	struct mt_gzip *gzip = mt_alloc(1, sizeof(*gzip));

	gzip->to = to;
	if (deflateInit2(&gzip->stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + GZIP_WRAPPER,
			 MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		mt_memory_failed();
	return gzip;
}

/* Deflates all of the input; this cannot fail as long as there is room for output. */
static void run(struct mt_gzip *gzip, int flush)
{
	do {
		gzip->stream.next_out = gzip->output;
		gzip->stream.avail_out = OUTPUT_SIZE;
		deflate(&gzip->stream, flush);
		fwrite(gzip->output, 1, OUTPUT_SIZE - gzip->stream.avail_out, gzip->to);
	} while (!gzip->stream.avail_out);
}

void mt_gzip_write(struct mt_gzip *gzip, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	while (size) {
		unsigned int part = size < INT_MAX ? (unsigned int)size : INT_MAX;

		gzip->stream.next_in = (unsigned char *)at;
		gzip->stream.avail_in = part;
		run(gzip, Z_NO_FLUSH);
		at += part;
		size -= part;
	}
}

void mt_gzip_finish(struct mt_gzip *gzip)
{
	gzip->stream.avail_in = 0;
	run(gzip, Z_FINISH);
}

void mt_gzip_destroy(struct mt_gzip *gzip)
{
	if (!gzip)
		return;
	deflateEnd(&gzip->stream);
	free(gzip);
}
