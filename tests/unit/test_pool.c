/* formats/base/pool.h: every job runs once, and no two jobs run as the same worker at a time. */
#include "formats/base/pool.h"

#include <stdlib.h>

#include "tests/unit/unit.h"

enum {
	JOBS = 2000,
};

struct counting {
	struct mt_job job;
	int *busy; /* one for each worker */
	int ran, shared;
};

static void count(struct mt_job *job, unsigned int worker)
{
	struct counting *c = (struct counting *)job;

	c->shared += __atomic_add_fetch(&c->busy[worker], 1, __ATOMIC_ACQ_REL) != 1;
	c->ran++;
	__atomic_sub_fetch(&c->busy[worker], 1, __ATOMIC_ACQ_REL);
}

static void run_with(unsigned int size, int *wrong)
{
	struct mt_pool *pool = mt_pool_create(size);
	struct counting *jobs = calloc(JOBS, sizeof(*jobs));
	int busy[8] = {0};

	for (int i = 0; i < JOBS; i++) {
		jobs[i] = (struct counting){.job.run = count, .busy = busy};
		mt_pool_submit(pool, &jobs[i].job);
		if (i >= 10)
			mt_pool_wait(pool, &jobs[i - 10].job);
	}
	for (int i = JOBS - 10; i < JOBS; i++)
		mt_pool_wait(pool, &jobs[i].job);
	*wrong = 0;
	for (int i = 0; i < JOBS; i++)
		*wrong += jobs[i].ran != 1 || jobs[i].shared;
	mt_pool_destroy(pool);
	free(jobs);
}

MT_TEST(every_job_runs_once)
{
	int wrong;

	for (unsigned int size = 1; size <= 8; size *= 2) {
		run_with(size, &wrong);
		MT_CHECK_EQ(wrong, 0);
	}
}

MT_TEST(a_pool_of_one_has_no_thread)
{
	struct mt_pool *pool = mt_pool_create(0);
	int busy[1] = {0};
	struct counting job = {.job.run = count, .busy = busy};

	MT_CHECK_EQ(mt_pool_size(pool), 1);
	mt_pool_submit(pool, &job.job);
	MT_CHECK_EQ(job.ran, 0);
	mt_pool_wait(pool, &job.job);
	MT_CHECK_EQ(job.ran, 1);
	mt_pool_destroy(pool);
}

MT_TEST_MAIN
