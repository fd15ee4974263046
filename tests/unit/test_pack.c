/* record/write/pack: who is made urgent when the spool fills up. */
#include "record/write/pack.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/chunks/chunk.h"
#include "record/carry/carry_worker.h"
#include "record/plan/plan.h"
#include "record/rings/spool.h"
#include "tests/unit/unit.h"

#define BLOCKS 16

/* On one CPU, before what is started here has run: false where that is not allowed. */
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

MT_TEST_MAIN
