/* report/account/extents: mapped ranges, compared with an array that has an entry for each page. */
#include "report/account/extents.h"

#include "tests/unit/unit.h"

enum {
	PAGES = 2000,
	STEPS = 100000,
};

struct page {
	uint32_t attrs, origin; /* attrs 0: nothing is mapped */
};

struct model {
	struct page pages[PAGES];
};

/* The same numbers in each run. */
static uint32_t draw(uint64_t *state, uint32_t below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33) % below;
}

static bool same(const struct mt_extents *regions, const struct model *model)
{
	const struct mt_extent *region;
	uint64_t at = 0;
	size_t count = 0;

	while ((region = mt_extents_after(regions, at))) {
		for (; at < region->start; at++) {
			if (model->pages[at].attrs)
				return false;
		}
		if (region->end <= region->start || region->end > PAGES)
			return false;
		for (; at < region->end; at++) {
			if (model->pages[at].attrs != region->attrs ||
			    model->pages[at].origin != region->origin)
				return false;
		}
		count++;
	}
	for (; at < PAGES; at++) {
		if (model->pages[at].attrs)
			return false;
	}
	return count == mt_extents_count(regions);
}

static bool same_removed(const mt_extent_list *removed, const struct model *model, uint64_t start,
			 uint64_t end)
{
	uint64_t at = start;

	for (size_t i = 0; i < removed->count; i++) {
		const struct mt_extent *region = &removed->items[i];

		for (; at < region->start; at++) {
			if (model->pages[at].attrs)
				return false;
		}
		for (; at < region->end; at++) {
			if (model->pages[at].attrs != region->attrs)
				return false;
		}
	}
	for (; at < end; at++) {
		if (model->pages[at].attrs)
			return false;
	}
	return true;
}

/* Replaces or removes a random range. */
static bool step(struct mt_extents *regions, struct model *model, uint64_t *state, bool small)
{
	uint64_t start = draw(state, PAGES - 1),
		 end = start + 1 + draw(state, small ? 3 : (uint32_t)(PAGES - start));
	struct mt_extent region = {
		.start = start,
		.end = end > PAGES ? PAGES : end,
		.attrs = 1 + draw(state, 2),
		.origin = draw(state, 3),
	};
	bool put = draw(state, 3);
	mt_extent_list removed = {0};
	bool good;

	mt_extents_remove(regions, start, region.end, &removed);
	good = same_removed(&removed, model, start, region.end);
	if (put)
		mt_extents_insert(regions, &region);
	for (uint64_t at = start; at < region.end; at++)
		model->pages[at] =
			put ? (struct page){region.attrs, region.origin} : (struct page){0};
	mt_array_deinit(&removed);
	return good;
}

MT_TEST(random_ranges_are_as_in_an_array_of_pages)
{
	struct mt_extents *regions = mt_extents_create();
	struct model model = {0};
	uint64_t state = 1;

	for (int i = 0; i < STEPS; i++) {
		/*
		 * Mostly small ranges, so that there are many; sometimes a large one that removes
		 * many.
		 */
		if (!MT_CHECK(step(regions, &model, &state, i % 500)) ||
		    (i % 50 == 0 && !MT_CHECK(same(regions, &model))))
			break;
	}
	MT_CHECK(same(regions, &model));
	mt_extents_destroy(regions);
}

MT_TEST(a_copy_and_its_original_change_apart)
{
	struct mt_extents *regions = mt_extents_create(), *copies[8];
	static struct model models[8], model;
	uint64_t state = 7;

	for (int round = 0; round < 8; round++) {
		for (int i = 0; i < 1000; i++)
			MT_CHECK(step(regions, &model, &state, true));
		copies[round] = mt_extents_copy(regions);
		models[round] = model;
		for (int i = 0; i < 200; i++)
			MT_CHECK(step(copies[round / 2], &models[round / 2], &state, true));
	}
	MT_CHECK(same(regions, &model));
	mt_extents_destroy(regions);
	for (int round = 0; round < 8; round++) {
		MT_CHECK(same(copies[round], &models[round]));
		mt_extents_destroy(copies[round]);
	}
}

MT_TEST(neighbours_are_joined_where_nothing_but_the_bounds_differs)
{
	struct mt_extents *regions = mt_extents_create();

	mt_extents_insert(regions, &(struct mt_extent){0, 10, 1, 1, 1});
	mt_extents_insert(regions, &(struct mt_extent){20, 30, 1, 1, 1});
	mt_extents_insert(regions, &(struct mt_extent){10, 15, 1, 1, 1});
	MT_CHECK_EQ(mt_extents_count(regions), 2);
	mt_extents_insert(regions, &(struct mt_extent){15, 17, 2, 1, 1});
	MT_CHECK_EQ(mt_extents_count(regions), 3);
	mt_extents_insert(regions, &(struct mt_extent){19, 20, 1, 1, 1});
	MT_CHECK_EQ(mt_extents_count(regions), 3);
	MT_CHECK_EQ(mt_extents_after(regions, 17)->start, 19);
	mt_extents_destroy(regions);
}

MT_TEST_MAIN
