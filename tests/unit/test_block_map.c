/* report/blocks/block_map: live blocks, frees, and the blocks that lived at the peak. */
#include "report/blocks/block_map.h"

#include <malloc.h>

#include "tests/unit/unit.h"

enum {
	MANY = 1000000,
};

static void give(struct mt_block_map *map, uint64_t address, uint64_t bytes, uint64_t time)
{
	MT_CHECK(!mt_block_map_give(map, &(struct mt_block_given){.address = address,
								  .asked = bytes,
								  .has_asked = true,
								  .enter = time,
								  .time = time + 1,
								  .tid = 7}));
}

static enum mt_block_freed freed(struct mt_block_map *map, uint64_t address)
{
	uint32_t origin;

	return mt_block_map_free(map, &(struct mt_block_freeing){.address = address, .tid = 7},
				 &origin);
}

static void add_bytes(void *context, const struct mt_block *block)
{
	*(uint64_t *)context += block->bytes;
}

static uint64_t bytes(const struct mt_block_map *map, bool at_peak)
{
	uint64_t sum = 0;

	mt_block_map_each(map, at_peak, add_bytes, &sum);
	return sum;
}

MT_TEST(a_freed_block_is_known_as_freed_until_it_is_given_again)
{
	struct mt_block_map *map = mt_block_map_create(false);

	give(map, 16, 10, 1);
	MT_CHECK_EQ(freed(map, 16), MT_FREED_LIVE);
	MT_CHECK_EQ(freed(map, 16), MT_FREED_TWICE);
	MT_CHECK_EQ(freed(map, 32), MT_FREED_UNKNOWN);
	give(map, 16, 10, 5);
	MT_CHECK_EQ(freed(map, 16), MT_FREED_LIVE);
	mt_block_map_destroy(map);
}

MT_TEST(what_lived_at_the_peak_is_known_after_it)
{
	struct mt_block_map *map = mt_block_map_create(true);

	give(map, 16, 100, 10);
	give(map, 32, 50, 20);
	freed(map, 16);
	give(map, 16, 30, 30);
	MT_CHECK_EQ(bytes(map, false), 80);
	MT_CHECK_EQ(bytes(map, true), 150);
	MT_CHECK_EQ(mt_block_map_peak_time(map), 21);
	give(map, 48, 200, 40);
	MT_CHECK_EQ(bytes(map, true), 280);
	mt_block_map_destroy(map);
}

/* realloc: the thread frees the block at `was` and gets another block for it. */
static void resize(struct mt_block_map *map, uint64_t was, uint64_t to, uint64_t bytes,
		   uint64_t time)
{
	const struct mt_block_freeing freeing = {
		.address = was, .time = time, .tid = 7, .resizes = true};
	uint32_t origin;

	MT_CHECK_EQ(mt_block_map_free(map, &freeing, &origin), MT_FREED_LIVE);
	MT_CHECK(!mt_block_map_give(map, &(struct mt_block_given){.address = to,
								  .asked = bytes,
								  .has_asked = true,
								  .was = was,
								  .enter = time,
								  .time = time,
								  .tid = 7}));
}

MT_TEST(a_block_that_is_resized_keeps_its_time_and_each_growth_its_own)
{
	struct mt_block_map *map = mt_block_map_create(true);
	const struct mt_block *block;

	give(map, 16, 100, 10);
	resize(map, 16, 32, 150, 20);
	resize(map, 32, 32, 300, 30); /* in place */
	block = mt_block_map_at(map, 32);
	MT_REQUIRE(block && block->sizes);
	MT_CHECK_EQ(block->time, 11);
	MT_CHECK_EQ(mt_block_last(block), 30);
	MT_CHECK_EQ(block->sizes->resized, 2);
	MT_REQUIRE(block->sizes->count == 3);
	MT_CHECK_EQ(block->sizes->growths[1].time, 20);
	MT_CHECK_EQ(block->sizes->growths[1].bytes, 50);
	MT_CHECK_EQ(block->sizes->growths[2].bytes, 150);
	MT_CHECK_EQ(bytes(map, true), 300);
	resize(map, 32, 48, 120, 40); /* the last one in is the first one out */
	block = mt_block_map_at(map, 48);
	MT_REQUIRE(block && block->sizes && block->sizes->count == 2);
	MT_CHECK_EQ(block->sizes->growths[1].bytes, 20);
	MT_CHECK_EQ(bytes(map, false), 120);
	MT_CHECK_EQ(bytes(map, true), 300);
	MT_CHECK_EQ(freed(map, 32), MT_FREED_TWICE);
	MT_CHECK_EQ(freed(map, 48), MT_FREED_LIVE);
	give(map, 48, 10, 50);
	MT_CHECK(!mt_block_map_at(map, 48)->sizes);
	mt_block_map_destroy(map);
}

MT_TEST(many_growths_are_kept_evenly_over_the_time)
{
	struct mt_block_map *map = mt_block_map_create(false);
	const struct mt_block_sizes *sizes;
	uint64_t sum = 0;

	give(map, 16, 1000, 0);
	for (uint64_t i = 2; i <= 1000; i++)
		resize(map, 16, 16, 1000 * i, 1000 * i);
	sizes = mt_block_map_at(map, 16)->sizes;
	MT_REQUIRE(sizes && sizes->count > 12 && sizes->count <= 32);
	for (uint32_t i = 0; i < sizes->count; i++) {
		sum += sizes->growths[i].bytes;
		MT_CHECK(sizes->growths[i].bytes < 1000000 / 8);
		MT_CHECK(!i || sizes->growths[i].time > sizes->growths[i - 1].time);
	}
	MT_CHECK_EQ(sum, 1000000);
	mt_block_map_destroy(map);
}

MT_TEST(a_block_that_does_not_go_on_was_freed)
{
	struct mt_block_map *map = mt_block_map_create(false);
	const struct mt_block_freeing freeing = {.address = 32, .tid = 7, .resizes = true};
	uint32_t origin;

	give(map, 16, 100, 10);
	resize(map, 16, 32, 150, 20);
	MT_CHECK_EQ(mt_block_map_free(map, &freeing, &origin), MT_FREED_LIVE);
	give(map, 64, 5, 30); /* of another call */
	MT_CHECK_EQ(mt_block_map_at(map, 64)->time, 31);
	MT_CHECK(!mt_block_map_at(map, 64)->sizes);
	MT_CHECK_EQ(freed(map, 32), MT_FREED_TWICE);
	mt_block_map_destroy(map);
}

MT_TEST(a_million_blocks_take_less_than_120_MB)
{
	struct mt_block_map *map = mt_block_map_create(false);
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd, took;

	for (uint64_t i = 1; i <= MANY; i++)
		give(map, i * 48, 40, i);
	took = mallinfo2().uordblks + mallinfo2().hblkhd - before;
	MT_CHECK(took < 120000000 || !took); /* 0 under a sanitizer's allocator */
	MT_CHECK_EQ(mt_block_map_count(map), MANY);
	for (uint64_t i = 1; i <= MANY; i += 2)
		MT_CHECK_EQ(freed(map, i * 48), MT_FREED_LIVE);
	MT_CHECK_EQ(mt_block_map_count(map), MANY / 2);
	MT_CHECK_EQ(bytes(map, false), 40ull * MANY / 2);
	mt_block_map_destroy(map);
}

MT_TEST_MAIN
