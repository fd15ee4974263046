/* Unpacking xz files: whole ones, several in a row, and malformed ones. */
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "symbols/images/debug_file.h"
#include "tests/unit/unit.h"

enum {
	TEXT_SIZE = 300000,
	UNPACKED_MAX = 1 << 20,
};

static uint8_t text[TEXT_SIZE];

/* Some of the text repeats. */
static void make_text(void)
{
	srand(1);
	for (size_t i = 0; i < TEXT_SIZE; i++)
		text[i] = i % 3 ? (uint8_t)(i >> 8) : (uint8_t)rand();
}

static size_t pack(const void *bytes, size_t size, uint8_t *out, size_t capacity)
{
	size_t packed = 0;

	return lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, bytes, size, out, &packed,
				       capacity) == LZMA_OK
		       ? packed
		       : 0;
}

/* Unpacks a copy of exactly that size, so that a sanitizer reports a read past its end. */
static struct mt_error *unpack(const uint8_t *bytes, size_t size, size_t max, uint8_t **out,
			       size_t *out_size)
{
	MT_CLEANUP_FREE uint8_t *exact = malloc(size);

	memcpy(exact, bytes, size);
	return mt_xz_decode(exact, size, max, out, out_size);
}

static void check_refused(const uint8_t *bytes, size_t size, size_t max, const char *why)
{
	uint8_t *out = NULL;
	size_t out_size;
	struct mt_error *err = unpack(bytes, size, max, &out, &out_size);

	MT_CHECK(!out);
	MT_REQUIRE(err);
	MT_CHECK(strstr(err->message, why));
	mt_error_destroy(err);
}

MT_TEST(streams_are_unpacked_one_after_the_other)
{
	static uint8_t packed[2 * TEXT_SIZE];
	MT_CLEANUP_FREE uint8_t *out = NULL;
	size_t first, size, out_size;

	make_text();
	first = pack(text, TEXT_SIZE, packed, sizeof(packed));
	memset(packed + first, 0, 8);
	size = first + 8 + pack("more", 4, packed + first + 8, sizeof(packed) - first - 8);
	MT_REQUIRE(!unpack(packed, size, UNPACKED_MAX, &out, &out_size));
	MT_CHECK_EQ(out_size, TEXT_SIZE + 4);
	MT_CHECK(!memcmp(out, text, TEXT_SIZE) && !memcmp(out + TEXT_SIZE, "more", 4));
}

MT_TEST(no_more_is_unpacked_than_was_asked_for)
{
	static uint8_t packed[2 * TEXT_SIZE];
	MT_CLEANUP_FREE uint8_t *out = NULL;
	size_t size, out_size;

	make_text();
	size = pack(text, TEXT_SIZE, packed, sizeof(packed));
	check_refused(packed, size, TEXT_SIZE - 1, "more than");
	MT_REQUIRE(!unpack(packed, size, TEXT_SIZE, &out, &out_size));
	MT_CHECK_EQ(out_size, TEXT_SIZE);
}

MT_TEST(every_changed_byte_and_every_end_is_noticed)
{
	static uint8_t packed[1024];
	size_t size = pack("some words, and some words more", 31, packed, sizeof(packed));

	MT_REQUIRE(size);
	for (size_t i = 0; i < size; i++) {
		packed[i] ^= 0x55;
		check_refused(packed, size, UNPACKED_MAX, "xz: ");
		packed[i] ^= 0x55;
		check_refused(packed, i, UNPACKED_MAX, "xz: ");
	}
}

/* A header of a few bytes can ask for 4 GiB. */
MT_TEST(a_dictionary_beyond_the_limit_is_refused)
{
	static uint8_t packed[1024];
	static const uint8_t lzma2[] = {LZMA_FILTER_LZMA2, 1}; /* then one byte of properties */
	uint8_t *block = packed + LZMA_STREAM_HEADER_SIZE, *filter;
	size_t size = pack("words", 5, packed, sizeof(packed)), block_size;

	MT_REQUIRE(size);
	block_size = lzma_block_header_size_decode(block[0]);
	filter = memmem(block, block_size, lzma2, sizeof(lzma2));
	MT_REQUIRE(filter);
	filter[2] = 40; /* 4 GiB - 1 */
	mt_put_le32(block + block_size - 4, lzma_crc32(block, block_size - 4, 0));
	check_refused(packed, size, UNPACKED_MAX, "dictionary");
}

MT_TEST_MAIN
