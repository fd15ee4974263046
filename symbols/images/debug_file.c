/*
 * Opens debug files by name (.gnu_debuglink) and inside the file (.gnu_debugdata). image_source.c
 * finds debug files by build id.
 */
#include "symbols/images/debug_file.h"

#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/cursor.h"
#include "formats/base/err.h"
#include "symbols/elf/elf_private.h"

enum {
	MINI_MAX = 256 << 20, /* bytes of symbols; the largest seen have 10 MB */
};

bool mt_debug_link_read(struct mt_elf *elf, struct mt_debug_link *out)
{
	struct mt_span section = mt_elf_section(elf, ".gnu_debuglink");
	struct mt_cursor c = mt_cursor_init(section.bytes, section.bytes ? section.size : 0);
	struct mt_debug_link link = {.name = section.bytes ? mt_cursor_cstring(&c) : NULL,
				     .open = mt_elf_open_file};

	if (!link.name || !*link.name || strchr(link.name, '/') || !strcmp(link.name, ".") ||
	    !strcmp(link.name, ".."))
		return false;
	mt_cursor_bytes(&c, -(size_t)(c.pos - section.bytes) & 3);
	link.crc = mt_cursor_u32(&c);
	if (c.bad)
		return false;
	*out = link;
	return true;
}

static bool same_build_id(const struct mt_elf *a, const struct mt_elf *b)
{
	struct mt_span id = mt_elf_build_id(a);

	return !id.size || !mt_elf_build_id(b).size || mt_elf_has_build_id(b, id.bytes, id.size);
}

/* Opens the file if its checksum and build id fit. Takes ownership of path. */
static struct mt_error *open_candidate(const struct mt_debug_link *link, const struct mt_elf *elf,
				       char *path, struct mt_elf **out, char **found_at)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *found = NULL;
	MT_CLEANUP_FREE char *at = path;
	struct mt_span whole;
	struct mt_error *err;

	if (!at || access(at, R_OK) != 0)
		return at ? NULL : mt_error_nomem();
	err = link->open(at, &found);
	if (err)
		return err;
	whole = mt_elf_whole(found);
	if (lzma_crc32(whole.bytes, whole.size, 0) != link->crc)
		return mt_error_create(MT_ERR_FORMAT,
				       "%s: not the debug file that .gnu_debuglink means: its "
				       "checksum differs",
				       at);
	if (!same_build_id(elf, found))
		return mt_error_create(MT_ERR_FORMAT, "%s: build id differs", at);
	*out = MT_TAKE(found);
	*found_at = MT_TAKE(at);
	return NULL;
}

struct mt_error *mt_debug_link_open(const struct mt_debug_link *link, const struct mt_elf *elf,
				    const char *path, const char *directory, struct mt_elf **out,
				    char **found_at)
{
	const char *slash = strrchr(path, '/');
	int length = slash ? (int)(slash - path) : 0;
	char *candidate = NULL;
	struct mt_error *err;

	if (!slash)
		return NULL;
	if (asprintf(&candidate, "%s%.*s/%s", directory ? directory : "", length, path,
		     link->name) < 0)
		return mt_error_nomem();
	err = !directory && !strcmp(candidate, path)
		      ? (free(candidate), NULL) /* the link names the file itself */
		      : open_candidate(link, elf, candidate, out, found_at);
	if (err || *out || directory)
		return err;
	if (asprintf(&candidate, "%.*s/.debug/%s", length, path, link->name) < 0)
		return mt_error_nomem();
	return open_candidate(link, elf, candidate, out, found_at);
}

/* ---- xz ---- */

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

struct mt_error *mt_mini_symbols_open(struct mt_elf *elf, const char *name, struct mt_elf **out,
				      uint8_t **bytes)
{
	struct mt_span section = mt_elf_section(elf, ".gnu_debugdata");
	MT_CLEANUP_FREE uint8_t *unpacked = NULL;
	struct mt_error *err;
	size_t size;

	if (!section.bytes || !section.size)
		return NULL;
	err = mt_xz_decode(section.bytes, section.size, MINI_MAX, &unpacked, &size);
	if (!err)
		err = mt_elf_open_memory(unpacked, size, name, out);
	if (!err)
		*bytes = MT_TAKE(unpacked);
	return mt_error_context(err, ".gnu_debugdata");
}
