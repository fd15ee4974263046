/*
 * An index by address of all FDEs of some sections, built in one pass: for .debug_frame, which has
 * no search table, for .eh_frame with a missing or wrong search table, and for all pieces of a
 * carried image's .eh_frame. Private to the CFI reader.
 */
#ifndef MT_UNWIND_CFI_CFI_INDEX_H
#define MT_UNWIND_CFI_CFI_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_cfi_index;
struct mt_cfi_section;

/*
 * Borrows the sections until destroyed. NULL out of memory. An unreadable FDE is skipped; an
 * unreadable length ends the pass over its section.
 */
struct mt_cfi_index *mt_cfi_index_create(const struct mt_cfi_section *sections, size_t count);
void mt_cfi_index_destroy(struct mt_cfi_index *index);

/* The section and offset of the FDE that covers address; NULL if there is none. */
const struct mt_cfi_section *mt_cfi_index_find(const struct mt_cfi_index *index, uint64_t address,
					       size_t *offset);

/* Number of readable FDEs. */
size_t mt_cfi_index_count(const struct mt_cfi_index *index);

#endif
