/*
 * All FDEs of a section in address order, from one pass over it: for .debug_frame, which has no
 * search table, and for .eh_frame where the table in .eh_frame_hdr is missing or lies. Private to
 * the CFI reader.
 */
#ifndef MT_UNWIND_CFI_INDEX_H
#define MT_UNWIND_CFI_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_cfi_index;
struct mt_cfi_section;

/* NULL out of memory. An unreadable FDE is left out; an unreadable length ends the pass. */
struct mt_cfi_index *mt_cfi_index_create(const struct mt_cfi_section *section);
void mt_cfi_index_destroy(struct mt_cfi_index *index);

/* The offset of the FDE that covers address; false if none does. */
bool mt_cfi_index_find(const struct mt_cfi_index *index, uint64_t address, size_t *offset);

/* How many FDEs the section has, unreadable ones apart. */
size_t mt_cfi_index_count(const struct mt_cfi_index *index);

#endif
