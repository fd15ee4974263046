/*
 * .eh_frame_hdr has a sorted table; .eh_frame is gone through from entry to entry, of each only
 * the first bytes.
 */
#include "symbols/function_starts.h"

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "symbols/address_sort.h"
#include "symbols/frame_entries.h"
#include "symbols/skeleton.h"

#define PIECE ((size_t)128 << 10) /* bytes that are asked for at a time */

void mt_function_starts_deinit(struct mt_function_starts *starts)
{
	mt_array_deinit(starts);
}

/* The form that all linkers write: 4 bytes from the table's own start. False out of memory. */
static bool read_table(struct mt_span hdr, const struct mt_skeleton_input *input,
		       struct mt_function_starts *out)
{
	size_t count;

	mt_skeleton_input_need(input, hdr, 0, 12);
	if (!hdr.bytes || hdr.size < 12 || hdr.bytes[0] != 1 || hdr.bytes[2] != 0x03 ||
	    hdr.bytes[3] != 0x3b)
		return true;
	count = mt_get_le32(hdr.bytes + 8);
	if (count > (hdr.size - 12) / 8)
		count = (hdr.size - 12) / 8;
	if (!mt_array_reserve(out, count))
		return false;
	for (size_t i = 0; i < count; i++) {
		int32_t distance;

		if (i % (PIECE / 8) == 0)
			mt_skeleton_input_need(input, hdr, 12 + 8 * i, PIECE);
		distance = (int32_t)mt_get_le32(hdr.bytes + 12 + 8 * i);
		out->items[i] = hdr.vaddr + (uint64_t)(int64_t)distance;
		if (i && out->items[i] < out->items[i - 1])
			return true; /* not sorted: none */
	}
	out->count = count;
	return true;
}

/* False out of memory. */
static bool add_start(struct mt_frame_entries *entries, size_t offset,
		      const struct mt_cfi_entry *entry, struct mt_function_starts *out)
{
	struct mt_cfi_fde fde;
	size_t cie_end;

	if (!mt_frame_fde_read(entries, offset, entry, &fde, &cie_end) || fde.start == fde.end)
		return true;
	if (!mt_array_reserve(out, out->count + 1))
		return false;
	out->items[out->count++] = fde.start;
	return true;
}

static bool read_entries(struct mt_span span, const struct mt_skeleton_input *input,
			 struct mt_function_starts *out)
{
	struct mt_frame_entries entries = {.section.span = span, .input = input};
	struct mt_cfi_entry entry;

	for (size_t offset = 0; offset < span.size; offset = entry.next) {
		if (!mt_frame_entry_read(&entries, offset, &entry))
			break;
		if (!entry.terminator && !entry.cie && !add_start(&entries, offset, &entry, out))
			return false;
	}
	return mt_number_sort(out->items, out->count);
}

bool mt_function_starts_read(struct mt_elf *elf, const struct mt_skeleton_input *input,
			     struct mt_function_starts *out)
{
	struct mt_span entries;

	*out = (struct mt_function_starts){0};
	if (!read_table(mt_elf_section(elf, ".eh_frame_hdr"), input, out))
		return false;
	entries = mt_elf_section(elf, ".eh_frame");
	return out->count || !entries.bytes || read_entries(entries, input, out);
}
