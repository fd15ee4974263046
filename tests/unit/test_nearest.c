/* The nearest known word to a misspelled one. */
#include "formats/base/nearest.h"

#include <string.h>

#include "tests/unit/unit.h"

static const char *meant(const char *typed)
{
	static const char *const words[] = {"growth", "outstanding", "page-faults", "brk",
					    "mmap",   "mremap",	     "munmap"};
	struct mt_nearest nearest = {.typed = typed, .length = strlen(typed)};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		mt_nearest_offer(&nearest, words[i]);
	return nearest.best ? nearest.best : "";
}

MT_TEST(a_slip_is_recognised)
{
	MT_CHECK_STR(meant("growht"), "growth");
	MT_CHECK_STR(meant("grwth"), "growth");
	MT_CHECK_STR(meant("growths"), "growth");
	MT_CHECK_STR(meant("pagefaults"), "page-faults");
	MT_CHECK_STR(meant("page_fault"), "page-faults");
	MT_CHECK_STR(meant("bkr"), "brk");
}

MT_TEST(the_nearest_one_is_meant)
{
	MT_CHECK_STR(meant("mremmap"), "mremap");
	MT_CHECK_STR(meant("munnmap"), "munmap");
}

MT_TEST(what_is_like_none_means_none)
{
	MT_CHECK_STR(meant("nosuch"), "");
	MT_CHECK_STR(meant("x"), "");
	MT_CHECK_STR(meant(""), "");
	MT_CHECK_STR(meant("a-word-that-is-longer-than-every-option-that-there-could-be"), "");
}

MT_TEST(only_the_length_given_is_read)
{
	struct mt_nearest nearest = {.typed = "growht=3", .length = 6};

	mt_nearest_offer(&nearest, "growth");
	MT_CHECK_STR(nearest.best, "growth");
	MT_CHECK_EQ(nearest.distance, 1);
}

MT_TEST_MAIN
