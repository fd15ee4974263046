/*
 * All rules of one FDE, so that its program runs once for any number of lookups.
 */
#ifndef MT_UNWIND_CFI_CFI_RULES_H
#define MT_UNWIND_CFI_CFI_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi/rule.h"

struct mt_cfi_fde;
struct mt_cfi_section;

struct mt_cfi_rules {
	struct mt_cfi_rules *next; /* for the owner's list */
	uint64_t start, end;	   /* link-time addresses of the code: [start, end) */
	size_t count;
	struct mt_ruled {
		uint32_t from; /* offset of the rule's first address from start */
		struct mt_rule rule;
	} items[];
};

/* Caller frees. NULL out of memory, and for code over 4 GiB. */
struct mt_cfi_rules *mt_cfi_rules_make(const struct mt_cfi_section *section,
				       const struct mt_cfi_fde *fde);

/*
 * The rule for an address in [start, end). False if the rule depends on the exact address; then use
 * the row of the address.
 */
bool mt_cfi_rules_find(const struct mt_cfi_rules *rules, uint64_t address, struct mt_rule *rule);

#endif
