/* Tables of abbreviations: how entries are stepped over, and tables that no compiler writes. */
#include "formats/base/err.h"
#include "symbols/dwarf.h"
#include "tests/unit/unit.h"

static const struct mt_abbrev_sizes sizes = {.address = 8, .offset = 4, .ref_addr = 4};

/* The table that these bytes are; NULL where they are none. */
static struct mt_abbrevs *table_of(const uint8_t *bytes, size_t size)
{
	const struct mt_span span = {.bytes = bytes, .size = size};
	struct mt_abbrevs *table = NULL;

	mt_error_destroy(mt_abbrevs_read(&span, 0, &sizes, &table));
	return table;
}

MT_TEST(values_of_known_size_are_one_step)
{
	static const uint8_t bytes[] = {1,
					DW_TAG_lexical_block,
					1, /* code, tag, children */
					DW_AT_low_pc,
					DW_FORM_addr,
					DW_AT_high_pc,
					DW_FORM_data8,
					DW_AT_abstract_origin,
					DW_FORM_ref4,
					DW_AT_call_line,
					DW_FORM_udata,
					DW_AT_call_file,
					DW_FORM_data1,
					DW_AT_sibling,
					DW_FORM_ref4,
					0,
					0,
					2,
					DW_TAG_array_type,
					0,
					0,
					0,
					0};
	struct mt_abbrevs *table = table_of(bytes, sizeof(bytes));
	const struct mt_abbrev *block, *array;

	MT_REQUIRE(table);
	block = mt_abbrevs_find(table, 1);
	array = mt_abbrevs_find(table, 2);
	MT_REQUIRE(block && array);
	MT_CHECK_EQ(block->skip.bytes, 8 + 8 + 4);
	MT_CHECK_EQ(block->skip.form, DW_FORM_udata);
	MT_CHECK_EQ(block->skip_count, 1);
	MT_CHECK_EQ(table->skips.items[block->first_skip].bytes, 1 + 4);
	MT_CHECK(block->has_children && block->ends_in_sibling);
	MT_CHECK(block->wanted & MT_WALK_ASKED && !(block->wanted & MT_WALK_TABLE));
	MT_CHECK(array->leaf && !array->skip.bytes);
	MT_CHECK(!mt_abbrevs_find(table, 0) && !mt_abbrevs_find(table, 3));
	mt_abbrevs_destroy(table);
}

MT_TEST(a_function_without_attributes_is_read)
{
	static const uint8_t bytes[] = {1, DW_TAG_inlined_subroutine, 0, 0, 0, 0};
	struct mt_abbrevs *table = table_of(bytes, sizeof(bytes));

	MT_REQUIRE(table);
	MT_CHECK_EQ(mt_abbrevs_find(table, 1)->count, 0);
	mt_abbrevs_destroy(table);
}

MT_TEST(what_is_cut_short_is_no_table)
{
	static const uint8_t bytes[] = {1, DW_TAG_subprogram, 0, DW_AT_low_pc, DW_FORM_addr, 0, 0};

	for (size_t size = 0; size <= sizeof(bytes); size++)
		MT_CHECK(!table_of(bytes, size));
}

MT_TEST_MAIN
