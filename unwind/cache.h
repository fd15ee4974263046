/*
 * The rule cache: direct-mapped, keyed by (pc, generation of the address space), 16 bytes an entry,
 * 1 MiB.
 *
 * Generation (32 bits) and pc (48 bits) are 80 bits: the tag holds 64 of them, and the other 16,
 * pc's low ones, follow from the tag and the entry's index. So a hit is exact.
 */
#ifndef MT_UNWIND_CACHE_H
#define MT_UNWIND_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/rule.h"

#define MT_CACHE_BITS 16
#define MT_CACHE_ENTRIES ((size_t)1 << MT_CACHE_BITS)

struct mt_cache_entry {
	uint64_t tag; /* 0: empty; generations start at 1 */
	struct mt_rule rule;
};

static inline uint64_t mt_cache_tag(uint64_t pc, uint32_t generation)
{
	return (uint64_t)generation << 32 | (uint32_t)(pc >> MT_CACHE_BITS);
}

/*
 * The entry where the rule for (pc, generation) is if its tag agrees; pc is plausible, see
 * mt_pc_plausible().
 */
static inline struct mt_cache_entry *mt_cache_entry(struct mt_cache_entry *entries, uint64_t pc,
						    uint64_t tag)
{
	uint64_t mixed = tag * 0x9e3779b97f4a7c15u >> (64 - MT_CACHE_BITS);

	return &entries[(pc ^ mixed) & (MT_CACHE_ENTRIES - 1)];
}

#endif
