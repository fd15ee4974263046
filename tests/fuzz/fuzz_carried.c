/*
 * Carried data from any bytes. The bytes are the body of a FILE record, which is listed, loaded and
 * used according to its kind. They are also one skeleton, used for unwinding and naming, and two
 * skeletons of one image.
 */
#include <stdint.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/err.h"
#include "formats/reader.h"
#include "formats/reading/carried.h"
#include "formats/records/record.h"
#include "symbols/elf/elf.h"
#include "symbols/jit/jitdump_index.h"
#include "symbols/names/kernel.h"
#include "symbols/names/perf_map.h"
#include "tests/unit/mt_builder.h"
#include "unwind/cfi/cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Opens `count` skeletons as the pieces of one image. */
static void use_skeletons(const struct mt_span *pieces, size_t count)
{
	struct mt_elf *elf = NULL;
	struct mt_cfi_row row;
	struct mt_cfi *cfi;

	mt_error_destroy(mt_elf_open_pieces(pieces, count, "skeleton", &elf));
	if (!elf)
		return;
	cfi = mt_cfi_of_elf(elf);
	for (unsigned int shift = 0; cfi && shift < 64; shift += 3) {
		uint64_t address = UINT64_MAX >> shift, start, end;
		struct mt_elf_symbol symbol;

		(void)mt_cfi_find(cfi, address, &row);
		(void)mt_cfi_range(cfi, address, &start, &end);
		(void)mt_elf_bytes_at(elf, address, 8);
		(void)mt_elf_symbol(elf, shift & 1, shift, &symbol);
	}
	mt_cfi_destroy(cfi);
	mt_elf_destroy(elf);
}

static void use_skeleton(const uint8_t *bytes, size_t size)
{
	use_skeletons(&(struct mt_span){bytes, size, 0}, 1);
}

/* Splits the bytes into two skeletons, each of which may be damaged. */
static void use_halves(const uint8_t *data, size_t size)
{
	struct mt_span parts[] = {{.bytes = data, .size = size / 2},
				  {.bytes = data + size / 2, .size = size - size / 2}};

	use_skeletons(parts, 2);
}

static void use_names(const struct mt_file_record *file, const uint8_t *bytes)
{
	struct mt_kernel_symbols *kernel = NULL;
	struct mt_perf_map *map;
	struct mt_jitdump *dump;

	if (file->kind == MT_FILE_KERNEL_SYMBOLS) {
		mt_error_destroy(mt_kernel_symbols_parse((const char *)bytes, file->size, &kernel));
		mt_kernel_symbols_destroy(kernel);
	} else if (file->kind == MT_FILE_PERF_MAP) {
		map = mt_perf_map_create((const char *)bytes, file->size);
		mt_perf_map_destroy(map);
	} else if (file->kind == MT_FILE_JITDUMP) {
		dump = mt_jitdump_create(bytes, file->size, NULL);
		mt_jitdump_destroy(dump);
	}
}

static void use(const struct mt_file_record *file, const uint8_t *bytes)
{
	volatile uint8_t sum = 0;

	for (uint64_t i = 0; i < file->size; i++)
		sum += bytes[i];
	(void)sum;
	if (file->kind == MT_FILE_SKELETON || file->kind == MT_FILE_VDSO)
		use_skeleton(bytes, file->size);
	else
		use_names(file, bytes);
}

/* Adds a FILE chunk with one record that has these bytes as its body. */
static void add_file(struct mt_builder *b, const uint8_t *body, size_t size)
{
	struct mt_block *block = mt_builder_begin(b, MT_CHUNK_FILE, 0);
	size_t whole = MT_RECORD_HEADER_SIZE + (size & ~(size_t)7);

	memset(block->bytes, 0, MT_RECORD_HEADER_SIZE);
	mt_put_le32(block->bytes, MT_RECORD_FILE);
	mt_put_le32(block->bytes + 4, (uint32_t)whole);
	memcpy(block->bytes + MT_RECORD_HEADER_SIZE, body, whole - MT_RECORD_HEADER_SIZE);
	block->used = whole;
	block->records = 1;
	mt_builder_add(b, MT_CODEC_STORED);
}

static void list_all(const char *path)
{
	struct mt_reader *reader = NULL;
	struct mt_carried *carried;

	mt_error_destroy(mt_reader_open(path, NULL, &reader));
	carried = reader && mt_reader_recordings(reader) ? mt_reader_carried(reader, 0) : NULL;
	for (size_t i = 0; carried && i < mt_carried_count(carried); i++) {
		const uint8_t *bytes = mt_carried_bytes(carried, i);

		if (bytes)
			use(mt_carried_get(carried, i), bytes);
	}
	mt_reader_destroy(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mt_builder b;
	uint8_t *copy;

	if (size < 1 || size > 1 << 20)
		return 0;
	copy = malloc(size); /* aligned, as carried data is */
	if (copy) {
		memcpy(copy, data, size);
		use_skeleton(copy, size);
		use_halves(copy, size);
	}
	free(copy);
	mt_builder_init(&b);
	mt_builder_head(&b);
	while (size > 1) { /* each record starts with its size in units of 8 bytes */
		size_t n = 8 * (size_t)data[0] + 8;

		n = n < size - 1 ? n : size - 1;
		add_file(&b, data + 1, n);
		data += 1 + n;
		size -= 1 + n;
	}
	list_all(mt_builder_file(&b));
	mt_builder_deinit(&b);
	return 0;
}
