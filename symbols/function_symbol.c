/* Telling functions from the other symbols of a file. */
#include "symbols/function_symbol.h"

#include <elf.h>
#include <string.h>

#include "symbols/elf.h"

/* "$x" and "$d.12" mark code and data for disassemblers on ARM; they name nothing. */
static bool is_mapping_symbol(uint16_t machine, const char *name)
{
	return (machine == EM_AARCH64 || machine == EM_ARM) && name[0] == '$' && name[1] &&
	       strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

bool mt_symbol_is_function(const struct mt_elf *elf, const struct mt_elf_symbol *symbol)
{
	struct mt_elf_section_info section;

	if (!symbol->named || symbol->section == SHN_UNDEF || symbol->section == SHN_ABS)
		return false;
	if (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC)
		return true;
	if (symbol->type != STT_OBJECT && symbol->type != STT_NOTYPE)
		return false;
	if (symbol->type == STT_NOTYPE &&
	    (symbol->visibility == STV_HIDDEN || symbol->visibility == STV_INTERNAL))
		return false;
	if (!mt_elf_section_info(elf, symbol->section, &section) ||
	    !(section.flags & SHF_EXECINSTR))
		return false;
	return !is_mapping_symbol(mt_elf_machine(elf), symbol->name);
}
