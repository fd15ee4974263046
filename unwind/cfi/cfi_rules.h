/*
 * All rules of one FDE: its program is run once, whatever number of addresses in its code are asked
 * about.
 */
#ifndef MT_UNWIND_CFI_CFI_RULES_H
#define MT_UNWIND_CFI_CFI_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/rule.h"

struct mt_cfi_fde;
struct mt_cfi_section;

struct mt_cfi_rules {
	struct mt_cfi_rules *next; /* the maker's */
	uint64_t start, end;	   /* link-time addresses of the code: [start, end) */
	size_t count;
	struct mt_ruled {
		uint32_t from; /* offset of the first address that it holds for */
		struct mt_rule rule;
	} items[];
};

/* To be freed. NULL out of memory, and for code that is too large for offsets of 32 bits. */
struct mt_cfi_rules *mt_cfi_rules_make(const struct mt_cfi_section *section,
				       const struct mt_cfi_fde *fde);

/*
 * The rule for an address in [start, end). False where that depends on the very address, so that
 * its row has to be asked for.
 */
bool mt_cfi_rules_find(const struct mt_cfi_rules *rules, uint64_t address, struct mt_rule *rule);

#endif
