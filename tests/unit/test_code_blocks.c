/*
 * symbols/carried/code_blocks: noted code of a file is found again, other code is not. Damaged
 * contents do no harm.
 */
#include "symbols/carried/code_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/err.h"
#include "tests/unit/elf_builder.h"
#include "tests/unit/unit.h"

#define TEXT 0x1000u
#define SIZE 0x405u /* the last block is cut short */
#define IMAGE 3u

static uint8_t text[SIZE];

/* A file with that text; the caller must destroy it before the builder. */
static struct mt_elf *make(struct elf_builder *b)
{
	struct mt_elf *elf = NULL;
	uint64_t offset;

	for (size_t i = 0; i < SIZE; i++)
		text[i] = (uint8_t)(i * 7 + (i >> 8));
	builder_init(b, ET_DYN);
	offset = builder_append(b, text, SIZE);
	builder_add_segment(b, PT_LOAD, PF_R | PF_X, offset, TEXT, SIZE);
	builder_finish(b);
	MT_CHECK(!mt_elf_open_memory(b->bytes, b->size, "made", &elf));
	return elf;
}

static bool has(struct mt_span content, uint64_t at, size_t n)
{
	const uint8_t *found = mt_code_blocks_find(content, at, n);

	return found && !memcmp(found, text + (at - TEXT), n);
}

MT_TEST(what_was_noted_is_found_and_nothing_else)
{
	struct mt_code_notes *notes = mt_code_notes_create();
	struct elf_builder *b = malloc(sizeof(*b));
	struct mt_elf *elf = make(b);
	struct mt_span content = {0};
	uint8_t *bytes;

	mt_code_notes_add(notes, IMAGE, TEXT + 0x108, 16); /* spans two blocks */
	mt_code_notes_add(notes, IMAGE, TEXT + 0x120, 1);  /* the next block */
	mt_code_notes_add(notes, IMAGE, TEXT + 0x40, 8);
	mt_code_notes_add(notes, IMAGE, TEXT + 0x404, 1);
	mt_code_notes_add(notes, IMAGE + 1, TEXT + 0x200, 8);
	MT_CHECK(!mt_code_notes_within(notes, IMAGE, content));
	MT_CHECK(mt_code_notes_within(notes, IMAGE + 2, content));
	MT_CHECK(mt_code_blocks_make(elf, notes, IMAGE, &bytes, &content.size));
	content.bytes = bytes;
	MT_CHECK(has(content, TEXT + 0x108, 16));
	MT_CHECK(has(content, TEXT + 0x100, 48));
	MT_CHECK(has(content, TEXT + 0x40, 16));
	MT_CHECK(has(content, TEXT + 0x400, 5));
	MT_CHECK(!mt_code_blocks_find(content, TEXT + 0x400, 6));
	MT_CHECK(!mt_code_blocks_find(content, TEXT + 0x100, 49));
	MT_CHECK(!mt_code_blocks_find(content, TEXT + 0xff, 2));
	MT_CHECK(!mt_code_blocks_find(content, TEXT + 0x200, 8));
	MT_CHECK(!mt_code_blocks_find(content, 0, 1));
	MT_CHECK(!mt_code_blocks_find(content, UINT64_MAX, 1));
	MT_CHECK(mt_code_notes_within(notes, IMAGE, content));
	mt_code_notes_add(notes, IMAGE, TEXT + 0x300, 1);
	MT_CHECK(!mt_code_notes_within(notes, IMAGE, content));
	MT_CHECK(!mt_code_notes_failed(notes));
	free(bytes);
	mt_elf_destroy(elf);
	free(b);
	mt_code_notes_destroy(notes);
}

MT_TEST(nothing_noted_is_no_content)
{
	struct mt_code_notes *notes = mt_code_notes_create();
	struct elf_builder *b = malloc(sizeof(*b));
	struct mt_elf *elf = make(b);
	uint8_t *bytes;
	size_t size;

	mt_code_notes_add(notes, IMAGE, 0x900000, 16); /* not in the file */
	MT_CHECK(mt_code_blocks_make(elf, notes, IMAGE, &bytes, &size));
	MT_CHECK(!bytes && !size);
	mt_elf_destroy(elf);
	free(b);
	mt_code_notes_destroy(notes);
}

MT_TEST(a_damaged_content_says_nothing_it_does_not_have)
{
	uint8_t bytes[8 + 16 + 16] = {0};
	struct mt_span content = {.bytes = bytes, .size = sizeof(bytes)};

	mt_put_le32(bytes, 1);
	mt_put_le64(bytes + 8, TEXT);
	mt_put_le32(bytes + 16, 16);
	mt_put_le32(bytes + 20, 24);
	MT_CHECK(mt_code_blocks_find(content, TEXT, 16) == bytes + 24);
	mt_put_le32(bytes + 20, 25); /* reaches past the end */
	MT_CHECK(!mt_code_blocks_find(content, TEXT, 1));
	mt_put_le32(bytes + 20, UINT32_MAX);
	MT_CHECK(!mt_code_blocks_find(content, TEXT, 1));
	mt_put_le32(bytes + 20, 24);
	mt_put_le32(bytes + 16, UINT32_MAX);
	MT_CHECK(!mt_code_blocks_find(content, TEXT, 1));
	mt_put_le32(bytes, 3); /* more pieces than the content has */
	MT_CHECK(!mt_code_blocks_find(content, TEXT, 1));
	mt_put_le32(bytes, UINT32_MAX);
	MT_CHECK(!mt_code_blocks_find(content, TEXT, 1));
	content.size = 7;
	MT_CHECK(!mt_code_blocks_find(content, TEXT, 1));
	content = (struct mt_span){0};
	MT_CHECK(!mt_code_blocks_find(content, TEXT, 1));
}

static struct mt_span content_of(const struct mt_span *pieces, size_t count)
{
	struct mt_code_making *making = mt_code_making_create();
	struct mt_span content = {0};
	uint8_t *bytes;

	for (size_t i = 0; i < count; i++)
		MT_CHECK(mt_code_making_add(making, pieces[i]));
	MT_CHECK(mt_code_making_finish(making, &bytes, &content.size));
	content.bytes = bytes;
	mt_code_making_destroy(making);
	return content;
}

MT_TEST(several_contents_are_one)
{
	static const uint8_t as[32] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
			     bs[32] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
	struct mt_span first[] = {{as, 16, 0x100}, {as, 16, 0x108}, {as, 8, 0x140}};
	struct mt_span second[] = {{bs, 32, 0x0f0}, {bs, 16, 0x120}, {bs, 4, 0x142}};
	struct mt_span contents[3] = {content_of(first, 3), content_of(second, 3)}, merged = {0};
	uint8_t *bytes;

	MT_CHECK(!mt_code_blocks_find(contents[0], 0x110, 1)); /* its two pieces overlap */
	MT_CHECK(mt_code_blocks_merge(contents, 3, &bytes, &merged.size));
	merged.bytes = bytes;
	MT_CHECK(*mt_code_blocks_find(merged, 0xf0, 32) == 'b');
	MT_CHECK(!mt_code_blocks_find(merged, 0x110, 1));
	MT_CHECK(*mt_code_blocks_find(merged, 0x120, 16) == 'b');
	MT_CHECK(*mt_code_blocks_find(merged, 0x140, 8) == 'a');
	MT_CHECK(!mt_code_blocks_find(merged, 0x140, 9));
	free(bytes);
	free((void *)contents[0].bytes);
	free((void *)contents[1].bytes);
	MT_CHECK(mt_code_blocks_merge(contents + 2, 1, &bytes, &merged.size));
	MT_CHECK(!bytes && !merged.size);
}

/* A megabyte of pieces that all claim the same half of it would take 16 GiB. */
MT_TEST(contents_that_claim_too_much_do_no_harm)
{
	const size_t size = 1 << 20, count = 1 << 15;
	uint8_t *bytes = calloc(1, size), *merged = NULL;
	struct mt_span contents[2] = {{.bytes = bytes, .size = size}, {0}}, all = {0};

	mt_put_le32(bytes, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		uint8_t *piece = bytes + 8 + 16 * i;

		mt_put_le64(piece, i << 32);
		mt_put_le32(piece + 8, 1 << 19);
		mt_put_le32(piece + 12, i == 7 ? UINT32_MAX : 1 << 19);
	}
	MT_CHECK(mt_code_blocks_merge(contents, 2, &merged, &all.size));
	MT_CHECK(all.size <= 2 * size);
	all.bytes = merged;
	MT_CHECK(mt_code_blocks_find(all, 0, 1 << 19));
	MT_CHECK(!mt_code_blocks_find(all, UINT64_C(7) << 32, 1));
	free(merged);
	free(bytes);
}

MT_TEST_MAIN
