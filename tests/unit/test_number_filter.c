/* symbols/tables/number_filter: what is in the set passes, of the rest little does. */
#include "symbols/tables/number_filter.h"

#include "tests/unit/unit.h"

#define COUNT 1000

MT_TEST(what_is_in_it_passes)
{
	struct mt_number_filter filter;
	uint64_t numbers[COUNT];
	size_t passed = 0;

	for (size_t i = 0; i < COUNT; i++)
		numbers[i] = 0x401000 + i * 48;
	MT_CHECK(mt_number_filter_init(&filter, numbers, COUNT));
	for (size_t i = 0; i < COUNT; i++)
		MT_CHECK(mt_number_filter_may_have(&filter, numbers[i]));
	for (uint64_t number = 0x800000; number < 0x800000 + 64000; number++)
		passed += mt_number_filter_may_have(&filter, number);
	MT_CHECK(passed < 64000 / MT_FILTER_SPARE * 2);
	mt_number_filter_deinit(&filter);
}

MT_TEST(of_none_none_passes)
{
	struct mt_number_filter filter;

	MT_CHECK(mt_number_filter_init(&filter, NULL, 0));
	for (uint64_t number = 0; number < 1000; number++)
		MT_CHECK(!mt_number_filter_may_have(&filter, number));
	mt_number_filter_deinit(&filter);
}

MT_TEST_MAIN
