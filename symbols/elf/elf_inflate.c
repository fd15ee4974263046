/*
 * Decompresses ELF sections with zlib and zstd. A separate file, so that only users of the codec
 * link the libraries.
 */
#include <elf.h>
#include <limits.h>
#include <zlib.h>
#include <zstd.h>

#include "symbols/elf/elf.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

static bool inflate_zlib(const uint8_t *bytes, size_t size, uint8_t *out, size_t out_size)
{
	uLongf got = out_size;

	return uncompress(out, &got, bytes, size) == Z_OK && got == out_size;
}

static bool inflate_any(uint32_t type, const uint8_t *bytes, size_t size, uint8_t *out,
			size_t out_size)
{
	switch (type) {
	case ELFCOMPRESS_ZLIB:
		return inflate_zlib(bytes, size, out, out_size);
	case ELFCOMPRESS_ZSTD:
		return ZSTD_decompress(out, out_size, bytes, size) == out_size;
	default:
		return false;
	}
}

const struct mt_elf_codec mt_elf_codec_all = {.inflate = inflate_any};
