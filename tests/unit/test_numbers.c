/* record/proc/numbers: strict numbers, lists and sizes. */
#include "record/proc/numbers.h"

#include <limits.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "tests/unit/unit.h"

static bool is_number(const char *text, uint64_t value)
{
	uint64_t got = ~value;

	return mt_parse_u64(text, &got) && got == value;
}

static bool is_no_number(const char *text)
{
	uint64_t got = 4711;

	return !mt_parse_u64(text, &got) && got == 4711;
}

MT_TEST(numbers_are_decimal_and_whole)
{
	MT_CHECK(is_number("0", 0));
	MT_CHECK(is_number("007", 7));
	MT_CHECK(is_number("18446744073709551615", UINT64_MAX));
	MT_CHECK(is_no_number("18446744073709551616"));
	MT_CHECK(is_no_number(""));
	MT_CHECK(is_no_number("-1"));
	MT_CHECK(is_no_number("+1"));
	MT_CHECK(is_no_number(" 1"));
	MT_CHECK(is_no_number("1 "));
	MT_CHECK(is_no_number("0x10"));
	MT_CHECK(is_no_number("1e3"));
}

/* The list as text: "1 2 5"; "!" if it is refused, "" for an empty one. */
static const char *listed(const char *text, int max)
{
	static char line[256];
	struct mt_number_list list = {0};
	struct mt_error *err = mt_parse_list("-p", text, max, &list);
	size_t used = 0;

	line[0] = '\0';
	for (size_t i = 0; i < list.count && used < sizeof(line) - 16; i++)
		used += (size_t)sprintf(line + used, "%s%d", i ? " " : "", list.items[i]);
	if (err)
		strcpy(line, err->kind == MT_ERR_USAGE ? "!" : "?");
	mt_error_destroy(err);
	mt_array_deinit(&list);
	return line;
}

MT_TEST(lists_have_numbers_and_ranges)
{
	MT_CHECK_STR(listed("3", INT_MAX), "3");
	MT_CHECK_STR(listed("3,1,2", INT_MAX), "3 1 2");
	MT_CHECK_STR(listed("0,5-7", INT_MAX), "0 5 6 7");
	MT_CHECK_STR(listed("5-5", INT_MAX), "5");
	MT_CHECK_STR(listed("2147483647", INT_MAX), "2147483647");
}

MT_TEST(each_number_is_listed_once)
{
	MT_CHECK_STR(listed("1,1,0-2,1", INT_MAX), "1 0 2");
}

MT_TEST(what_is_no_list)
{
	static const char *const bad[] = {"",
					  ",",
					  "1,",
					  "1,,2",
					  "-1",
					  "1-",
					  "2-1",
					  "1-2-3",
					  "a",
					  "1 ,2",
					  "1;2",
					  "2147483648",
					  "0-99999999999999999999"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!MT_CHECK_STR(listed(bad[i], INT_MAX), "!"))
			printf("# '%s'\n", bad[i]);
	}
	MT_CHECK_STR(listed("8", 7), "!");
	MT_CHECK_STR(listed("7", 7), "7");
}

MT_TEST(a_range_does_not_fill_the_memory)
{
	MT_CHECK_STR(listed("0-2147483647", INT_MAX), "!");
}

MT_TEST(a_long_range_is_quick)
{
	struct mt_number_list list = {0};

	MT_CHECK_OK(mt_parse_list("-C", "0-8191", MT_CPU_MAX, &list));
	MT_CHECK_EQ(list.count, 8192);
	mt_array_deinit(&list);
}

static size_t ring_size(const char *text)
{
	size_t size = 1;
	struct mt_error *err = mt_parse_ring_size(text, &size);
	bool refused = err && err->kind == MT_ERR_USAGE && size == 1;

	mt_error_destroy(err);
	return refused ? 0 : size;
}

MT_TEST(ring_sizes_are_pages_or_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	MT_CHECK_EQ(ring_size("1"), page);
	MT_CHECK_EQ(ring_size("512"), 512 * page);
	MT_CHECK_EQ(ring_size("64K"), 64 << 10);
	MT_CHECK_EQ(ring_size("64k"), 64 << 10);
	MT_CHECK_EQ(ring_size("64kB"), 64 << 10);
	MT_CHECK_EQ(ring_size("16MiB"), 16 << 20);
	MT_CHECK_EQ(ring_size("1G"), 1 << 30);
	MT_CHECK_EQ(ring_size("2G"), 1ll << 31);
	MT_CHECK_EQ(ring_size("65536B"), 65536);
}

MT_TEST(ring_sizes_become_powers_of_two_of_pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	MT_CHECK_EQ(ring_size("3"), 4 * page);
	MT_CHECK_EQ(ring_size("5M"), 8 << 20);
	MT_CHECK_EQ(ring_size("1B"), page);
	MT_CHECK_EQ(ring_size("1025M"), 1ll << 31);
}

MT_TEST(what_is_no_ring_size)
{
	static const char *const bad[] = {"",
					  "0",
					  "0M",
					  "-1",
					  "x",
					  "16X",
					  "16MM",
					  "M",
					  "3G",
					  "16M1",
					  " 1",
					  "16 M",
					  "16 ",
					  "99999999999999999999",
					  "18446744073709551615G",
					  "BB",
					  "1BB"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!MT_CHECK_EQ(ring_size(bad[i]), 0))
			printf("# '%s'\n", bad[i]);
	}
}

MT_TEST_MAIN
