/* record/rings/spool: a bounded pool and an ordered queue between threads. */
#include "record/rings/spool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "formats/chunks/chunk.h"
#include "tests/unit/unit.h"

MT_TEST(blocks_are_empty_memory_of_one_size)
{
	struct mt_spool *spool = mt_spool_create(2);
	struct mt_block *block;

	MT_REQUIRE(spool);
	block = mt_spool_take(spool);
	MT_REQUIRE(block);
	MT_CHECK_EQ(block->capacity, MT_SPOOL_BLOCK);
	memset(block->bytes, 0xff, block->capacity);
	mt_spool_release(spool, block);
	mt_spool_destroy(spool);
}

MT_TEST(there_are_no_more_blocks_than_allowed)
{
	struct mt_spool *spool = mt_spool_create(3);
	struct mt_block *blocks[3];

	MT_REQUIRE(spool);
	for (int i = 0; i < 3; i++)
		MT_CHECK((blocks[i] = mt_spool_take(spool)));
	MT_CHECK(!mt_spool_take(spool));
	mt_spool_release(spool, blocks[1]);
	MT_CHECK(mt_spool_take(spool) == blocks[1]);
	MT_CHECK(!mt_spool_take(spool));
	for (int i = 0; i < 3; i++)
		mt_spool_release(spool, blocks[i]);
	mt_spool_destroy(spool);
}

MT_TEST(what_is_pushed_first_is_popped_first)
{
	struct mt_spool *spool = mt_spool_create(4);
	struct mt_block *a, *b, *c;

	MT_REQUIRE(spool);
	a = mt_spool_take(spool);
	b = mt_spool_take(spool);
	c = mt_spool_take(spool);
	mt_spool_push(spool, b);
	mt_spool_push(spool, a);
	MT_CHECK_EQ(mt_spool_fill(spool), 50);
	MT_CHECK(mt_spool_pop(spool) == b);
	mt_spool_push(spool, c);
	MT_CHECK(mt_spool_pop(spool) == a);
	MT_CHECK(mt_spool_pop(spool) == c);
	MT_CHECK_EQ(mt_spool_fill(spool), 0);
	MT_CHECK_EQ(mt_spool_peak(spool), 2 * MT_SPOOL_BLOCK);
	mt_spool_destroy(spool);
}

MT_TEST(a_closed_spool_gives_what_it_has_and_ends)
{
	struct mt_spool *spool = mt_spool_create(2);

	MT_REQUIRE(spool);
	mt_spool_push(spool, mt_spool_take(spool));
	mt_spool_close(spool);
	MT_CHECK(mt_spool_pop(spool));
	MT_CHECK(!mt_spool_pop(spool));
	MT_CHECK(!mt_spool_pop(spool));
	mt_spool_destroy(spool);
}

#define PRODUCERS 3
#define BLOCKS_EACH 400

struct producer {
	struct mt_spool *spool;
	uint32_t stream;
	bool waits;
};

static void *produce(void *argument)
{
	struct producer *producer = argument;

	for (uint32_t i = 0; i < BLOCKS_EACH; i++) {
		struct mt_block *block;

		if (producer->waits)
			block = mt_spool_take_wait(producer->spool);
		else
			while (!(block = mt_spool_take(producer->spool)))
				usleep(50);
		mt_block_reset(block, MT_CHUNK_DATA, producer->stream);
		block->records = i;
		mt_spool_push(producer->spool, block);
	}
	return NULL;
}

MT_TEST(threads_share_few_blocks_and_lose_none)
{
	struct mt_spool *spool = mt_spool_create(4);
	struct producer producers[PRODUCERS];
	pthread_t threads[PRODUCERS];
	uint32_t next[PRODUCERS] = {0};

	MT_REQUIRE(spool);
	for (uint32_t i = 0; i < PRODUCERS; i++) {
		producers[i] = (struct producer){spool, i, i != 0};
		MT_REQUIRE(!pthread_create(&threads[i], NULL, produce, &producers[i]));
	}
	for (int i = 0; i < PRODUCERS * BLOCKS_EACH; i++) {
		struct mt_block *block = mt_spool_pop(spool);

		MT_REQUIRE(block && block->stream < PRODUCERS);
		MT_CHECK_EQ(block->records, next[block->stream]++);
		mt_spool_release(spool, block);
	}
	for (int i = 0; i < PRODUCERS; i++) {
		MT_CHECK_EQ(next[i], BLOCKS_EACH);
		pthread_join(threads[i], NULL);
	}
	MT_CHECK(mt_spool_peak(spool) <= 4 * MT_SPOOL_BLOCK);
	mt_spool_destroy(spool);
}

static void *pop_all(void *argument)
{
	struct mt_block *block;

	while ((block = mt_spool_pop(argument)))
		mt_spool_release(argument, block);
	return NULL;
}

MT_TEST(closing_wakes_who_waits_for_a_block)
{
	struct mt_spool *spool = mt_spool_create(1);
	pthread_t thread;

	MT_REQUIRE(spool && !pthread_create(&thread, NULL, pop_all, spool));
	usleep(1000);
	mt_spool_push(spool, mt_spool_take_wait(spool));
	mt_spool_close(spool);
	MT_CHECK_EQ(pthread_join(thread, NULL), 0);
	mt_spool_destroy(spool);
}

/* Takes all available blocks. */
static size_t take_all(struct mt_spool *spool, struct mt_block **blocks)
{
	size_t taken = 0;

	for (mt_spool_grow(spool); (blocks[taken] = mt_spool_take(spool)); taken++)
		mt_spool_grow(spool);
	return taken;
}

MT_TEST(a_pool_that_shrinks_gives_back_what_is_free)
{
	struct mt_spool *spool = mt_spool_create(40);
	struct mt_block *blocks[41];

	MT_REQUIRE(spool);
	MT_CHECK_EQ(take_all(spool, blocks), 40);
	for (size_t i = 0; i < 20; i++)
		mt_spool_release(spool, blocks[i]);
	mt_spool_shrink(spool, 12);
	for (size_t i = 20; i < 40; i++)
		mt_spool_push(spool, blocks[i]);
	MT_CHECK_EQ(mt_spool_fill(spool), 100 * 20 / 28);
	MT_CHECK_EQ(take_all(spool, blocks), 8);
	for (size_t i = 0; i < 8; i++)
		mt_spool_release(spool, blocks[i]);
	mt_spool_shrink(spool, 1000);
	MT_CHECK_EQ(take_all(spool, blocks), 0); /* at least 16 blocks are queued */
	for (size_t i = 0; i < 20; i++)
		mt_spool_release(spool, mt_spool_pop(spool));
	mt_spool_shrink(spool, 0);
	MT_CHECK_EQ(take_all(spool, blocks), 16);
	mt_spool_destroy(spool);
}

MT_TEST(destroying_nothing_is_harmless)
{
	mt_spool_destroy(NULL);
}

static void count_call(void *context)
{
	++*(int *)context;
}

/* A pool starts small. Taking one of its last few blocks requests growth, up to the bound. */
MT_TEST(the_pool_grows_ahead_of_who_takes)
{
	struct mt_spool *spool = mt_spool_create(60);
	struct mt_block *blocks[60];
	size_t taken = 0;
	int wanted = 0;

	MT_REQUIRE(spool);
	while (taken < 60 && (blocks[taken] = mt_spool_take(spool)))
		taken++;
	MT_CHECK(taken >= 2 && taken < 30);
	mt_spool_set_want(spool, count_call, &wanted);
	MT_CHECK(!mt_spool_take(spool));
	MT_CHECK_EQ(wanted, 1);
	for (; taken < 60; taken++) {
		mt_spool_grow(spool);
		MT_CHECK((blocks[taken] = mt_spool_take(spool)));
	}
	wanted = 0;
	mt_spool_grow(spool);
	MT_CHECK(!mt_spool_take(spool));
	MT_CHECK_EQ(wanted, 0);
	while (taken)
		mt_spool_release(spool, blocks[--taken]);
	MT_CHECK(mt_spool_take(spool) == blocks[0]);
	mt_spool_destroy(spool);
}

MT_TEST(what_is_in_blocks_is_counted)
{
	struct mt_spool *spool = mt_spool_create(4);
	struct mt_block *block = mt_spool_take(spool);

	mt_block_reset(block, MT_CHUNK_STATE, 0);
	block->used = 1000;
	MT_CHECK_EQ(mt_spool_in_use(spool), 1000);
	mt_spool_push(spool, block);
	MT_CHECK_EQ(mt_spool_in_use(spool), 1000);
	mt_spool_release(spool, mt_spool_pop(spool));
	MT_CHECK_EQ(mt_spool_in_use(spool), 0);
	mt_spool_destroy(spool);
}

MT_TEST_MAIN
