/*
 * DWARF sections from any bytes, in an ELF file: every look-up must end and return complete frames.
 */
#include <stdint.h>
#include <stdlib.h>

#include "formats/base/err.h"
#include "symbols/elf/elf.h"
#include "symbols/lines/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	ADDRESSES = 16384,
	STEP = 7,
};

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
