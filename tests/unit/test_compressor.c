/* formats/chunks/compressor: zstd gets the memory it needs, for every level and size. */
#include "formats/chunks/compressor.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "tests/unit/unit.h"

#define LARGEST ((size_t)512 << 10)

static uint8_t *make_content(void)
{
	uint8_t *bytes = malloc(LARGEST);

	for (size_t i = 0; bytes && i < LARGEST; i++)
		bytes[i] = (uint8_t)(i % 8 > 2 ? 0 : rand() % 40);
	return bytes;
}

/* Compares with zstd using its own memory. */
static void check_same(struct mt_compressor *compressor, int level, const uint8_t *content,
		       size_t size, uint8_t *out, uint8_t *expected)
{
	size_t room = ZSTD_compressBound(LARGEST), wanted, got = 0;
	ZSTD_CCtx *zstd = mt_compressor_for(compressor, level, size), *plain = ZSTD_createCCtx();

	ZSTD_CCtx_setParameter(plain, ZSTD_c_compressionLevel, level);
	wanted = ZSTD_compress2(plain, expected, room, content, size);
	if (MT_CHECK(zstd))
		got = ZSTD_compress2(zstd, out, room, content, size);
	if (!MT_CHECK_EQ(got, wanted) || memcmp(out, expected, wanted))
		printf("# level %d, %zu bytes\n", level, size);
	ZSTD_freeCCtx(plain);
}

MT_TEST(every_level_and_size_finds_its_memory)
{
	static const size_t sizes[] = {1, 5000, 70000, LARGEST};
	static const int levels[] = {1, -7, -3, 3, 9, 19, 1};
	struct mt_compressor *compressor = mt_compressor_create();
	uint8_t *content = make_content();
	uint8_t *out = malloc(2 * ZSTD_compressBound(LARGEST));

	MT_REQUIRE(compressor && content && out);
	for (size_t k = 0; k < sizeof(levels) / sizeof(levels[0]); k++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			check_same(compressor, levels[k], content, sizes[i], out,
				   out + ZSTD_compressBound(LARGEST));
	}
	mt_compressor_destroy(compressor);
	free(content);
	free(out);
}

MT_TEST_MAIN
