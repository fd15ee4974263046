/* formats/base/cursor: reads stop at the end, and the cursor becomes bad. */
#include "formats/base/cursor.h"

#include "tests/unit/unit.h"

MT_TEST(fields_are_little_endian)
{
	const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	struct mt_cursor c = mt_cursor_init(bytes, sizeof(bytes));

	MT_CHECK_EQ(mt_cursor_u8(&c), 0x01);
	MT_CHECK_EQ(mt_cursor_u16(&c), 0x0302);
	MT_CHECK_EQ(mt_cursor_u32(&c), 0x07060504);
	MT_CHECK_EQ(mt_cursor_u64(&c), 0x0f0e0d0c0b0a0908);
	MT_CHECK_EQ(mt_cursor_left(&c), 0);
	MT_CHECK(!c.bad);
}

MT_TEST(a_read_past_the_end_gives_zero_and_stays_bad)
{
	const uint8_t bytes[] = {1, 2, 3};
	struct mt_cursor c = mt_cursor_init(bytes, sizeof(bytes));

	MT_CHECK_EQ(mt_cursor_u32(&c), 0);
	MT_CHECK(c.bad);
	MT_CHECK_EQ(mt_cursor_u8(&c), 0);
	MT_CHECK_EQ(mt_cursor_left(&c), 0);
	MT_CHECK(!mt_cursor_bytes(&c, 0));
}

MT_TEST(no_bytes_at_all)
{
	struct mt_cursor c = mt_cursor_init(NULL, 0);

	MT_CHECK_EQ(mt_cursor_left(&c), 0);
	mt_cursor_bytes(&c, 0);
	MT_CHECK(!c.bad);
	MT_CHECK(!mt_cursor_bytes(&c, 1));
	MT_CHECK(c.bad);
}

MT_TEST(a_huge_length_does_not_wrap)
{
	const uint8_t bytes[] = {1};
	struct mt_cursor c = mt_cursor_init(bytes, sizeof(bytes));

	MT_CHECK(!mt_cursor_bytes(&c, SIZE_MAX));
	MT_CHECK(c.bad);
}

MT_TEST(a_string_needs_its_nul)
{
	struct mt_cursor c = mt_cursor_init("ab\0cd", 5);

	MT_CHECK_STR(mt_cursor_cstring(&c), "ab");
	MT_CHECK_EQ(mt_cursor_left(&c), 2);
	MT_CHECK(!mt_cursor_cstring(&c));
	MT_CHECK(c.bad);
}

MT_TEST(a_sub_range_has_its_own_end)
{
	const uint8_t bytes[] = {1, 2, 3, 4};
	struct mt_cursor c = mt_cursor_init(bytes, sizeof(bytes));
	struct mt_cursor sub = mt_cursor_sub(&c, 2);

	MT_CHECK_EQ(mt_cursor_u16(&sub), 0x0201);
	MT_CHECK_EQ(mt_cursor_u8(&sub), 0);
	MT_CHECK(sub.bad && !c.bad);
	MT_CHECK_EQ(mt_cursor_u16(&c), 0x0403);
	MT_CHECK(mt_cursor_sub(&c, 1).bad && c.bad);
}

MT_TEST_MAIN
