/*
 * All FDEs of some sections in address order, from one pass over each: for .debug_frame, which has
 * no search table, for .eh_frame where the table in .eh_frame_hdr is missing or lies, and for the
 * .eh_frame of all pieces of a carried image. Private to the CFI reader.
 */
#ifndef MT_UNWIND_CFI_CFI_INDEX_H
#define MT_UNWIND_CFI_CFI_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_cfi_index;
struct mt_cfi_section;

/*
 * Borrows the sections until destroyed. NULL out of memory. An unreadable FDE is left out; an
 * unreadable length ends the pass over its section.
 */
struct mt_cfi_index *mt_cfi_index_create(const struct mt_cfi_section *sections, size_t count);
void mt_cfi_index_destroy(struct mt_cfi_index *index);

/* The section and offset of the FDE that covers address; the section is NULL if none does. */
const struct mt_cfi_section *mt_cfi_index_find(const struct mt_cfi_index *index, uint64_t address,
					       size_t *offset);

/* How many FDEs the sections have, unreadable ones apart. */
size_t mt_cfi_index_count(const struct mt_cfi_index *index);

#endif
