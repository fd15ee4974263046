/*
 * The rule cache: direct-mapped, keyed by (pc, generation of the address space), 16 bytes per
 * entry, 1 MiB.
 *
 * A key has 79 bits: 32 of the generation, 47 of pc. The tag has 63 of them, and the low 16 bits of
 * pc follow from the tag and the entry's index, so a hit is exact. The remaining bit of the tag
 * marks an entry that a newer one displaced to the neighbouring slot. A miss also looks there,
 * which removes most of the cost of two pcs that share a slot.
 */
#ifndef MT_UNWIND_CACHE_H
#define MT_UNWIND_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/cfi/rule.h"

#define MT_CACHE_BITS 16
#define MT_CACHE_ENTRIES ((size_t)1 << MT_CACHE_BITS)

/* Marks a displaced entry. This bit of the tag is free because pc is below 2^47. */
#define MT_CACHE_MOVED ((uint64_t)1 << 31)

struct mt_cache_entry {
	uint64_t tag; /* 0: empty; generations start at 1 */
	struct mt_rule rule;
};

static inline uint64_t mt_cache_tag(uint64_t pc, uint32_t generation)
{
	return (uint64_t)generation << 32 | (uint32_t)(pc >> MT_CACHE_BITS);
}

/* The entry for (pc, generation). Has their rule only if its tag matches. pc must be plausible. */
static inline struct mt_cache_entry *mt_cache_entry(struct mt_cache_entry *entries, uint64_t pc,
						    uint64_t tag)
{
	uint64_t mixed = tag * 0x9e3779b97f4a7c15u >> (64 - MT_CACHE_BITS);

	return &entries[(pc ^ mixed) & (MT_CACHE_ENTRIES - 1)];
}

static inline struct mt_cache_entry *mt_cache_neighbor(struct mt_cache_entry *entries,
						       const struct mt_cache_entry *entry)
{
	return &entries[(size_t)(entry - entries) ^ 1];
}

/* Displaces an entry to the neighbouring slot, or a displaced entry back to its first slot. */
static inline void mt_cache_move(struct mt_cache_entry *entries, const struct mt_cache_entry *entry)
{
	struct mt_cache_entry *alongside = mt_cache_neighbor(entries, entry);

	if (entry->tag)
		*alongside = (struct mt_cache_entry){.tag = entry->tag ^ MT_CACHE_MOVED,
						     .rule = entry->rule};
}

/*
 * Whether the rule for `tag` was displaced from `entry` to the neighbouring slot. If so, swaps the
 * two entries.
 */
static inline bool mt_cache_recall(struct mt_cache_entry *entries, struct mt_cache_entry *entry,
				   uint64_t tag)
{
	struct mt_cache_entry moved = *mt_cache_neighbor(entries, entry);

	if (moved.tag != (tag | MT_CACHE_MOVED))
		return false;
	mt_cache_move(entries, entry);
	*entry = (struct mt_cache_entry){.tag = tag, .rule = moved.rule};
	return true;
}

#endif
