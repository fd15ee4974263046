/* Distinguishes functions from other symbols. */
#include "symbols/carried/function_symbol.h"

#include <elf.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "symbols/elf/elf.h"
#include "symbols/elf/elf_private.h"

bool mt_symbol_names_report(const struct mt_elf *elf)
{
	uint16_t machine = mt_elf_machine(elf);

	return machine == EM_AARCH64 || machine == EM_ARM;
}

/* "$x" and "$d.12" mark code and data for disassemblers on ARM; they name nothing. */
static bool is_mapping_symbol(const struct mt_elf *elf, const char *name)
{
	return mt_symbol_names_report(elf) && name[0] == '$' && name[1] &&
	       strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

bool mt_symbol_is_function(const struct mt_elf *elf, const struct mt_elf_symbol *symbol)
{
	if (!symbol->named || symbol->section == SHN_UNDEF || symbol->section == SHN_ABS)
		return false;
	if (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC)
		return true;
	if (symbol->type != STT_OBJECT && symbol->type != STT_NOTYPE)
		return false;
	if (symbol->type == STT_NOTYPE &&
	    (symbol->visibility == STV_HIDDEN || symbol->visibility == STV_INTERNAL))
		return false;
	if (symbol->section >= elf->sections.count ||
	    !(elf->sections.items[symbol->section].flags & SHF_EXECINSTR))
		return false;
	return !is_mapping_symbol(elf, symbol->name);
}

/* True if the first word of a 64-bit entry shows a function, whatever the other words are. */
static bool is_plain_function(uint64_t word, size_t names_size)
{
	uint64_t name = (uint32_t)word, section = word >> 48;
	unsigned int type = word >> 32 & 0xf;

	return type == STT_FUNC && section != SHN_UNDEF && section != SHN_ABS && name &&
	       name < names_size;
}

static bool take_function(struct mt_elf *elf, const struct mt_elf_symbol_table *table,
			  const uint8_t *entry, size_t i, struct mt_function_place *out)
{
	struct mt_elf_symbol symbol;

	if (!mt_elf_symbol_read(elf, table, entry, i, &symbol) ||
	    !mt_symbol_is_function(elf, &symbol))
		return false;
	*out = (struct mt_function_place){symbol.value, symbol.size, i, symbol.type != STT_NOTYPE};
	return true;
}

bool mt_symbol_function_at(struct mt_elf *elf, const struct mt_elf_symbol_table *table,
			   const uint8_t *entry, size_t i, struct mt_function_place *out)
{
	if (!elf->is_64 || !is_plain_function(mt_get_le64(entry), table->names_size))
		return take_function(elf, table, entry, i, out);
	*out = (struct mt_function_place){mt_get_le64(entry + 8), mt_get_le64(entry + 16), i, true};
	return true;
}
