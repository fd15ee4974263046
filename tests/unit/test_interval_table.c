/* symbols/tables/interval_table: which of two overlapping intervals is used, and gaps stay gaps. */
#include "symbols/tables/interval_table.h"

#include <stdlib.h>

#include "tests/unit/unit.h"

MT_TEST(the_higher_rank_wins_and_gaps_have_nothing)
{
	struct mt_interval items[] = {
		{100, 200, 0, 1}, {120, 140, 1, 2}, {130, 135, 2, 3}, {300, 310, 0, 4}};
	struct mt_interval_table *table = mt_interval_table_create(items, 4);
	static const struct {
		uint64_t at;
		uint32_t value;
	} want[] = {{0, MT_INTERVAL_NONE},
		    {99, MT_INTERVAL_NONE},
		    {100, 1},
		    {119, 1},
		    {120, 2},
		    {130, 3},
		    {134, 3},
		    {135, 2},
		    {140, 1},
		    {199, 1},
		    {200, MT_INTERVAL_NONE},
		    {305, 4},
		    {310, MT_INTERVAL_NONE},
		    {UINT64_MAX, MT_INTERVAL_NONE}};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		MT_CHECK_EQ(mt_interval_table_find(table, want[i].at), want[i].value);
	mt_interval_table_destroy(table);
}

MT_TEST(an_empty_table_has_nothing)
{
	struct mt_interval backwards = {20, 10, 0, 1};
	struct mt_interval_table *table = mt_interval_table_create(NULL, 0);

	MT_CHECK_EQ(mt_interval_table_find(table, 5), MT_INTERVAL_NONE);
	mt_interval_table_destroy(table);
	table = mt_interval_table_create(&backwards, 1);
	MT_CHECK_EQ(mt_interval_table_find(table, 15), MT_INTERVAL_NONE);
	mt_interval_table_destroy(table);
}

/* Random intervals, compared with a search of all of them. */
MT_TEST(it_agrees_with_trying_all)
{
	struct mt_interval items[64], kept[64];

	srand(1);
	for (int round = 0; round < 200; round++) {
		struct mt_interval_table *table;

		for (uint32_t i = 0; i < 64; i++) {
			uint64_t start = (uint64_t)rand() % 4000;

			kept[i] = items[i] = (struct mt_interval){
				start, start + (uint64_t)rand() % 500, (uint32_t)rand() % 4, i};
		}
		table = mt_interval_table_create(items, 64);
		for (uint64_t at = 0; at < 4600; at += 3) {
			uint32_t best = MT_INTERVAL_NONE;

			for (uint32_t i = 0; i < 64; i++) {
				if (at >= kept[i].start && at < kept[i].end &&
				    (best == MT_INTERVAL_NONE || kept[i].rank >= kept[best].rank))
					best = i;
			}
			if (mt_interval_table_find(table, at) != best)
				MT_CHECK_EQ(mt_interval_table_find(table, at), best);
		}
		mt_interval_table_destroy(table);
	}
}

MT_TEST_MAIN
