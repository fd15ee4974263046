/*
 * Whether two ELF files, for example a file and its skeleton, give an address the same name and the
 * same unwind row.
 */
#ifndef MT_TESTS_UNIT_SAME_CODE_H
#define MT_TESTS_UNIT_SAME_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "symbols/elf/elf.h"
#include "symbols/names/symtab.h"
#include "unwind/cfi/cfi.h"

static inline bool same_name(struct mt_symtab *a, struct mt_symtab *b, uint64_t vaddr)
{
	uint64_t start_a = 0, start_b = 0;
	uint32_t in_a = mt_symtab_find(a, vaddr, &start_a);
	uint32_t in_b = mt_symtab_find(b, vaddr, &start_b);
	MT_CLEANUP_FREE char *name_a = NULL;
	MT_CLEANUP_FREE char *name_b = NULL;

	if (in_a == MT_SYMTAB_NONE || in_b == MT_SYMTAB_NONE)
		return in_a == in_b;
	name_a = mt_symtab_name(a, in_a, false);
	name_b = mt_symtab_name(b, in_b, false);
	return start_a == start_b && !strcmp(name_a, name_b);
}

static inline bool same_rule(const struct mt_cfi_rule *a, const struct mt_cfi_rule *b)
{
	if (a->kind != b->kind || a->reg != b->reg || a->expression_size != b->expression_size)
		return false;
	if (a->kind == MT_CFI_EXPRESSION || a->kind == MT_CFI_VAL_EXPRESSION)
		return !memcmp(a->expression, b->expression, a->expression_size);
	return a->offset == b->offset;
}

static inline bool same_row(struct mt_cfi *a, struct mt_cfi *b, uint64_t vaddr)
{
	struct mt_cfi_row row_a, row_b;
	enum mt_cfi_found found = mt_cfi_find(a, vaddr, &row_a);

	if (mt_cfi_find(b, vaddr, &row_b) != found || found != MT_CFI_FOUND)
		return mt_cfi_find(b, vaddr, &row_b) == found;
	for (int i = 0; i < MT_CFI_REGISTERS; i++) {
		if (!same_rule(&row_a.reg[i], &row_b.reg[i]))
			return false;
	}
	return same_rule(&row_a.cfa, &row_b.cfa) && row_a.signal == row_b.signal;
}

#endif
