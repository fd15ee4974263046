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

/* How entries of a code are stepped over, checked against what is said of them. */
static void check_step(const struct mt_abbrevs *table, uint8_t code, struct mt_abbrev_step want)
{
	const struct mt_abbrev_step *step = &table->steps[code];

	MT_CHECK_EQ(step->bytes, want.bytes);
	MT_CHECK_EQ(step->varies, want.varies);
	MT_CHECK_EQ(step->behind, want.behind);
	MT_CHECK_EQ(step->is_function, want.is_function);
	MT_CHECK_EQ(step->plain & MT_WALK_ALL, want.plain);
	MT_CHECK_EQ(step->jumps & MT_WALK_ALL, want.jumps);
	MT_CHECK_EQ(step->opens & MT_WALK_ALL, want.opens);
	MT_CHECK_EQ(step->wanted & MT_WALK_ALL, want.wanted);
}

MT_TEST(steps_tell_how_to_go_on)
{
	enum {
		NOT_WANTED = MT_WALK_OUTLINE | MT_WALK_NESTED | MT_WALK_LOCAL
	};
	static const uint8_t bytes[] = {/* code, tag, children, attributes */
					1,
					0x24,
					0,
					DW_AT_name,
					DW_FORM_strp,
					0x0b,
					DW_FORM_data1,
					0,
					0, /* base type */
					2,
					DW_TAG_structure_type,
					1,
					DW_AT_name,
					DW_FORM_strp,
					DW_AT_sibling,
					DW_FORM_ref4,
					0,
					0, /* a structure */
					3,
					0x34,
					0,
					DW_AT_name,
					DW_FORM_strp,
					0x02,
					DW_FORM_exprloc,
					0x49,
					DW_FORM_ref4,
					0,
					0, /* a variable */
					4,
					0x0d,
					0,
					DW_AT_name,
					DW_FORM_string,
					0,
					0, /* a member */
					5,
					DW_TAG_subprogram,
					1,
					DW_AT_name,
					DW_FORM_strp,
					0,
					0, /* a function elsewhere */
					6,
					0x34,
					0,
					0x02,
					DW_FORM_exprloc,
					0x0b,
					DW_FORM_udata,
					0,
					0, /* two that vary */
					7,
					0x34,
					0,
					DW_AT_name,
					DW_FORM_udata,
					0,
					0, /* of a form that is not looked at */
					0};
	struct mt_abbrevs *table = table_of(bytes, sizeof(bytes));
	uint8_t closed = MT_WALK_OUTLINE | MT_WALK_LOCAL;

	MT_REQUIRE(table);
	check_step(table, 0, (struct mt_abbrev_step){.bytes = 1});
	check_step(table, 1, (struct mt_abbrev_step){.bytes = 6, .plain = MT_WALK_ALL});
	check_step(table, 2,
		   (struct mt_abbrev_step){
			   .bytes = 9, .jumps = closed, .opens = MT_WALK_ALL & ~closed});
	check_step(table, 3,
		   (struct mt_abbrev_step){.bytes = 5, .varies = MT_VARIES_BLOCK, .behind = 4});
	check_step(table, 4, (struct mt_abbrev_step){.bytes = 1, .varies = MT_VARIES_STRING});
	check_step(table, 5,
		   (struct mt_abbrev_step){.bytes = 5,
					   .is_function = true,
					   .opens = NOT_WANTED,
					   .wanted = MT_WALK_TABLE | MT_WALK_ASKED});
	check_step(table, 6, (struct mt_abbrev_step){0});
	check_step(table, 7, (struct mt_abbrev_step){0});
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
