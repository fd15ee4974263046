/*
 * .eh_frame of a skeleton of seen code: the FDEs of that code one after the other, each CIE once.
 * Only for skeleton.c.
 */
#ifndef MT_SYMBOLS_CARRIED_PRUNED_EH_FRAME_H
#define MT_SYMBOLS_CARRIED_PRUNED_EH_FRAME_H

#include <stdbool.h>

#include "symbols/elf/elf.h"

struct mt_made_bytes;
struct mt_seen_code;
struct mt_elf_input;

/*
 * Builds, from the .eh_frame in span and for the same address, the section with the FDEs of code
 * that has a seen place, and their CIEs; damaged entries are left out. *all: the section has a form
 * that linkers do not write, and has to be kept whole. False out of memory; the caller frees out in
 * any case.
 */
bool mt_pruned_eh_frame_make(struct mt_span span, const struct mt_seen_code *seen,
			     const struct mt_elf_input *input, struct mt_made_bytes *out,
			     bool *all);

#endif
