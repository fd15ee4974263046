/*
 * xz: any bytes as a file, then as LZMA2 data alone, which no checksum keeps mutations from.
 */
#include <stdint.h>
#include <stdlib.h>

#include "formats/base/err.h"
#include "symbols/lzma2.h"
#include "symbols/xz.h"

enum {
	OUTPUT_MAX = 1 << 20,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mt_lzma2_output out = {.max = OUTPUT_MAX};
	struct mt_cursor c = mt_cursor_init(data, size);
	size_t unpacked = 0;
	uint8_t *bytes = NULL;

	mt_error_destroy(mt_xz_decode(data, size, OUTPUT_MAX, &bytes, &unpacked));
	free(bytes);
	(void)mt_lzma2_decode(&c, 1 << 16, &out);
	if (unpacked > OUTPUT_MAX || out.bytes.count > OUTPUT_MAX)
		abort();
	mt_array_deinit(&out.bytes);
	return 0;
}
