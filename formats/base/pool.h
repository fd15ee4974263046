/*
 * A few threads that run jobs. Who waits for a job works too, so a pool of one has no thread at all
 * and runs each job when it is waited for.
 */
#ifndef MT_FORMATS_BASE_POOL_H
#define MT_FORMATS_BASE_POOL_H

struct mt_pool;

enum {
	MT_POOL_MAX = 256, /* threads */
};

/* Embedded by the caller's struct, which stays where it is until the job is done. */
struct mt_job {
	/* worker counts from 0 to the pool's size - 1: no two jobs run as the same one at a time */
	void (*run)(struct mt_job *job, unsigned int worker);
	struct mt_job *next; /* private to the pool, as is done */
	int done;
};

/*
 * `size` counts the thread that waits: it is worker 0. The others begin with the first job; fewer,
 * where the system gives no more. NULL out of memory.
 */
struct mt_pool *mt_pool_create(unsigned int size);
/* Every job has been waited for. NULL-safe. */
void mt_pool_destroy(struct mt_pool *pool);
unsigned int mt_pool_size(const struct mt_pool *pool);

/* Jobs begin in the order they are given. */
void mt_pool_submit(struct mt_pool *pool, struct mt_job *job);

/*
 * Returns when the job is done; runs others meanwhile. One thread gives jobs and waits for them:
 * the one that made the pool.
 */
void mt_pool_wait(struct mt_pool *pool, struct mt_job *job);

#endif
