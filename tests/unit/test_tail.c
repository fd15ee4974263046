/*
 * formats/base/tail: the number of equal words at the ends of two runs, and the words kept of the
 * last run.
 */
#include "formats/base/tail.h"

#include "tests/unit/unit.h"

MT_TEST(common_ends_are_counted_up_to_the_most)
{
	uint64_t a[40], b[40];

	for (size_t i = 0; i < 40; i++)
		a[i] = b[i] = i;
	for (size_t most = 0; most <= 40; most++)
		MT_CHECK_EQ(mt_tail_common(a + 40, b + 40, most), most);
	for (size_t at = 0; at < 40; at++) {
		b[at] = 99;
		MT_CHECK_EQ(mt_tail_common(a + 40, b + 40, 40), 39 - at);
		b[at] = at;
	}
}

static void check_is(const struct mt_tail *tail, const uint64_t *words, size_t count)
{
	MT_CHECK_EQ(tail->count, count);
	MT_CHECK(!count || !memcmp(tail->words + tail->capacity - count, words, count * 8));
}

MT_TEST(the_last_run_is_kept_whatever_of_it_was_there)
{
	const uint64_t first[] = {1, 2, 3, 4, 5, 6}, longer[] = {9, 9, 2, 3, 4, 5, 6},
		       other[] = {6, 7};
	struct mt_tail tail = {0};

	MT_REQUIRE(mt_tail_reserve(&tail, 0) && tail.words);
	MT_REQUIRE(mt_tail_reserve(&tail, 7));
	MT_CHECK_EQ(mt_tail_take(&tail, first, 6, 6), 0);
	check_is(&tail, first, 6);
	MT_CHECK_EQ(mt_tail_take(&tail, longer, 7, 7), 5);
	check_is(&tail, longer, 7);
	MT_CHECK_EQ(mt_tail_take(&tail, first, 6, 2), 2);
	check_is(&tail, first, 6);
	MT_CHECK_EQ(mt_tail_take(&tail, other, 2, 2), 0);
	check_is(&tail, other, 2);
	MT_CHECK_EQ(mt_tail_take(&tail, other + 1, 1, 1), 1);
	MT_CHECK_EQ(mt_tail_take(&tail, other, 0, 0), 0);
	MT_CHECK_EQ(mt_tail_take(&tail, other, 2, 2), 0);
	MT_REQUIRE(mt_tail_reserve(&tail, 1000));
	MT_CHECK_EQ(tail.count, 0);
	MT_CHECK_EQ(mt_tail_take(&tail, other, 2, 2), 0);
	mt_tail_deinit(&tail);
}

MT_TEST_MAIN
