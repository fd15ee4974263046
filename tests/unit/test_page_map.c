/* Who holds each page: given, taken, moved, over the bounds of blocks. */
#include "report/ledger/page_map.h"

#include "tests/unit/unit.h"

struct taken {
	uint64_t count, sum;
	uint32_t last;
};

static bool count(void *context, uint64_t page, uint32_t holder)
{
	struct taken *taken = context;

	taken->count++;
	taken->sum += page;
	taken->last = holder;
	return true;
}

static bool refuse(void *context, uint64_t page, uint32_t holder)
{
	(void)page, (void)holder;
	return ++*(int *)context < 3;
}

static void give(struct mt_page_map *map, uint64_t first, uint64_t pages, uint32_t holder)
{
	for (uint64_t i = 0; i < pages; i++)
		MT_CHECK(mt_page_map_set(map, first + i, holder));
}

MT_TEST(a_page_has_the_holder_that_it_was_given_last)
{
	struct mt_page_map map = {0};

	MT_CHECK_EQ(mt_page_map_get(&map, 7), 0);
	MT_CHECK(mt_page_map_set(&map, 7, 1));
	MT_CHECK(mt_page_map_set(&map, 7, 2));
	MT_CHECK_EQ(mt_page_map_get(&map, 7), 2);
	MT_CHECK_EQ(mt_page_map_get(&map, 8), 0);
	MT_CHECK(mt_page_map_set(&map, 7, 0));
	MT_CHECK_EQ(mt_page_map_get(&map, 7), 0);
	MT_CHECK(mt_page_map_set(&map, UINT64_MAX >> 12, 3));
	MT_CHECK_EQ(mt_page_map_get(&map, UINT64_MAX >> 12), 3);
	mt_page_map_deinit(&map);
}

MT_TEST(a_range_is_cleared_and_no_more)
{
	struct mt_page_map map = {0};
	struct taken taken = {0};

	give(&map, 500, 1000, 5);
	MT_CHECK(mt_page_map_clear(&map, 510, 1490, count, &taken));
	MT_CHECK_EQ(taken.count, 980);
	MT_CHECK_EQ(taken.sum, (510 + 1489) * 980 / 2);
	MT_CHECK_EQ(taken.last, 5);
	MT_CHECK_EQ(mt_page_map_get(&map, 509), 5);
	MT_CHECK_EQ(mt_page_map_get(&map, 510), 0);
	MT_CHECK_EQ(mt_page_map_get(&map, 1489), 0);
	MT_CHECK_EQ(mt_page_map_get(&map, 1490), 5);
	MT_CHECK(mt_page_map_clear(&map, 5, 5, count, &taken));
	MT_CHECK_EQ(taken.count, 980);
	mt_page_map_deinit(&map);
}

/* As long as all of an address space: what is there counts, not how long the range is. */
MT_TEST(a_range_may_be_very_long)
{
	struct mt_page_map map = {0};
	struct taken taken = {0};

	give(&map, 1, 3, 1);
	give(&map, 1ull << 35, 600, 2);
	MT_CHECK(mt_page_map_clear(&map, 2, 1ull << 52, count, &taken));
	MT_CHECK_EQ(taken.count, 602);
	MT_CHECK_EQ(mt_page_map_get(&map, 1), 1);
	MT_CHECK_EQ(map.blocks.count, 1);
	mt_page_map_deinit(&map);
}

MT_TEST(clearing_stops_where_it_is_told_to)
{
	struct mt_page_map map = {0};
	int calls = 0;

	give(&map, 0, 10, 1);
	MT_CHECK(!mt_page_map_clear(&map, 0, 10, refuse, &calls));
	MT_CHECK_EQ(calls, 3);
	mt_page_map_deinit(&map);
}

MT_TEST(pages_move_with_their_holders)
{
	struct mt_page_map map = {0};

	give(&map, 100, 700, 1);
	give(&map, 300, 1, 9);
	MT_CHECK(mt_page_map_move(&map, 200, 5001, 400));
	MT_CHECK_EQ(mt_page_map_get(&map, 199), 1);
	MT_CHECK_EQ(mt_page_map_get(&map, 200), 0);
	MT_CHECK_EQ(mt_page_map_get(&map, 599), 0);
	MT_CHECK_EQ(mt_page_map_get(&map, 600), 1);
	MT_CHECK_EQ(mt_page_map_get(&map, 5001), 1);
	MT_CHECK_EQ(mt_page_map_get(&map, 5101), 9);
	MT_CHECK_EQ(mt_page_map_get(&map, 5400), 1);
	MT_CHECK_EQ(mt_page_map_get(&map, 5401), 0);
	mt_page_map_deinit(&map);
}

MT_TEST_MAIN
