/* Of each entry only the first bytes are looked at. */
#include "symbols/frame_entries.h"

#include <string.h>

#include "formats/base/map64.h"
#include "symbols/skeleton.h"

#define PIECE ((size_t)128 << 10) /* bytes that are asked for at a time */
#define ENTRY_HEAD 64		  /* holds all that is looked at of an entry, but for long names */

static void need(struct mt_frame_entries *entries, size_t offset)
{
	if (offset >= entries->from && offset + ENTRY_HEAD <= entries->to)
		return;
	mt_skeleton_input_need(entries->input, entries->section.span, offset, PIECE);
	entries->from = offset;
	entries->to = offset + PIECE;
}

bool mt_frame_entry_read(struct mt_frame_entries *entries, size_t offset, struct mt_cfi_entry *out)
{
	need(entries, offset);
	return mt_cfi_entry_read(&entries->section, offset, out);
}

/* The slot of a CIE, which may be none that can be read. */
static size_t read_cie(struct mt_frame_entries *entries, size_t offset)
{
	size_t slot = mt_hash64(offset) % MT_FRAME_CIES;
	struct mt_cfi_entry entry;

	if (entries->cies[slot].offset == offset + 1)
		return slot;
	mt_skeleton_input_need(entries->input, entries->section.span, offset, ENTRY_HEAD);
	entries->from = entries->to = 0; /* what is needed next is asked for again */
	entries->cies[slot].offset = offset + 1;
	entries->cies[slot].good =
		mt_cfi_entry_read(&entries->section, offset, &entry) &&
		mt_cfi_cie_read(&entries->section, offset, &entries->cies[slot].cie);
	if (entries->cies[slot].good)
		entries->cies[slot].next = entry.next;
	return slot;
}

bool mt_frame_fde_read(struct mt_frame_entries *entries, size_t offset,
		       const struct mt_cfi_entry *entry, struct mt_cfi_fde *out, size_t *cie_end)
{
	size_t slot = read_cie(entries, entry->cie_offset);

	if (!entries->cies[slot].good)
		return false;
	need(entries, offset);
	out->cie = entries->cies[slot].cie;
	*cie_end = entries->cies[slot].next;
	return mt_cfi_fde_read_body(&entries->section, entry, out);
}
