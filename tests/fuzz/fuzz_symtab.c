/*
 * The functions of an ELF file from any bytes: the table, its names, PLT stubs and the demangler.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/base/err.h"
#include "symbols/elf/elf.h"
#include "symbols/names/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mt_elf *elf;
	struct mt_error *err = mt_elf_open_memory(data, size, "fuzz", &elf);
	struct mt_symtab *symtab;
	uint64_t start;
	uint32_t function;

	if (err) {
		mt_error_destroy(err);
		return 0;
	}
	symtab = mt_symtab_create(elf, elf);
	for (uint64_t at = 0; symtab && at < 65536; at += 97) {
		function = mt_symtab_find(symtab, at, &start);
		if (function == MT_SYMTAB_NONE)
			continue;
		if (function >= mt_symtab_count(symtab) || start > at)
			abort();
		free(mt_symtab_name(symtab, function, true));
	}
	mt_symtab_destroy(symtab);
	mt_elf_destroy(elf);
	return 0;
}
