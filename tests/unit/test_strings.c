/*
 * formats/base/strings and array: each distinct string is stored once; ids are in order of first
 * use.
 */
#include "formats/base/strings.h"

#include <stdlib.h>

#include "formats/base/array.h"
#include "tests/unit/unit.h"

MT_TEST(the_empty_string_is_id_0)
{
	struct mt_strings *strings = mt_strings_create();

	MT_REQUIRE(strings);
	MT_CHECK_EQ(mt_strings_intern(strings, "", 0), 0);
	MT_CHECK_STR(mt_strings_get(strings, 0), "");
	MT_CHECK_EQ(mt_strings_count(strings), 1);
	mt_strings_destroy(strings);
}

MT_TEST(the_same_bytes_have_the_same_id)
{
	struct mt_strings *strings = mt_strings_create();
	uint32_t malloc_id;

	MT_REQUIRE(strings);
	malloc_id = mt_strings_intern(strings, "malloc", 6);
	MT_CHECK_EQ(malloc_id, 1);
	MT_CHECK_EQ(mt_strings_intern(strings, "malloc_usable_size", 6), malloc_id);
	MT_CHECK_EQ(mt_strings_intern(strings, "mallo", 5), 2);
	MT_CHECK_STR(mt_strings_get(strings, malloc_id), "malloc");
	mt_strings_destroy(strings);
}

MT_TEST(many_and_long_strings_stay_where_they_are)
{
	struct mt_strings *strings = mt_strings_create();
	const char *first;
	char *longer = calloc(1, 200001);
	size_t wrong = 0;
	char name[32];

	MT_REQUIRE(strings && longer);
	memset(longer, 'x', 200000);
	first = mt_strings_get(strings, mt_strings_intern(strings, "first", 5));
	for (uint32_t i = 0; i < 20000; i++) {
		int n = snprintf(name, sizeof(name), "name %u", i);

		wrong += mt_strings_intern(strings, name, (size_t)n) != i + 2;
	}
	MT_CHECK_STR(mt_strings_get(strings, mt_strings_intern(strings, longer, 200000)), longer);
	MT_CHECK_STR(mt_strings_get(strings, 2 + 12345), "name 12345");
	MT_CHECK_EQ(wrong, 0);
	MT_CHECK(mt_strings_get(strings, 1) == first);
	mt_strings_destroy(strings);
	free(longer);
}

MT_TEST(an_array_grows_and_its_new_elements_are_zero)
{
	MT_ARRAY(int) numbers = {0};
	int sum = 0;

	for (int i = 0; i < 1000; i++) {
		int *number = mt_array_push(&numbers);

		MT_REQUIRE(number);
		sum += *number;
		*number = i;
	}
	MT_CHECK_EQ(sum, 0);
	MT_CHECK_EQ(numbers.count, 1000);
	MT_CHECK_EQ(numbers.items[999], 999);
	mt_array_deinit(&numbers);
	MT_CHECK(!numbers.items && !numbers.count);
}

MT_TEST(an_array_that_cannot_grow_stays_as_it_was)
{
	MT_ARRAY(uint64_t) numbers = {0};

	MT_REQUIRE(mt_array_push(&numbers));
	MT_CHECK(!mt_array_reserve(&numbers, SIZE_MAX / 4));
	MT_CHECK_EQ(numbers.count, 1);
	mt_array_deinit(&numbers);
}

MT_TEST_MAIN
