/* rivals: functions by the places where they were seen. */
#include "unwind/rivals.h"

#include "tests/unit/unit.h"

static size_t count_of(const struct mt_rivals *rivals, uint64_t place)
{
	const struct mt_rival *rival = mt_rivals_first(rivals, place);
	size_t n = 0;

	for (; rival; rival = mt_rivals_next(rivals, rival))
		n++;
	return n;
}

MT_TEST(each_function_of_a_place_is_there_once)
{
	struct mt_rivals rivals = {0};
	const struct mt_rival *rival;

	MT_CHECK(!mt_rivals_first(&rivals, 1));
	for (int round = 0; round < 2; round++) {
		MT_CHECK(mt_rivals_learn(&rivals, 1, 7, 0x1000));
		MT_CHECK(mt_rivals_learn(&rivals, 2, 7, 0x3000));
		MT_CHECK(mt_rivals_learn(&rivals, 1, 8, 0x1000)); /* of another image */
		MT_CHECK(mt_rivals_learn(&rivals, 1, 7, 0x2000));
	}
	MT_CHECK_EQ(count_of(&rivals, 1), 3);
	MT_CHECK_EQ(count_of(&rivals, 2), 1);
	MT_CHECK_EQ(count_of(&rivals, 3), 0);
	rival = mt_rivals_first(&rivals, 1);
	MT_CHECK(rival->image == 7 && rival->vaddr == 0x1000);
	rival = mt_rivals_next(&rivals, rival);
	MT_CHECK(rival->image == 8 && rival->vaddr == 0x1000);
	mt_rivals_deinit(&rivals);
	MT_CHECK_EQ(count_of(&rivals, 1), 0);
}

MT_TEST(the_first_of_many_are_kept)
{
	struct mt_rivals rivals = {0};

	for (uint64_t i = 0; i < 1000; i++)
		MT_CHECK(mt_rivals_learn(&rivals, 1, 7, i));
	MT_CHECK_EQ(count_of(&rivals, 1), 16);
	for (uint64_t i = 0; i < 300000; i++)
		MT_CHECK(mt_rivals_learn(&rivals, 2 + i, 7, i));
	MT_CHECK_EQ(rivals.all.count, 1 << 18);
	mt_rivals_deinit(&rivals);
}

MT_TEST_MAIN
