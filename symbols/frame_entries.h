/*
 * Going through a file's .eh_frame of which little is in memory at a time: what is about to be
 * looked at is asked for first, and the few CIEs are read once.
 */
#ifndef MT_SYMBOLS_FRAME_ENTRIES_H
#define MT_SYMBOLS_FRAME_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>

#include "symbols/cfi_entry.h"

struct mt_skeleton_input;

#define MT_FRAME_CIES 16 /* linkers leave a few different ones */

struct mt_frame_entries {
	struct mt_cfi_section section;
	const struct mt_skeleton_input *input; /* as for a skeleton, or NULL */
	size_t from, to;		       /* bytes that were asked for last */
	struct {
		size_t offset; /* and 1; 0: empty */
		size_t next;   /* of what is behind it */
		bool good;
		struct mt_cfi_cie cie;
	} cies[MT_FRAME_CIES];
};

/* The entry at an offset, as mt_cfi_entry_read() gives it. */
bool mt_frame_entry_read(struct mt_frame_entries *entries, size_t offset, struct mt_cfi_entry *out);

/*
 * The FDE whose entry is at the offset, read already. False for one that cannot be read. *cie_end:
 * where its CIE ends.
 */
bool mt_frame_fde_read(struct mt_frame_entries *entries, size_t offset,
		       const struct mt_cfi_entry *entry, struct mt_cfi_fde *out, size_t *cie_end);

#endif
