/* record/write/pack: the priority of packing when the spool fills up, and at the end. */
#include "record/write/pack.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "formats/chunks/chunk.h"
#include "formats/records/record.h"
#include "record/carry/carry_worker.h"
#include "record/plan/plan.h"
#include "record/rings/spool.h"
#include "tests/unit/unit.h"

#define BLOCKS 16
#define BACKLOG 12

/*
 * Takes one CPU with real-time priority, so that threads started here do not run yet; false if that
 * is not permitted.
 */
static bool keep_others_off(void)
{
	struct sched_param realtime = {.sched_priority = 2};
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	return !sched_setaffinity(0, sizeof(one), &one) &&
	       !sched_setscheduler(0, SCHED_RR, &realtime);
}

MT_TEST(a_writer_that_has_not_run_makes_nobody_else_urgent)
{
	struct mt_spool *spool = mt_spool_create(BLOCKS);
	struct mt_embed_options embed = {0};
	struct mt_pack_strip strip = {0};
	struct mt_plan plan = {0};
	struct mt_block *blocks[BLOCKS];
	struct mt_pack *pack;
	struct sched_param none = {0};
	int failed = eventfd(0, EFD_CLOEXEC), out = memfd_create("out", MFD_CLOEXEC);
	size_t taken = 0;

	MT_REQUIRE(spool && failed >= 0 && out >= 0);
	if (!keep_others_off())
		return;
	MT_REQUIRE(
		MT_CHECK_OK(mt_pack_create(out, 0, spool, &plan, failed, &embed, &strip, &pack)));
	for (mt_spool_grow(spool); taken < BLOCKS && (blocks[taken] = mt_spool_take(spool));
	     taken++)
		mt_spool_grow(spool);
	for (size_t i = 0; i < taken; i++) {
		mt_block_reset(blocks[i], MT_CHUNK_STATE, 0);
		mt_spool_push(spool, blocks[i]);
	}
	MT_CHECK(mt_spool_fill(spool) > 50);
	MT_CHECK_EQ(sched_getscheduler(0), SCHED_RR);
	sched_setscheduler(0, SCHED_OTHER, &none);
	mt_pack_destroy(pack);
	mt_spool_destroy(spool);
	close(out);
	close(failed);
}

/* Gives up what niceness the tests run with; false if that is not permitted. */
static bool be_not_nice(void)
{
	return getpriority(PRIO_PROCESS, 0) == 0 || !setpriority(PRIO_PROCESS, 0, 0);
}

/* The greatest niceness of the threads of this process. */
static int greatest_niceness(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	int greatest = 0;

	while (tasks && (entry = readdir(tasks))) {
		int tid = atoi(entry->d_name), niceness = getpriority(PRIO_PROCESS, (id_t)tid);

		greatest = tid && niceness > greatest ? niceness : greatest;
	}
	closedir(tasks);
	return greatest;
}

static void push_notes(struct mt_spool *spool, size_t count)
{
	const struct mt_note_record note = {.level = 1, .text = {"note", 4}};

	for (size_t i = 0; i < count; i++) {
		struct mt_block *block;

		while (!(block = mt_spool_take(spool)))
			mt_spool_grow(spool);
		mt_block_reset(block, MT_CHUNK_STATE, 0);
		MT_CHECK(mt_note_put(block, &note));
		mt_spool_push(spool, block);
	}
}

/* The user waits for the end: packing has normal priority and compresses quickly. */
MT_TEST(the_backlog_of_the_end_is_written_in_haste)
{
	struct mt_spool *spool = mt_spool_create(8 * BLOCKS);
	struct mt_embed_options embed = {0};
	struct mt_pack_strip strip = {0};
	struct mt_plan plan = {0};
	struct mt_pack *pack;
	struct sched_param none = {0};
	int failed = eventfd(0, EFD_CLOEXEC), out = memfd_create("out", MFD_CLOEXEC);
	int signals = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	MT_REQUIRE(spool && failed >= 0 && out >= 0 && signals >= 0);
	if (!be_not_nice())
		return;
	MT_REQUIRE(
		MT_CHECK_OK(mt_pack_create(out, 3, spool, &plan, failed, &embed, &strip, &pack)));
	for (int i = 0; i < 5000 && greatest_niceness() == 0; i++)
		usleep(1000);
	MT_CHECK(greatest_niceness() > 0);
	if (!keep_others_off())
		return;
	push_notes(spool, BACKLOG);
	mt_pack_set_ending(pack, signals);
	MT_CHECK_EQ(greatest_niceness(), 0);
	MT_CHECK_EQ(mt_spool_queued(spool), BACKLOG);
	MT_CHECK(!mt_pack_finishes_within(pack, 1000000));
	mt_spool_close(spool);
	sched_setscheduler(0, SCHED_OTHER, &none);
	MT_CHECK(mt_pack_finishes_within(pack, UINT64_C(60000000000)));
	MT_CHECK_OK(mt_pack_finish(pack));
	MT_CHECK(mt_pack_counts(pack).hurried >= BACKLOG - 5);
	mt_pack_destroy(pack);
	mt_spool_destroy(spool);
	close(signals);
	close(out);
	close(failed);
}

MT_TEST_MAIN
