/* The compilation units of .debug_info that have code at sampled places. */
#ifndef MT_SYMBOLS_CARRIED_PRUNED_DEBUG_INFO_H
#define MT_SYMBOLS_CARRIED_PRUNED_DEBUG_INFO_H

#include <stdbool.h>

struct mt_elf;
struct mt_elf_input;
struct mt_made_bytes;
struct mt_seen_code;

/*
 * Appends to *out the units of elf's .debug_info, except units without code at any of the places
 * according to .debug_aranges. *all: nothing can be left out (no .debug_aranges, compressed
 * sections, units that refer to each other). input may be NULL. False out of memory; the caller
 * frees *out in any case.
 */
bool mt_pruned_debug_info_make(struct mt_elf *elf, const struct mt_seen_code *seen,
			       const struct mt_elf_input *input, struct mt_made_bytes *out,
			       bool *all);

#endif
