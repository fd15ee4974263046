/*
 * A union of entries. What was left out has a CIE in its place that no FDE names: where all parts
 * have such a one, or nothing that can be read, there is a gap.
 */
#include "symbols/skeleton_frames.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "symbols/cfi_entry.h"

/* Of each byte of the section. */
enum {
	COVERED = 1, /* an entry has it */
	NAMED = 2,   /* a CIE that an FDE of the same part names begins here */
};

/* Length, id 0, version 1, no augmentation, code and data alignment, return register. */
static const uint8_t filler[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0};

struct frames {
	uint8_t *bytes, *marks;
	size_t size;
};

/* Marks the CIEs of a part, or takes the marks back: what it left out may begin with another's. */
static void name_cies(struct frames *frames, struct mt_span span, bool named)
{
	struct mt_cfi_section section = {.span = span};
	struct mt_cfi_entry entry;

	for (size_t at = 0; mt_cfi_entry_read(&section, at, &entry); at = entry.next) {
		if (entry.terminator || entry.cie || entry.cie_offset >= frames->size)
			continue;
		if (named)
			frames->marks[entry.cie_offset] |= NAMED;
		else
			frames->marks[entry.cie_offset] &= (uint8_t)~NAMED;
	}
}

/* Whether it looks like what is put in the place of others; real CIEs may. */
static bool like_filler(const uint8_t *entry, size_t size)
{
	if (size < sizeof(filler) || mt_get_le32(entry) == UINT32_MAX ||
	    memcmp(entry + 4, filler + 4, sizeof(filler) - 4) != 0)
		return false;
	for (size_t i = sizeof(filler); i < size; i++) {
		if (entry[i])
			return false;
	}
	return true;
}

static bool any_covered(const struct frames *frames, size_t from, size_t to)
{
	for (; from < to; from++) {
		if (frames->marks[from] & COVERED)
			return true;
	}
	return false;
}

static void cover(struct frames *frames, struct mt_span span, size_t from, size_t to)
{
	memcpy(frames->bytes + from, span.bytes + from, to - from);
	for (; from < to; from++)
		frames->marks[from] |= COVERED;
}

static void add_entries(struct frames *frames, struct mt_span span)
{
	struct mt_cfi_section section = {.span = span};
	struct mt_cfi_entry entry;

	for (size_t at = 0; mt_cfi_entry_read(&section, at, &entry); at = entry.next) {
		if (!entry.terminator && entry.cie && !(frames->marks[at] & NAMED) &&
		    like_filler(span.bytes + at, entry.next - at))
			continue;
		if (!any_covered(frames, at, entry.next))
			cover(frames, span, at, entry.next);
	}
}

/* Gaps between entries are entries themselves; zeros, as these begin with, end nothing. */
static void fill_gaps(struct frames *frames)
{
	for (size_t from = 0, to; from < frames->size; from = to) {
		for (to = from; to < frames->size && !(frames->marks[to] & COVERED); to++)
			;
		if (to - from >= sizeof(filler)) {
			memcpy(frames->bytes + from, filler, sizeof(filler));
			mt_put_le32(frames->bytes + from, (uint32_t)(to - from - 4));
		}
		to += to == from;
	}
}

bool mt_skeleton_frames_merge(const struct mt_span *sections, size_t count, uint8_t **out)
{
	struct frames frames = {.size = sections[0].size};
	MT_CLEANUP_FREE uint8_t *bytes = calloc(1, frames.size + 1);
	MT_CLEANUP_FREE uint8_t *marks = calloc(1, frames.size + 1);

	if (!bytes || !marks)
		return false;
	frames.bytes = bytes;
	frames.marks = marks;
	for (size_t i = 0; i < count; i++) {
		name_cies(&frames, sections[i], true);
		add_entries(&frames, sections[i]);
		name_cies(&frames, sections[i], false);
	}
	fill_gaps(&frames);
	*out = MT_TAKE(bytes);
	return true;
}
