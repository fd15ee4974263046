/*
 * .eh_frame for a skeleton of which only some code was seen, for skeleton.c alone: the entries that
 * tell of that code one behind the other, each CIE once.
 */
#ifndef MT_SYMBOLS_CARRIED_PRUNED_EH_FRAME_H
#define MT_SYMBOLS_CARRIED_PRUNED_EH_FRAME_H

#include <stdbool.h>

#include "symbols/elf/elf.h"

struct mt_made_bytes;
struct mt_seen_code;
struct mt_elf_input;

/*
 * Makes it of the .eh_frame that span is, for the same address: the FDEs of code in which a place
 * lies, and their CIEs; what is damaged is left out. *all: the section is to be kept as it is, for
 * it is of a form that linkers do not write. False out of memory, with out to be freed all the
 * same.
 */
bool mt_pruned_eh_frame_make(struct mt_span span, const struct mt_seen_code *seen,
			     const struct mt_elf_input *input, struct mt_made_bytes *out,
			     bool *all);

#endif
