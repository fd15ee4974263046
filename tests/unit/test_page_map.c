/* The holder of each page: pages are given, taken and moved, across the bounds of blocks. */
#include "report/residence/page_map.h"

#include "tests/unit/unit.h"

struct taken {
	uint64_t count, sum;
	uint32_t last;
};

static void count(void *context, uint64_t page, uint64_t pages, uint32_t holder)
{
	struct taken *taken = context;

	taken->count += pages;
	taken->sum += (page + page + pages - 1) * pages / 2;
	taken->last = holder;
}

/* Returns 0 if the page has no holder. */
static uint32_t holder_of(const struct mt_page_map *map, uint64_t page)
{
	const struct mt_page_run *run = mt_page_map_after(map, page);

	return run && run->first <= page ? run->holder : 0;
}

static void give(struct mt_page_map *map, uint64_t first, uint64_t pages, uint32_t holder)
{
	struct taken taken = {0};

	mt_page_map_clear(map, first, first + pages, count, &taken);
	MT_CHECK_EQ(mt_page_map_fill(map, first, first + pages, pages, holder), pages);
}

MT_TEST(a_page_has_the_holder_that_it_was_given_last)
{
	struct mt_page_map map = {0};
	struct taken taken = {0};

	MT_CHECK_EQ(holder_of(&map, 7), 0);
	give(&map, 7, 1, 1);
	give(&map, 7, 1, 2);
	MT_CHECK_EQ(holder_of(&map, 6), 0);
	MT_CHECK_EQ(holder_of(&map, 7), 2);
	MT_CHECK_EQ(holder_of(&map, 8), 0);
	mt_page_map_clear(&map, 7, 8, count, &taken);
	MT_CHECK_EQ(holder_of(&map, 7), 0);
	give(&map, UINT64_MAX >> 12, 1, 3);
	MT_CHECK_EQ(holder_of(&map, UINT64_MAX >> 12), 3);
	mt_page_map_deinit(&map);
}

MT_TEST(a_range_is_cleared_and_no_more)
{
	struct mt_page_map map = {0};
	struct taken taken = {0};

	give(&map, 500, 1000, 5);
	mt_page_map_clear(&map, 510, 1490, count, &taken);
	MT_CHECK_EQ(taken.count, 980);
	MT_CHECK_EQ(taken.sum, (510 + 1489) * 980 / 2);
	MT_CHECK_EQ(taken.last, 5);
	MT_CHECK_EQ(holder_of(&map, 509), 5);
	MT_CHECK_EQ(holder_of(&map, 510), 0);
	MT_CHECK_EQ(holder_of(&map, 1489), 0);
	MT_CHECK_EQ(holder_of(&map, 1490), 5);
	mt_page_map_clear(&map, 5, 5, count, &taken);
	MT_CHECK_EQ(taken.count, 980);
	mt_page_map_deinit(&map);
}

/* Ranges as long as the address space: the cost depends on the pages present, not on the length. */
MT_TEST(a_range_may_be_very_long)
{
	struct mt_page_map map = {0};
	struct taken taken = {0};

	give(&map, 1, 3, 1);
	give(&map, 1ull << 35, 600, 2);
	mt_page_map_clear(&map, 2, 1ull << 52, count, &taken);
	MT_CHECK_EQ(taken.count, 602);
	MT_CHECK_EQ(holder_of(&map, 1), 1);
	MT_CHECK_EQ(map.leaves.count, 1);
	mt_page_map_deinit(&map);
}

MT_TEST(pages_move_with_their_holders)
{
	struct mt_page_map map = {0};

	give(&map, 100, 700, 1);
	give(&map, 300, 1, 9);
	mt_page_map_move(&map, 200, 5001, 400);
	MT_CHECK_EQ(holder_of(&map, 199), 1);
	MT_CHECK_EQ(holder_of(&map, 200), 0);
	MT_CHECK_EQ(holder_of(&map, 599), 0);
	MT_CHECK_EQ(holder_of(&map, 600), 1);
	MT_CHECK_EQ(holder_of(&map, 5001), 1);
	MT_CHECK_EQ(holder_of(&map, 5101), 9);
	MT_CHECK_EQ(holder_of(&map, 5400), 1);
	MT_CHECK_EQ(holder_of(&map, 5401), 0);
	mt_page_map_deinit(&map);
}

MT_TEST(what_nobody_holds_is_given_and_no_more_than_was_asked_for)
{
	struct mt_page_map map = {0};
	struct taken taken = {0};

	give(&map, 10, 5, 1);
	MT_CHECK_EQ(mt_page_map_fill(&map, 8, 30, 4, 2), 4);
	MT_CHECK_EQ(holder_of(&map, 9), 2);
	MT_CHECK_EQ(holder_of(&map, 14), 1);
	MT_CHECK_EQ(holder_of(&map, 16), 2);
	MT_CHECK_EQ(holder_of(&map, 17), 0);
	MT_CHECK_EQ(mt_page_map_fill(&map, 8, 17, 100, 3), 0);
	MT_CHECK_EQ(mt_page_map_fill(&map, 0, 1ull << 44, 1ull << 44, 3), (1ull << 44) - 9);
	mt_page_map_clear(&map, 0, 1ull << 52, count, &taken);
	MT_CHECK_EQ(taken.count, 1ull << 44);
	MT_CHECK_EQ(map.leaves.count, 0);
	mt_page_map_deinit(&map);
}

/* Compared with an array of all pages, with enough runs for many leaves. */
MT_TEST(it_says_what_an_array_of_pages_says)
{
	enum {
		PAGES = 20000
	};
	static uint32_t pages[PAGES];
	struct mt_page_map map = {0};
	uint64_t seed = 42, wrong = 0;

	for (int step = 0; step < 40000; step++) {
		uint64_t first, length, at;
		struct taken taken = {0};

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		first = seed >> 33;
		length = step % 10 ? 1 + first % 7 : first % 300;
		first %= PAGES - 300;
		if (step % 50 == 7) {
			at = (first + 5000) % (PAGES - 300);
			mt_page_map_move(&map, first, at, length);
			memmove(pages + at, memcpy((uint32_t[300]){0}, pages + first, 4 * length),
				4 * length);
			for (uint64_t i = first; i < first + length; i++)
				pages[i] = i >= at && i < at + length ? pages[i] : 0;
		} else if (step % 3) {
			mt_page_map_fill(&map, first, first + length, length,
					 1 + (uint32_t)step % 3);
			for (uint64_t i = first; i < first + length; i++)
				pages[i] = pages[i] ? pages[i] : 1 + (uint32_t)step % 3;
		} else {
			mt_page_map_clear(&map, first, first + length, count, &taken);
			memset(pages + first, 0, 4 * length);
		}
	}
	for (uint64_t i = 0; i < PAGES; i++)
		wrong += holder_of(&map, i) != pages[i];
	MT_CHECK_EQ(wrong, 0);
	MT_CHECK(map.leaves.count > 5);
	mt_page_map_deinit(&map);
}

MT_TEST_MAIN
