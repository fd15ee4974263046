/*
 * Units of this program: units with code at the given places are kept and give the same lines as
 * the file.
 */
#include "symbols/carried/skeleton_parts.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "symbols/carried/seen_code.h"
#include "symbols/carried/skeleton.h"
#include "symbols/elf/elf.h"
#include "symbols/lines/lines.h"
#include "tests/unit/elf_builder.h"
#include "tests/unit/unit.h"

MT_DEFINE_CLEANUP(mt_lines, struct mt_lines)

static uint64_t address_of(struct mt_elf *elf, const char *name)
{
	struct mt_elf_symbol symbol;

	for (size_t i = 0; i < mt_elf_symbol_count(elf, false); i++) {
		if (mt_elf_symbol(elf, false, i, &symbol) && !strcmp(symbol.name, name))
			return symbol.value;
	}
	return 0;
}

static bool same_frames(struct mt_lines *a, struct mt_lines *b, uint64_t at)
{
	struct mt_lines_frame x[MT_LINES_DEPTH], y[MT_LINES_DEPTH];
	size_t count = mt_lines_find(a, at, x);

	if (count != mt_lines_find(b, at, y) || !count)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(x[i].name ? x[i].name : "", y[i].name ? y[i].name : "") != 0 ||
		    strcmp(x[i].file ? x[i].file : "", y[i].file ? y[i].file : "") != 0 ||
		    x[i].line != y[i].line)
			return false;
	}
	return true;
}

MT_TEST(units_at_places_say_what_the_file_says_and_others_are_left_out)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *carried = NULL;
	MT_CLEANUP(mt_lines_destroy_p) struct mt_lines *lines = NULL;
	MT_CLEANUP(mt_lines_destroy_p) struct mt_lines *kept = NULL;
	MT_CLEANUP_FREE uint8_t *bytes = NULL;
	uint64_t unit, at;
	struct mt_seen_code seen = {&unit, 1};
	struct mt_skeleton_wish wish = {.lines = true, .seen = &seen};
	size_t size;

	MT_REQUIRE(!mt_elf_open_file("/proc/self/exe", &elf));
	if (!mt_elf_find_section(elf, ".debug_aranges"))
		MT_SKIP("this compiler writes no .debug_aranges");
	at = address_of(elf, "mt_lines_find");
	MT_REQUIRE(at);
	unit = (at + 64) & ~(uint64_t)(MT_SEEN_UNIT - 1);
	MT_REQUIRE(!mt_skeleton_make(elf, NULL, &wish, &bytes, &size));
	MT_REQUIRE(!mt_elf_open_skeleton(bytes, size, "skeleton", &carried));
	MT_CHECK(mt_elf_section(carried, ".debug_info").size > 0);
	MT_CHECK(mt_elf_section(carried, ".debug_info").size <
		 mt_elf_section(elf, ".debug_info").size / 4);
	MT_CHECK(!mt_elf_section(carried, ".debug_loclists").bytes);
	MT_REQUIRE(!mt_lines_create(elf, elf, NULL, &lines) && lines);
	MT_REQUIRE(!mt_lines_create(elf, carried, NULL, &kept) && kept);
	for (uint64_t i = 0; i < MT_SEEN_UNIT; i++)
		MT_CHECK(same_frames(lines, kept, unit + i));
	MT_CHECK(!mt_lines_problem(kept));
}

/* ---- Made units ---- */

static struct elf_builder builder;
static uint8_t info[256], ranges[256];
static size_t info_size, ranges_size;

static void put(uint8_t *to, size_t *size, uint64_t value, size_t width)
{
	memcpy(to + *size, &value, width);
	*size += width;
}

/* Adds a unit of `fill` bytes with code at `start`. */
static void add_unit(uint8_t fill, uint64_t start)
{
	put(ranges, &ranges_size, 44, 4);
	put(ranges, &ranges_size, 2, 2);
	put(ranges, &ranges_size, info_size, 4);
	put(ranges, &ranges_size, 8, 2);
	put(ranges, &ranges_size, 0, 4);
	put(ranges, &ranges_size, start, 8);
	put(ranges, &ranges_size, 0x100, 8);
	put(ranges, &ranges_size, 0, 8);
	put(ranges, &ranges_size, 0, 8);
	put(info, &info_size, fill, 4);
	memset(info + info_size, fill, fill);
	info_size += fill;
}

static void prune(const void *abbrev, size_t abbrev_size, struct mt_made_bytes *out, bool *all)
{
	uint64_t unit = 0x1010;
	struct mt_seen_code seen = {&unit, 1};
	struct mt_elf *elf = NULL;

	builder_init(&builder, ET_DYN);
	builder_add_section(&builder, ".debug_info", SHT_PROGBITS, 0, info, info_size);
	builder_add_section(&builder, ".debug_abbrev", SHT_PROGBITS, 0, abbrev, abbrev_size);
	builder_add_section(&builder, ".debug_aranges", SHT_PROGBITS, 0, ranges, ranges_size);
	builder_finish(&builder);
	MT_REQUIRE(!mt_elf_open_memory(builder.bytes, builder.size, "made", &elf));
	MT_CHECK(mt_pruned_debug_info_make(elf, &seen, NULL, out, all));
	mt_elf_destroy(elf);
}

static const uint8_t plain[] = {1, 0x11, 0, 0x10, 0x17, 0, 0, 0};
static const uint8_t referring[] = {1, 0x11, 0, 0x31, 0x10, 0, 0, 0};

static void make_units(void)
{
	info_size = ranges_size = 0;
	add_unit(20, 0x1000);
	add_unit(30, 0x1000); /* the same function: the last one counts */
	add_unit(40, 0x3000);
}

MT_TEST(of_units_that_have_a_function_in_common_the_last_is_kept)
{
	struct mt_made_bytes out = {0};
	bool all = true;

	make_units();
	prune(plain, sizeof(plain), &out, &all);
	MT_CHECK(!all);
	MT_CHECK_EQ(out.count, 34);
	MT_CHECK(out.count && out.items[0] == 30);
	free(out.items);
}

MT_TEST(units_that_refer_to_each_other_are_all_kept)
{
	struct mt_made_bytes out = {0};
	bool all = false;

	make_units();
	prune(referring, sizeof(referring), &out, &all);
	MT_CHECK(all);
	free(out.items);
}

MT_TEST(damaged_tables_leave_all_as_it_is)
{
	for (size_t cut = 1; cut < 48; cut++) {
		struct mt_made_bytes out = {0};
		bool all = false;

		make_units();
		ranges_size -= cut;
		prune(plain, sizeof(plain), &out, &all);
		MT_CHECK(all);
		free(out.items);
	}
}

MT_TEST_MAIN
