/*
 * symbols/elf/eh_frame_window: reading an .eh_frame through a window gives the same entries as
 * symbols/elf/cfi_entry gives when it reads the section in place. Uses real files and damaged ones.
 * No byte is read before it was requested.
 */
#include "symbols/elf/eh_frame_window.h"

#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/err.h"
#include "symbols/carried/skeleton.h"
#include "symbols/elf/elf_input.h"
#include "tests/unit/unit.h"

/* A section whose bytes are hidden until they are requested. */
struct hidden {
	struct mt_span from;
	uint8_t *shown;
	size_t copied; /* size of the largest copy in bytes */
};

static void show(void *context, const uint8_t *bytes, size_t size)
{
	struct hidden *hidden = context;
	size_t at = (size_t)(bytes - hidden->shown), most = hidden->from.size - at;

	memcpy(hidden->shown + at, hidden->from.bytes + at, size < most ? size : most);
}

static void copy(void *context, const uint8_t *bytes, size_t size, uint8_t *to)
{
	struct hidden *hidden = context;
	size_t at = (size_t)(bytes - hidden->shown);

	MT_CHECK(at <= hidden->from.size && size <= hidden->from.size - at);
	hidden->copied = size > hidden->copied ? size : hidden->copied;
	memcpy(to, hidden->from.bytes + at, size);
}

static bool same_entry(const struct mt_cfi_entry *whole, const struct mt_frame_entry *entry)
{
	return entry->next == whole->next && entry->terminator == whole->terminator &&
	       (whole->terminator ||
		(entry->cie == whole->cie && entry->cie_offset == whole->cie_offset));
}

/* Reads all entries in both ways; returns the number of FDEs. */
static size_t compare(struct mt_span span, struct mt_eh_frame_window *entries)
{
	const struct mt_cfi_section section = {.span = span};
	size_t count = 0;

	for (size_t at = 0;;) {
		struct mt_frame_entry entry = {0};
		struct mt_cfi_entry whole = {0};
		struct mt_frame_code code = {0};
		struct mt_cfi_fde fde;
		bool good = mt_cfi_entry_read(&section, at, &whole), read;

		MT_CHECK_EQ(mt_frame_entry_read(entries, at, &entry), good);
		if (!good)
			return count;
		MT_CHECK(same_entry(&whole, &entry));
		good = mt_cfi_fde_read(&section, at, &fde);
		read = mt_frame_code_read(entries, &entry, &code);
		MT_CHECK_EQ(read, good);
		if (good)
			MT_CHECK(code.start == fde.start && code.end == fde.end);
		count += good;
		at = whole.next;
	}
}

static size_t compare_hidden(struct mt_span span)
{
	struct hidden hidden = {.from = span, .shown = calloc(1, span.size)};
	const struct mt_elf_input input = {&hidden, show, copy};
	uint8_t *room = malloc(MT_FRAME_WINDOW);
	struct mt_eh_frame_window entries = {
		.section.span = {hidden.shown, span.size, span.vaddr},
		.input = &input,
		.room = room,
	};
	size_t count = compare(span, &entries);

	MT_CHECK(hidden.copied <= MT_FRAME_WINDOW);
	free(hidden.shown);
	free(room);
	return count;
}

/* Finds the C library's path, or this program's path if it has no C library of its own. */
static int find_path(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	if (strstr(info->dlpi_name, "libc.so") || strstr(info->dlpi_name, "libc.musl"))
		snprintf(context, PATH_MAX, "%s", info->dlpi_name);
	return 0;
}

static struct mt_elf *open_large(struct mt_span *frame)
{
	char path[PATH_MAX] = "/proc/self/exe";
	struct mt_elf *elf = NULL;

	dl_iterate_phdr(find_path, path);
	MT_CHECK(!mt_elf_open_file(path, &elf));
	*frame = mt_elf_section(elf, ".eh_frame");
	MT_CHECK(frame->bytes && frame->size > MT_FRAME_WINDOW);
	return elf;
}

MT_TEST(entries_of_a_real_file)
{
	struct mt_span frame;
	struct mt_elf *elf = open_large(&frame);
	struct mt_eh_frame_window in_place = {.section.span = frame};
	size_t count = compare_hidden(frame);

	MT_CHECK(count > 100);
	MT_CHECK_EQ(compare(frame, &in_place), count);
	mt_elf_destroy(elf);
}

MT_TEST(entries_that_are_damaged)
{
	struct mt_span frame, damaged;
	struct mt_elf *elf = open_large(&frame);
	size_t size = frame.size < 8192 ? frame.size : 8192;
	uint8_t *bytes = malloc(size);
	uint64_t numbers = 1;

	for (int round = 0; round < 400; round++) {
		memcpy(bytes, frame.bytes, size);
		for (int i = 0; i < 6; i++) {
			numbers = numbers * UINT64_C(6364136223846793005) + 1442695040888963407;
			bytes[(numbers >> 33) % size] = (uint8_t)(numbers >> 56);
		}
		damaged = (struct mt_span){bytes, size - (numbers >> 40) % 64, frame.vaddr};
		(void)compare_hidden(damaged);
	}
	free(bytes);
	mt_elf_destroy(elf);
}

MT_TEST(an_entry_s_bytes)
{
	struct mt_span frame;
	struct mt_elf *elf = open_large(&frame);
	struct mt_eh_frame_window entries = {.section.span = frame};
	struct mt_frame_entry entry;
	uint8_t *copy = malloc(frame.size);

	MT_REQUIRE(copy && mt_frame_entry_read(&entries, 0, &entry));
	mt_frame_entry_copy(&entries, &entry, copy);
	MT_CHECK(!memcmp(copy, frame.bytes, entry.next));
	entry.next = MT_FRAME_WINDOW + 1;
	mt_frame_entry_copy(&entries, &entry, copy);
	MT_CHECK(!memcmp(copy, frame.bytes, entry.next));
	free(copy);
	mt_elf_destroy(elf);
}

MT_TEST_MAIN
