/* report/verdicts/heaps: the regions of an allocator, and their memory in blocks. */
#include "report/verdicts/heaps.h"

#include <math.h>

#include "report/account/account.h"
#include "report/account/extents.h"
#include "report/blocks/block_map.h"
#include "report/blocks/blocks.h"
#include "report/ledger/ledger.h"
#include "report/verdicts/block_verdict.h"
#include "report/verdicts/verdict.h"
#include "tests/unit/unit.h"

#define ARENA 0x7f0000000000ull

static void take(void *context, uint32_t number, const struct mt_heap_parts *heap)
{
	(void)number;
	*(struct mt_heap_parts *)context = *heap;
}

static void add_region(struct mt_heaps *heaps, uint64_t start, uint64_t size)
{
	const struct mt_ledger_space space = {.pid = 7};
	const struct mt_extent extent = {.start = start, .end = start + size};

	mt_heaps_take_region(heaps, &space, &extent, false, false, (double)size);
}

MT_TEST(pieces_of_an_arena_are_one_region)
{
	struct mt_heaps *heaps = mt_heaps_create();
	struct mt_block_map *map = mt_block_map_create(false);
	const struct mt_block_given given = {
		.address = ARENA + 0x1000, .asked = 0x3000, .has_asked = true, .time = 1};
	struct mt_heap_parts parts = {0};

	MT_CHECK(!mt_block_map_give(map, &given));
	for (uint64_t at = 0; at < 0x8000; at += 0x2000)
		add_region(heaps, ARENA + at, 0x2000);
	add_region(heaps, ARENA + 0x10000, 0x2000);    /* another mapping */
	add_region(heaps, ARENA + (64 << 20), 0x2000); /* the next arena, without a block */
	mt_heaps_take_blocks(heaps, &(struct mt_blocks_space){.pid = 7}, 0, map);
	mt_heaps_take_end(heaps, &(struct mt_ledger_space){.pid = 7});
	mt_heaps_each(heaps, take, &parts);
	MT_CHECK_EQ(parts.mapped, 0x8000);
	MT_CHECK_EQ(parts.live, 0x3008);
	MT_CHECK_EQ(parts.blocks, 1);
	mt_block_map_destroy(map);
	mt_heaps_destroy(heaps);
}

/*
 * Touched memory is unknown for regions that a fork copied, and known for regions that the child
 * mapped.
 */
MT_TEST(what_a_fork_copied_is_apart)
{
	struct mt_heaps *heaps = mt_heaps_create();
	struct mt_block_map *map = mt_block_map_create(false);
	struct mt_account account = {.forked = 10};
	const struct mt_ledger_space space = {.pid = 7, .account = &account};
	const struct mt_extent copied = {.start = 0x10000, .end = 0x20000, .time = 5},
			       grown = {.start = 0x20000, .end = 0x40000, .time = 15};
	const struct mt_block_given given = {
		.address = 0x20000, .asked = 0x7ff8, .has_asked = true, .time = 16};
	struct mt_heap_parts parts = {0};
	char text[200];

	MT_CHECK(!mt_block_map_give(map, &given));
	mt_heaps_take_region(heaps, &space, &copied, true, true, NAN);
	mt_heaps_take_region(heaps, &space, &grown, true, false, 0x18000);
	mt_heaps_take_blocks(heaps, &(struct mt_blocks_space){.pid = 7}, 0, map);
	mt_heaps_take_end(heaps, &space);
	mt_heaps_each(heaps, take, &parts);
	mt_heap_grounds(&parts, text, sizeof(text));
	MT_CHECK_STR(text, "196.6 kB mapped by the allocator, of which 32.8 kB hold 1 live block, "
			   "those of other rows included; 65.5 kB free, 32.8 kB untouched, "
			   "65.5 kB inherited by fork");
	mt_block_map_destroy(map);
	mt_heaps_destroy(heaps);
}

MT_TEST_MAIN
