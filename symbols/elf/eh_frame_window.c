/*
 * Reads only the first bytes of each entry, through a window on the section. Decodes the form that
 * linkers write directly; cfi_entry.c decodes all others.
 */
#include "symbols/elf/eh_frame_window.h"

#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/map64.h"
#include "symbols/elf/elf_input.h"

#define ENTRY_HEAD 64 /* bytes read of an entry; enough except for long names */
#define PLAIN_HEAD 17 /* usual form: a length, the CIE, start, size, augmentation's size */

/* `size` bytes of the section at an offset, fewer than in a window; NULL past the section's end. */
static const uint8_t *look(struct mt_eh_frame_window *entries, size_t offset, size_t size)
{
	struct mt_span span = entries->section.span;
	size_t left;

	if (offset > span.size || span.size - offset < size)
		return NULL;
	if (offset < entries->from || offset + size > entries->to) {
		left = span.size - offset < MT_FRAME_WINDOW ? span.size - offset : MT_FRAME_WINDOW;
		entries->window =
			mt_elf_input_look(entries->input, span, offset, left, entries->room);
		entries->from = offset;
		entries->to = offset + left;
	}
	return entries->window + (offset - entries->from);
}

/* Requests the first bytes of an entry for reading in place. */
static void need(struct mt_eh_frame_window *entries, size_t offset)
{
	mt_elf_input_need(entries->input, entries->section.span, offset, ENTRY_HEAD);
	entries->from = entries->to = 0; /* the window may be invalid now */
}

static bool read_in_place(struct mt_eh_frame_window *entries, size_t offset,
			  struct mt_frame_entry *out)
{
	struct mt_cfi_entry entry;

	need(entries, offset);
	if (!mt_cfi_entry_read(&entries->section, offset, &entry))
		return false;
	*out = (struct mt_frame_entry){
		.offset = offset,
		.next = entry.next,
		.cie_offset = entry.cie_offset,
		.terminator = entry.terminator,
		.cie = !entry.terminator && entry.cie,
	};
	return true;
}

bool mt_frame_entry_read(struct mt_eh_frame_window *entries, size_t offset,
			 struct mt_frame_entry *out)
{
	const uint8_t *head = look(entries, offset, 8);
	uint32_t length = head ? mt_get_le32(head) : 0, id;

	if (length < 4 || length == UINT32_MAX ||
	    length > entries->section.span.size - offset - 4 || entries->section.debug_frame)
		return read_in_place(entries, offset, out);
	id = mt_get_le32(head + 4);
	*out = (struct mt_frame_entry){
		.offset = offset,
		.next = offset + 4 + length,
		.cie_offset = offset + 4 - id,
		.cie = !id,
	};
	return id <= offset + 4;
}

/* Finds or fills the slot of a CIE; the CIE may be unreadable. */
static size_t read_cie(struct mt_eh_frame_window *entries, size_t offset)
{
	size_t slot = mt_hash64(offset) % MT_FRAME_CIES;

	if (entries->cies[slot].offset == offset + 1)
		return slot;
	need(entries, offset);
	entries->cies[slot].offset = offset + 1;
	entries->cies[slot].good =
		mt_cfi_cie_read(&entries->section, offset, &entries->cies[slot].cie);
	return slot;
}

static bool read_code_in_place(struct mt_eh_frame_window *entries,
			       const struct mt_frame_entry *entry, const struct mt_cfi_cie *cie,
			       struct mt_frame_code *out)
{
	struct mt_cfi_fde fde = {.cie = *cie};
	struct mt_cfi_entry whole;

	need(entries, entry->offset);
	if (!mt_cfi_entry_read(&entries->section, entry->offset, &whole) || whole.terminator ||
	    !mt_cfi_fde_read_body(&entries->section, &whole, &fde))
		return false;
	out->start = fde.start;
	out->end = fde.end;
	return true;
}

/* Like read_code_in_place(), for FDEs of the form that linkers write; false for others. */
static bool read_plain_code(struct mt_eh_frame_window *entries, const struct mt_frame_entry *entry,
			    const struct mt_cfi_cie *cie, struct mt_frame_code *out)
{
	const uint8_t *head;
	int32_t distance, size;

	if (cie->encoding != (MT_CFI_PE_PCREL | MT_CFI_PE_SDATA4) || !cie->sized ||
	    entry->next - entry->offset < PLAIN_HEAD)
		return false;
	head = look(entries, entry->offset, PLAIN_HEAD);
	if (!head || mt_get_le32(head) == UINT32_MAX || head[16] & 0x80 ||
	    head[16] > entry->next - entry->offset - PLAIN_HEAD)
		return false;
	distance = (int32_t)mt_get_le32(head + 8);
	size = (int32_t)mt_get_le32(head + 12);
	out->start = entries->section.span.vaddr + entry->offset + 8 + (uint64_t)(int64_t)distance;
	return size >= 0 && !__builtin_add_overflow(out->start, (uint64_t)size, &out->end);
}

bool mt_frame_code_read(struct mt_eh_frame_window *entries, const struct mt_frame_entry *entry,
			struct mt_frame_code *out)
{
	size_t slot;

	if (entry->terminator || entry->cie)
		return false;
	slot = read_cie(entries, entry->cie_offset);
	if (!entries->cies[slot].good)
		return false;
	out->absolute = !(entries->cies[slot].cie.encoding & 0x70);
	out->plain = read_plain_code(entries, entry, &entries->cies[slot].cie, out);
	return out->plain || read_code_in_place(entries, entry, &entries->cies[slot].cie, out);
}

void mt_frame_entry_copy(struct mt_eh_frame_window *entries, const struct mt_frame_entry *entry,
			 uint8_t *to)
{
	size_t size = entry->next - entry->offset;
	const uint8_t *bytes;

	if (size <= MT_FRAME_WINDOW) {
		bytes = look(entries, entry->offset, size);
	} else {
		bytes = mt_elf_input_look(entries->input, entries->section.span, entry->offset,
					  size, to);
		entries->from = entries->to = 0; /* the window may be invalid now */
	}
	if (bytes && bytes != to)
		memcpy(to, bytes, size);
}
