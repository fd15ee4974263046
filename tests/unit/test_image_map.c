/*
 * The map of an address space, by example and compared with a map of single pages that is obviously
 * right.
 */
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "formats/base/cleanup.h"
#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "tests/unit/unit.h"

MT_DEFINE_CLEANUP(mt_image_map, struct mt_image_map)
#define MT_MAP_GUARD MT_CLEANUP(mt_image_map_destroy_p) struct mt_image_map *

#define RX (PROT_READ | PROT_EXEC)
#define RW (PROT_READ | PROT_WRITE)

/* Only the addresses of these images matter. */
static struct mt_image images[4];

static void put(struct mt_image_map *map, uint64_t start, uint64_t end, uint32_t prot, size_t image,
		uint64_t offset)
{
	struct mt_mapping mapping = {.start = start,
				     .end = end,
				     .offset = offset,
				     .prot = prot,
				     .image = &images[image]};

	MT_CHECK(mt_image_map_insert(map, &mapping));
}

static bool is(const struct mt_image_map *map, size_t i, uint64_t start, uint64_t end, size_t image,
	       uint64_t offset)
{
	const struct mt_mapping *m = mt_image_map_next(map, 0);

	while (m && i--)
		m = mt_image_map_next(map, m->end);
	return m && m->start == start && m->end == end && m->image == &images[image] &&
	       m->offset == offset;
}

/* Counts by iterating; the map must report the same number. */
static size_t count_of(const struct mt_image_map *map)
{
	const struct mt_mapping *m = mt_image_map_next(map, 0);
	size_t count = 0;

	for (; m; m = mt_image_map_next(map, m->end))
		count++;
	return count == mt_image_map_count(map) ? count : SIZE_MAX;
}

MT_TEST(an_empty_map_has_nothing)
{
	MT_MAP_GUARD map = mt_image_map_create();

	MT_CHECK(!mt_image_map_find(map, 0x1000));
	MT_CHECK(mt_image_map_generation(map) != 0);
	MT_CHECK_EQ(count_of(map), 0);
	MT_CHECK(mt_image_map_remove(map, 0, UINT64_MAX));
}

MT_TEST(a_mapping_is_found_by_its_addresses)
{
	MT_MAP_GUARD map = mt_image_map_create();

	put(map, 0x2000, 0x3000, RX, 0, 0x500);
	MT_CHECK(!mt_image_map_find(map, 0x1fff));
	MT_CHECK(!mt_image_map_find(map, 0x3000));
	MT_REQUIRE(mt_image_map_find(map, 0x2000) && mt_image_map_find(map, 0x2fff));
	MT_CHECK_EQ(mt_mapping_file_offset(mt_image_map_find(map, 0x2010), 0x2010), 0x510);
}

MT_TEST(a_mapping_inside_another_splits_it)
{
	MT_MAP_GUARD map = mt_image_map_create();

	put(map, 0x1000, 0x9000, RX, 0, 0x100);
	put(map, 0x3000, 0x4000, RX, 1, 0);
	MT_CHECK_EQ(count_of(map), 3);
	MT_CHECK(is(map, 0, 0x1000, 0x3000, 0, 0x100));
	MT_CHECK(is(map, 1, 0x3000, 0x4000, 1, 0));
	MT_CHECK(is(map, 2, 0x4000, 0x9000, 0, 0x3100));
}

MT_TEST(a_mapping_over_several_trims_and_replaces)
{
	MT_MAP_GUARD map = mt_image_map_create();

	put(map, 0x1000, 0x2000, RX, 0, 0);
	put(map, 0x2000, 0x3000, RX, 1, 0);
	put(map, 0x4000, 0x6000, RX, 2, 0);
	put(map, 0x1800, 0x5000, RW, 3, 0);
	MT_CHECK_EQ(count_of(map), 3);
	MT_CHECK(is(map, 0, 0x1000, 0x1800, 0, 0));
	MT_CHECK(is(map, 1, 0x1800, 0x5000, 3, 0));
	MT_CHECK(is(map, 2, 0x5000, 0x6000, 2, 0x1000));
}

MT_TEST(removing_leaves_both_ends)
{
	MT_MAP_GUARD map = mt_image_map_create();

	put(map, 0x1000, 0x9000, RX, 0, 0);
	MT_CHECK(mt_image_map_remove(map, 0x2000, 0x3000));
	MT_CHECK(is(map, 0, 0x1000, 0x2000, 0, 0) && is(map, 1, 0x3000, 0x9000, 0, 0x2000));
	MT_CHECK(!mt_image_map_find(map, 0x2800));
	MT_CHECK(mt_image_map_remove(map, 0, UINT64_MAX));
	MT_CHECK_EQ(count_of(map), 0);
}

MT_TEST(absurd_ranges_do_nothing)
{
	MT_MAP_GUARD map = mt_image_map_create();

	put(map, 0x2000, 0x2000, RX, 0, 0);
	put(map, 0x3000, 0x2000, RX, 0, 0);
	MT_CHECK(mt_image_map_remove(map, 5, 4));
	MT_CHECK_EQ(count_of(map), 0);
	put(map, 0, UINT64_MAX, RX, 0, UINT64_MAX); /* offsets wrap without harm */
	put(map, 0x1000, 0x2000, RX, 1, 0);
	MT_CHECK_EQ(count_of(map), 3);
}

MT_TEST(data_mappings_keep_the_generation)
{
	MT_MAP_GUARD map = mt_image_map_create();
	uint32_t generation = mt_image_map_generation(map);

	put(map, 0x1000, 0x9000, RX, 0, 0);
	MT_CHECK_EQ(mt_image_map_generation(map), generation); /* new code in empty space */
	put(map, 0x10000, 0x20000, RW, 1, 0);
	put(map, 0x12000, 0x13000, RW, 2, 0);
	put(map, 0x12000, 0x13000, RX, 2, 0); /* mprotect to executable */
	MT_CHECK(mt_image_map_remove(map, 0x10000, 0x12000));
	MT_CHECK_EQ(mt_image_map_generation(map), generation);
	put(map, 0x1000, 0x9000, RX, 0, 0);	 /* the same mapping again */
	put(map, 0x2000, 0x3000, RX, 0, 0x1000); /* a part of the same mapping */
	MT_CHECK_EQ(mt_image_map_generation(map), generation);
	MT_CHECK_EQ(count_of(map), 3);
}

MT_TEST(replaced_code_makes_a_generation)
{
	MT_MAP_GUARD map = mt_image_map_create();
	uint32_t generation = mt_image_map_generation(map);

	put(map, 0x1000, 0x9000, RX, 0, 0);
	put(map, 0x2000, 0x3000, RX, 1, 0);
	MT_CHECK(mt_image_map_generation(map) != generation);
	generation = mt_image_map_generation(map);
	put(map, 0x2000, 0x3000, RW, 1, 0); /* no longer executable */
	MT_CHECK(mt_image_map_generation(map) != generation);
	generation = mt_image_map_generation(map);
	MT_CHECK(mt_image_map_remove(map, 0x1000, 0x1800));
	MT_CHECK(mt_image_map_generation(map) != generation);
	generation = mt_image_map_generation(map);
	mt_image_map_clear(map);
	MT_CHECK(mt_image_map_generation(map) != generation);
	MT_CHECK_EQ(count_of(map), 0);
}

MT_TEST(copies_share_until_their_code_differs)
{
	MT_MAP_GUARD parent = mt_image_map_create();
	MT_MAP_GUARD child = NULL;
	uint32_t generation;

	put(parent, 0x1000, 0x2000, RX, 0, 0);
	generation = mt_image_map_generation(parent);
	child = mt_image_map_copy(parent);
	MT_CHECK_EQ(mt_image_map_generation(child), generation);
	put(child, 0x8000, 0x9000, RW, 1, 0);
	MT_CHECK_EQ(mt_image_map_generation(child), generation);
	MT_CHECK(!mt_image_map_find(parent, 0x8000));
	/* each loads another library at the same address: neither may keep the shared number */
	put(parent, 0x4000, 0x5000, RX, 2, 0);
	put(child, 0x4000, 0x5000, RX, 3, 0);
	MT_CHECK(mt_image_map_generation(parent) != generation);
	MT_CHECK(mt_image_map_generation(child) != generation);
	MT_CHECK(mt_image_map_generation(child) != mt_image_map_generation(parent));
	MT_CHECK_EQ(mt_image_map_find(parent, 0x4000)->image, &images[2]);
	MT_CHECK_EQ(mt_image_map_find(child, 0x4000)->image, &images[3]);
	/* alone again with its number: new code in empty space is no new generation */
	generation = mt_image_map_generation(child);
	put(child, 0x6000, 0x7000, RX, 2, 0);
	MT_CHECK_EQ(mt_image_map_generation(child), generation);
}

MT_TEST(an_era_is_of_all_mappings_of_an_image)
{
	MT_MAP_GUARD map = mt_image_map_create();
	struct mt_image_map *before;
	uint32_t generation;

	put(map, 0x1000, 0x2000, RX, 1, 0x1000);
	put(map, 0x3000, 0x4000, RX, 2, 0);
	put(map, 0x5000, 0x6000, RX, 1, 0x5000);
	before = mt_image_map_snapshot(map);
	generation = mt_image_map_generation(map);
	MT_CHECK(mt_image_map_set_era(map, &images[3], 7));
	MT_CHECK_EQ(mt_image_map_generation(map), generation);
	MT_CHECK(mt_image_map_set_era(map, &images[1], 7));
	MT_CHECK(mt_image_map_generation(map) != generation);
	MT_CHECK_EQ(mt_image_map_find(map, 0x1000)->era, 7);
	MT_CHECK_EQ(mt_image_map_find(map, 0x3000)->era, 0);
	MT_CHECK_EQ(mt_image_map_find(map, 0x5fff)->era, 7);
	MT_CHECK_EQ(mt_image_map_find(before, 0x1000)->era, 0);
	put(map, 0x5000, 0x6000, RX, 1, 0x5000); /* of era 0 */
	MT_CHECK_EQ(mt_image_map_find(map, 0x5000)->era, 0);
	mt_image_map_release(before);
}

MT_TEST(a_snapshot_stays_as_it_was)
{
	MT_MAP_GUARD map = mt_image_map_create();
	struct mt_image_map *before, *again, *after;
	uint32_t generation;

	put(map, 0x1000, 0x2000, RX, 0, 0);
	generation = mt_image_map_generation(map);
	before = mt_image_map_snapshot(map);
	again = mt_image_map_snapshot(map);
	MT_CHECK(before == again);
	put(map, 0x3000, 0x4000, RX, 1, 0);
	MT_CHECK_EQ(mt_image_map_generation(map), generation); /* unlike with a copy */
	after = mt_image_map_snapshot(map);
	MT_CHECK(after != before);
	MT_CHECK(!mt_image_map_find(before, 0x3000));
	MT_CHECK(mt_image_map_find(after, 0x3000));
	mt_image_map_clear(map);
	MT_CHECK_EQ(mt_image_map_generation(before), generation);
	MT_CHECK(mt_image_map_find(before, 0x1000));
	mt_image_map_release(before);
	mt_image_map_release(again);
	MT_CHECK(mt_image_map_find(after, 0x1000));
	mt_image_map_release(after);
}

MT_TEST(a_copy_outlives_its_origin)
{
	struct mt_image_map *parent = mt_image_map_create();
	MT_MAP_GUARD child = NULL;

	put(parent, 0x1000, 0x2000, RX, 0, 0);
	child = mt_image_map_copy(parent);
	mt_image_map_clear(parent);
	mt_image_map_destroy(parent);
	MT_CHECK(mt_image_map_find(child, 0x1000));
}

#define PAGES 64

/* One entry per page: the slow map to compare with. */
struct page {
	struct mt_image *image;
	uint64_t offset;
	uint64_t prot; /* as wide as the other members, so that memcmp sees no padding */
};

static void change_both(struct mt_image_map *map, struct page *pages)
{
	uint64_t start = (uint64_t)(rand() % PAGES), end = start + 1 + (uint64_t)(rand() % 12);
	struct mt_mapping mapping = {
		.start = start,
		.end = end > PAGES ? PAGES : end,
		.offset = (uint64_t)(rand() % 3) * 100 + start,
		.prot = rand() % 2 ? RX : RW,
		.image = &images[rand() % 4],
	};
	bool removal = !(rand() % 4);

	if (removal)
		MT_CHECK(mt_image_map_remove(map, mapping.start, mapping.end));
	else
		MT_CHECK(mt_image_map_insert(map, &mapping));
	for (uint64_t p = mapping.start; p < mapping.end; p++)
		pages[p] =
			removal ? (struct page){0}
				: (struct page){mapping.image, mapping.offset + p - mapping.start,
						mapping.prot};
}

static bool equal(const struct mt_image_map *map, const struct page *pages)
{
	const struct mt_mapping *m;

	if (count_of(map) == SIZE_MAX)
		return false;
	for (uint64_t p = 0; p < PAGES; p++) {
		m = mt_image_map_find(map, p);
		if (!m != !pages[p].image)
			return false;
		if (m &&
		    (m->image != pages[p].image ||
		     mt_mapping_file_offset(m, p) != pages[p].offset || m->prot != pages[p].prot))
			return false;
	}
	return true;
}

/* While the generation is unchanged, every page of code has the same mapping as before. */
static bool generation_holds(const struct mt_image_map *map, uint32_t before,
			     const struct page *old, const struct page *now)
{
	if (mt_image_map_generation(map) != before)
		return true;
	for (size_t p = 0; p < PAGES; p++) {
		if (old[p].prot & PROT_EXEC && memcmp(&old[p], &now[p], sizeof(*old)) != 0)
			return false;
	}
	return true;
}

/* While the version is unchanged, every page has the same mapping as before. */
static bool version_holds(const struct mt_image_map *map, uint32_t before, const struct page *old,
			  const struct page *now)
{
	uint32_t version = mt_image_map_version(map);

	return version != mt_image_map_generation(map) &&
	       (version != before || !memcmp(old, now, PAGES * sizeof(*old)));
}

MT_TEST(random_changes_equal_a_page_table)
{
	MT_MAP_GUARD map = mt_image_map_create();
	MT_MAP_GUARD other = NULL;
	struct page pages[PAGES] = {{0}}, kept[PAGES], old[PAGES];
	bool ok = true;

	srand(1);
	for (int i = 0; i < 20000 && ok; i++) {
		uint32_t generation = mt_image_map_generation(map);
		uint32_t version = mt_image_map_version(map);

		memcpy(old, pages, sizeof(pages));
		change_both(map, pages);
		ok = equal(map, pages) && generation_holds(map, generation, old, pages) &&
		     version_holds(map, version, old, pages);
		if (i % 100 == 50) {
			mt_image_map_destroy(other);
			other = mt_image_map_copy(map);
			memcpy(kept, pages, sizeof(pages));
		}
		ok = ok && (!other || equal(other, kept));
	}
	MT_CHECK(ok);
}

/* CPU time of `count` adjacent mappings of a page, from the top down or from the bottom up. */
static clock_t time_of_many(size_t count, bool down)
{
	MT_MAP_GUARD map = mt_image_map_create();
	clock_t start = clock();

	for (size_t i = 0; i < count; i++) {
		size_t page = down ? count - i : i + 1;

		put(map, page * 0x1000, (page + 1) * 0x1000, RW, page % 4, 0);
	}
	start = clock() - start;
	MT_CHECK_EQ(count_of(map), count);
	MT_CHECK(is(map, 2, 0x3000, 0x4000, 3, 0));
	return start;
}

/*
 * Each mapping is below the previous one, as the kernel places them. Moving all others for each
 * would take 60 times as long.
 */
MT_TEST(many_mappings_from_the_top_down_take_no_time_each)
{
	const size_t count = 262000;
	clock_t up = time_of_many(count, false);

	MT_CHECK(time_of_many(count, true) < 10 * up);
}

/* Each child changes one of thousands of mappings and needs no copy of the others. */
MT_TEST(forks_share_what_they_do_not_change)
{
	enum {
		MAPPINGS = 4000,
		FORKS = 2000,
	};
	static struct mt_image_map *forks[FORKS];
	MT_MAP_GUARD map = mt_image_map_create();
	size_t before, used;

	for (size_t i = 0; i < MAPPINGS; i++)
		put(map, i * 0x1000, (i + 1) * 0x1000, RW, i % 4, 0);
	before = mallinfo2().uordblks + mallinfo2().hblkhd;
	for (size_t i = 0; i < FORKS; i++) {
		forks[i] = mt_image_map_copy(map);
		put(forks[i], i * 0x1000, (i + 1) * 0x1000, RX, (i + 1) % 4, 0);
	}
	used = mallinfo2().uordblks + mallinfo2().hblkhd - before;
	printf("# %zu bytes a fork\n", used / FORKS);
	MT_CHECK(used / FORKS < 8192); /* 192,000 as copies */
	for (size_t i = 0; i < FORKS; i++) {
		MT_CHECK_EQ(mt_image_map_find(forks[i], i * 0x1000)->prot, RX);
		MT_CHECK_EQ(count_of(forks[i]), MAPPINGS);
		mt_image_map_destroy(forks[i]);
	}
	MT_CHECK_EQ(mt_image_map_find(map, 0x1000)->prot, RW);
}

MT_TEST_MAIN
