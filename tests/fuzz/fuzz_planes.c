/*
 * Codec 2. Unpacking a payload of any bytes must end and stay inside its memory. Records of any
 * bytes that can be packed must be unpacked to the same bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "formats/base/bytes.h"
#include "formats/chunks/chunk.h"
#include "formats/stacks/planes_pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RAW_MAX 65536

static void unpack(ZSTD_DCtx *zstd, const uint8_t *data, size_t size)
{
	size_t raw = (size_t)mt_get_le16(data) * 8;
	uint8_t *records = malloc(raw + 1);
	bool no_memory;

	if (records)
		mt_planes_unpack(zstd, data + 2, size - 2, records, raw, &no_memory);
	free(records);
}

/* Sets the size in each record's header so that the next record follows. */
static void make_records(uint8_t *records, size_t size)
{
	for (size_t at = 0, record; at < size; at += record) {
		record = 16 + mt_get_le32(records + at + 4) % 64 * 8;
		if (record > size - at || size - at - record < 16)
			record = size - at;
		mt_put_le32(records + at + 4, (uint32_t)record);
	}
}

static void there_and_back(ZSTD_DCtx *zstd, const uint8_t *data, size_t size)
{
	struct mt_planes_packer *packer = mt_planes_packer_create();
	size_t room = 2 * size + 4096, packed;
	uint8_t *records = malloc(size + 1), *payload = malloc(room), *back = malloc(size + 1);
	bool no_memory;

	if (packer && records && payload && back && size >= 16) {
		memcpy(records, data, size);
		make_records(records, size);
		packed = mt_planes_pack(packer, records, size, data[0] % 5 - 1, payload, room);
		if (packed && (!mt_planes_unpack(zstd, payload, packed, back, size, &no_memory) ||
			       memcmp(records, back, size) != 0))
			abort();
	}
	mt_planes_packer_destroy(packer);
	free(records);
	free(payload);
	free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static ZSTD_DCtx *zstd;

	if (!zstd)
		zstd = ZSTD_createDCtx();
	if (size < 2 || size > RAW_MAX || !zstd)
		return 0;
	unpack(zstd, data, size);
	there_and_back(zstd, data, size / 8 * 8);
	return 0;
}
