/* report/tables/byte_runs, groups and table: interning, summing, finding columns. */
#include "formats/base/strings.h"
#include "report/sums/sum_table.h"
#include "report/tables/byte_runs.h"
#include "report/tables/table.h"
#include "tests/unit/unit.h"

MT_TEST(equal_runs_have_one_id_and_stay_where_they_are)
{
	struct mt_byte_runs *s = mt_byte_runs_create();
	const void *first;
	size_t size;

	MT_REQUIRE(s);
	MT_CHECK_EQ(mt_byte_runs_intern(s, "abc", 3), 0);
	MT_CHECK_EQ(mt_byte_runs_intern(s, "", 0), 1);
	first = mt_byte_runs_get(s, 0, &size);
	for (uint32_t i = 0; i < 100000; i++) {
		if (mt_byte_runs_intern(s, &i, sizeof(i)) != i + 2)
			MT_CHECK_EQ(i, -1);
	}
	MT_CHECK_EQ(mt_byte_runs_intern(s, "abc", 3), 0);
	MT_CHECK_EQ(mt_byte_runs_intern(s, NULL, 0), 1);
	MT_CHECK(mt_byte_runs_get(s, 0, &size) == first);
	MT_CHECK_EQ(size, 3);
	MT_CHECK(!memcmp(first, "abc", 3));
	MT_CHECK_EQ(mt_byte_runs_count(s), 100002);
	mt_byte_runs_clear(s);
	MT_CHECK_EQ(mt_byte_runs_count(s), 0);
	MT_CHECK_EQ(mt_byte_runs_intern(s, "other", 5), 0);
	mt_byte_runs_destroy(s);
}

MT_TEST(a_run_larger_than_a_block_is_kept)
{
	struct mt_byte_runs *s = mt_byte_runs_create();
	static uint8_t large[1 << 20];
	size_t size;

	MT_REQUIRE(s);
	large[sizeof(large) - 1] = 7;
	MT_CHECK_EQ(mt_byte_runs_intern(s, large, sizeof(large)), 0);
	MT_CHECK_EQ(mt_byte_runs_intern(s, "x", 1), 1);
	MT_CHECK(!memcmp(mt_byte_runs_get(s, 0, &size), large, sizeof(large)));
	MT_CHECK_EQ(size, sizeof(large));
	mt_byte_runs_destroy(s);
}

static const struct mt_key_column keys[] = {{"event", MT_KEY_STRING}, {"stack", MT_KEY_STACK}};
static const struct mt_value_column values[] = {{"count", "samples"}, {"bytes", "B"}};

static struct mt_sum_table *make_groups(struct mt_strings *strings)
{
	struct mt_table shape = {.name = "test",
				 .keys = keys,
				 .key_count = 2,
				 .values = values,
				 .value_count = 2,
				 .strings = strings};

	return mt_sum_table_create(&shape);
}

static void add(struct mt_sum_table *groups, uint64_t event, uint64_t stack, double bytes)
{
	uint64_t key[] = {event, stack};
	struct mt_value value[] = {mt_value_exact(1),
				   {.value = bytes, .low = bytes - 1, .high = bytes + 2}};

	mt_sum_table_add(groups, key, value);
}

MT_TEST(rows_with_equal_keys_are_summed)
{
	struct mt_strings *strings = mt_strings_create();
	struct mt_sum_table *groups = make_groups(strings);
	struct mt_table *table;
	struct mt_row row;
	bool more;

	MT_REQUIRE(strings && groups);
	add(groups, 1, 7, 100);
	add(groups, 2, 7, 10);
	add(groups, 1, 7, 50);
	table = mt_sum_table_table(groups);
	for (int pass = 0; pass < 2; pass++) {
		MT_CHECK_OK(mt_table_rewind(table));
		MT_CHECK_OK(mt_table_next(table, &row, &more));
		MT_REQUIRE(more);
		MT_CHECK_EQ(row.keys[0], 1);
		MT_CHECK_EQ(row.values[0].value, 2);
		MT_CHECK_EQ(row.values[1].value, 150);
		MT_CHECK_EQ(row.values[1].low, 148);
		MT_CHECK_EQ(row.values[1].high, 154);
		MT_CHECK_OK(mt_table_next(table, &row, &more));
		MT_CHECK(more);
		MT_CHECK_OK(mt_table_next(table, &row, &more));
		MT_CHECK(!more);
	}
	mt_table_destroy(table);
	mt_strings_destroy(strings);
}

MT_TEST(columns_are_found_by_name_and_kind)
{
	struct mt_strings *strings = mt_strings_create();
	struct mt_table *table = mt_sum_table_table(make_groups(strings));
	uint64_t key[] = {mt_strings_intern(strings, "brk", 3), 0};
	struct mt_row row = {.keys = key};

	MT_CHECK_EQ(mt_table_key(table, "stack"), 1);
	MT_CHECK_EQ(mt_table_key(table, "comm"), MT_COLUMN_NONE);
	MT_CHECK_EQ(mt_table_key_of_kind(table, MT_KEY_STACK), 1);
	MT_CHECK_EQ(mt_table_key_of_kind(table, MT_KEY_TIME), MT_COLUMN_NONE);
	MT_CHECK_EQ(mt_table_value(table, "bytes"), 1);
	MT_CHECK_EQ(mt_table_value(table, "pages"), MT_COLUMN_NONE);
	MT_CHECK_STR(mt_table_string(table, &row, 0), "brk");
	MT_CHECK_STR(mt_table_string(table, &row, MT_COLUMN_NONE), "");
	mt_table_destroy(table);
	mt_strings_destroy(strings);
}

MT_TEST_MAIN
