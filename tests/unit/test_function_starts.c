/*
 * symbols/function_starts: the table, and the entries themselves where it is missing or of no use;
 * only bytes that were asked for are looked at; damaged entries do no harm.
 */
#include "symbols/function_starts.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/err.h"
#include "symbols/skeleton.h"
#include "tests/unit/cfi_builder.h"
#include "tests/unit/elf_builder.h"
#include "tests/unit/unit.h"

#define HDR 0x9000u
#define FRAME 0xa000u
#define FUNCTIONS 40u
#define HOME 0x1000u

static struct elf_builder builder;
static struct cfi_builder entries, table;

/* Entries of two CIEs in turn, the last function's first; none of no size. */
static void make_entries(void)
{
	size_t cies[2];

	entries = (struct cfi_builder){.vaddr = FRAME};
	for (int i = 0; i < 2; i++)
		cies[i] = cfi_cie(&entries, "", NO_BYTES, NO_BYTES);
	for (unsigned int i = FUNCTIONS; i--;)
		cfi_fde(&entries, cies[i % 2], HOME + 32 * i, 16, NO_BYTES);
	cfi_fde(&entries, cies[0], HOME + 8, 0, NO_BYTES);
	cfi_put32(&entries, 0);
}

/* In one file with a table, which may be empty. The caller destroys it. */
static struct mt_elf *make_file(struct mt_span hdr, struct mt_span frame)
{
	struct mt_elf *elf = NULL;

	builder_init(&builder, ET_DYN);
	if (hdr.bytes)
		builder_add_section(&builder, ".eh_frame_hdr", SHT_PROGBITS, hdr.vaddr, hdr.bytes,
				    hdr.size);
	if (frame.bytes)
		builder_add_section(&builder, ".eh_frame", SHT_PROGBITS, frame.vaddr, frame.bytes,
				    frame.size);
	builder_finish(&builder);
	MT_CHECK(!mt_elf_open_memory(builder.bytes, builder.size, "made", &elf));
	return elf;
}

static void check_all(struct mt_elf *elf, const struct mt_skeleton_input *input)
{
	struct mt_function_starts starts;

	MT_CHECK(mt_function_starts_read(elf, input, &starts));
	MT_CHECK_EQ(starts.count, FUNCTIONS);
	for (unsigned int i = 0; i < starts.count; i++)
		MT_CHECK_EQ(starts.items[i], HOME + 32 * i);
	mt_function_starts_deinit(&starts);
	mt_elf_destroy(elf);
}

MT_TEST(without_a_table)
{
	make_entries();
	check_all(make_file((struct mt_span){0}, cfi_span(&entries)), NULL);
}

static struct mt_span make_table(bool sorted)
{
	uint64_t pairs[FUNCTIONS][2];

	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		pairs[i][0] = HOME + 32 * (sorted ? i : FUNCTIONS - 1 - i);
		pairs[i][1] = FRAME;
	}
	return cfi_table(&table, HDR, FRAME, pairs, FUNCTIONS);
}

MT_TEST(a_table_is_enough)
{
	check_all(make_file(make_table(true), (struct mt_span){0}), NULL);
}

MT_TEST(a_table_that_is_not_sorted_is_passed)
{
	make_entries();
	check_all(make_file(make_table(false), cfi_span(&entries)), NULL);
}

MT_TEST(a_table_of_another_form_is_passed)
{
	struct mt_span hdr = make_table(true);

	make_entries();
	table.bytes[3] = 0x1b;
	check_all(make_file(hdr, cfi_span(&entries)), NULL);
}

/* A file of which little is in memory: the original, and what was asked for of it. */
struct sparse {
	const uint8_t *original;
	uint8_t *copy;
	size_t size;
};

static void bring(void *context, const uint8_t *bytes, size_t size)
{
	struct sparse *sparse = context;
	size_t at = (size_t)(bytes - sparse->copy);

	MT_CHECK(at < sparse->size && size <= sparse->size - at);
	memcpy(sparse->copy + at, sparse->original + at, size);
}

MT_TEST(bytes_are_asked_for_first)
{
	struct sparse sparse;
	struct mt_skeleton_input input = {.context = &sparse, .need = bring};
	struct mt_span span;
	struct mt_elf *elf;

	make_entries();
	mt_elf_destroy(make_file((struct mt_span){0}, cfi_span(&entries)));
	sparse.size = builder.size;
	sparse.original = builder.bytes;
	sparse.copy = malloc(sparse.size);
	memcpy(sparse.copy, builder.bytes, sparse.size);
	MT_CHECK(!mt_elf_open_memory(sparse.copy, sparse.size, "sparse", &elf));
	span = mt_elf_section(elf, ".eh_frame");
	memset(sparse.copy + (span.bytes - sparse.copy), 0xff, span.size);
	check_all(elf, &input);
	free(sparse.copy);
}

static void read_damaged(struct mt_span frame)
{
	struct mt_elf *elf = make_file((struct mt_span){0}, frame);
	struct mt_function_starts starts;

	MT_CHECK(mt_function_starts_read(elf, NULL, &starts));
	MT_CHECK(starts.count <= frame.size / 8);
	for (size_t i = 1; i < starts.count; i++)
		MT_CHECK(starts.items[i - 1] <= starts.items[i]);
	mt_function_starts_deinit(&starts);
	mt_elf_destroy(elf);
}

MT_TEST(damaged_entries_do_no_harm)
{
	struct mt_span frame;

	make_entries();
	frame = cfi_span(&entries);
	for (size_t at = 0; at < 160; at++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			entries.bytes[at] ^= (uint8_t)(1u << bit);
			read_damaged(frame);
			entries.bytes[at] ^= (uint8_t)(1u << bit);
		}
	}
	for (frame.size = 1; frame.size < 160; frame.size++)
		read_damaged(frame);
}

MT_TEST(nothing_to_go_by)
{
	struct mt_elf *elf = make_file((struct mt_span){0}, (struct mt_span){0});
	struct mt_function_starts starts;

	MT_CHECK(mt_function_starts_read(elf, NULL, &starts));
	MT_CHECK_EQ(starts.count, 0);
	mt_function_starts_deinit(&starts);
	mt_elf_destroy(elf);
}

MT_TEST_MAIN
