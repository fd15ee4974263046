/*
 * DWARF: bytes as an ELF file; every address asked for must end, with frames that are complete,
 * whether it was known beforehand or not.
 */
#include <stdint.h>
#include <stdlib.h>

#include "formats/base/err.h"
#include "formats/base/pool.h"
#include "symbols/elf/elf.h"
#include "symbols/lines/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	ADDRESSES = 16384,
	STEP = 7,
};

/* Every second address. */
static void prepare(struct mt_lines *lines)
{
	static uint64_t vaddrs[ADDRESSES / STEP];
	struct mt_pool *pool = mt_pool_create(1);
	size_t count = 0;

	for (uint64_t at = 0; at < ADDRESSES; at += 2 * (uint64_t)STEP)
		vaddrs[count++] = at;
	if (pool)
		mt_lines_prepare(lines, vaddrs, count, pool);
	mt_pool_destroy(pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mt_lines_frame frames[MT_LINES_DEPTH];
	struct mt_lines *lines = NULL;
	struct mt_elf *elf;
	struct mt_error *err = mt_elf_open_memory(data, size, "fuzz", &elf);

	if (err) {
		mt_error_destroy(err);
		return 0;
	}
	mt_error_destroy(mt_lines_create(elf, elf, NULL, &lines));
	if (lines && size % 2)
		prepare(lines);
	for (uint64_t at = 0; lines && at < ADDRESSES; at += STEP) {
		size_t count = mt_lines_find(lines, at, frames);

		for (size_t i = 0; i < count; i++) {
			if (!frames[i].file && frames[i].line)
				abort();
		}
	}
	mt_lines_destroy(lines);
	mt_elf_destroy(elf);
	return 0;
}
