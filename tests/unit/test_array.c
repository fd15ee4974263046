/* formats/base/array: values and runs of values are appended, and a refusal changes nothing. */
#include "formats/base/array.h"

#include <stdint.h>

#include "tests/unit/unit.h"

struct pair {
	int a, b;
};

MT_TEST(a_value_is_appended_after_the_others)
{
	MT_ARRAY(struct pair) pairs = {0};

	for (int i = 0; i < 20; i++)
		MT_CHECK(mt_array_append(&pairs, (struct pair){i, (int)pairs.count}));
	MT_CHECK_EQ(pairs.count, 20);
	MT_CHECK_EQ(pairs.items[19].a, 19);
	MT_CHECK_EQ(pairs.items[19].b, 19);
	mt_array_deinit(&pairs);
}

MT_TEST(a_run_is_appended_whole)
{
	MT_ARRAY(char) text = {0};
	const char *volatile none = NULL;

	MT_CHECK(mt_array_extend(&text, none, 0));
	MT_CHECK_EQ(text.count, 0);
	MT_CHECK(mt_array_extend(&text, "ab", 2) && mt_array_extend(&text, "cdefghijklm", 12));
	MT_CHECK_EQ(text.count, 14);
	MT_CHECK(!strcmp(text.items, "abcdefghijklm"));
	mt_array_deinit(&text);
}

MT_TEST(a_run_that_does_not_fit_changes_nothing)
{
	MT_ARRAY(uint64_t) numbers = {0};
	const uint64_t one = 1;

	MT_CHECK(mt_array_append(&numbers, 7));
	MT_CHECK(!mt_array_extend(&numbers, &one, SIZE_MAX / 4));
	MT_CHECK_EQ(numbers.count, 1);
	MT_CHECK_EQ(numbers.items[0], 7);
	mt_array_deinit(&numbers);
}

MT_TEST_MAIN
