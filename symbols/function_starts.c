/*
 * .eh_frame_hdr has a sorted table; .eh_frame is gone through from entry to entry, of each only
 * the first bytes.
 */
#include "symbols/function_starts.h"

#include <stdlib.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "symbols/address_sort.h"
#include "symbols/frame_entries.h"
#include "symbols/skeleton.h"

#define PIECE ((size_t)32 << 10) /* bytes that are looked at at a time */

_Static_assert(PIECE >= MT_FRAME_WINDOW, "room for either");

void mt_function_starts_deinit(struct mt_function_starts *starts)
{
	mt_array_deinit(starts);
}

/* What of the table stands from there on, as far as there is room. */
static const uint8_t *look_at_pairs(struct mt_span hdr, const struct mt_skeleton_input *input,
				    size_t at, uint8_t *room)
{
	size_t left = hdr.size - at;

	return mt_skeleton_input_look(input, hdr, at, left < PIECE ? left : PIECE, room);
}

/* The form that all linkers write: 4 bytes from the table's own start. False out of memory. */
static bool read_table(struct mt_span hdr, const struct mt_skeleton_input *input, uint8_t *room,
		       struct mt_function_starts *out)
{
	const uint8_t *pairs = NULL, *head;
	size_t count;

	if (!hdr.bytes || hdr.size < 12)
		return true;
	head = mt_skeleton_input_look(input, hdr, 0, 12, room);
	if (head[0] != 1 || head[2] != 0x03 || head[3] != 0x3b)
		return true;
	count = mt_get_le32(head + 8);
	if (count > (hdr.size - 12) / 8)
		count = (hdr.size - 12) / 8;
	if (!mt_array_reserve(out, count))
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t in = i % (PIECE / 8);
		int32_t distance;

		if (!in)
			pairs = look_at_pairs(hdr, input, 12 + 8 * i, room);
		distance = (int32_t)mt_get_le32(pairs + 8 * in);
		out->items[i] = hdr.vaddr + (uint64_t)(int64_t)distance;
		if (i && out->items[i] < out->items[i - 1])
			return true; /* not sorted: none */
	}
	out->count = count;
	return true;
}

static bool read_entries(struct mt_span span, const struct mt_skeleton_input *input, uint8_t *room,
			 struct mt_function_starts *out)
{
	struct mt_frame_entries entries = {.section.span = span, .input = input, .room = room};
	struct mt_frame_entry entry;
	struct mt_frame_code code;

	for (size_t offset = 0; offset < span.size; offset = entry.next) {
		if (!mt_frame_entry_read(&entries, offset, &entry))
			break;
		if (!mt_frame_code_read(&entries, &entry, &code) || code.start == code.end)
			continue;
		if (!mt_array_reserve(out, out->count + 1))
			return false;
		out->items[out->count++] = code.start;
	}
	return mt_number_sort(out->items, out->count);
}

bool mt_function_starts_read(struct mt_elf *elf, const struct mt_skeleton_input *input,
			     struct mt_function_starts *out)
{
	MT_CLEANUP_FREE uint8_t *room = malloc(PIECE);
	struct mt_span entries;

	*out = (struct mt_function_starts){0};
	if (!room || !read_table(mt_elf_section(elf, ".eh_frame_hdr"), input, room, out))
		return false;
	entries = mt_elf_section(elf, ".eh_frame");
	return out->count || !entries.bytes || read_entries(entries, input, room, out);
}
