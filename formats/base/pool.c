/*
 * One job list under one lock. A job runs for a few hundred microseconds, so the lock is not
 * contended.
 */
#include "formats/base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "formats/base/memory.h"

struct worker {
	struct mt_pool *pool;
	unsigned int number;
	pthread_t thread;
};

struct mt_pool {
	pthread_mutex_t lock;
	pthread_cond_t given, done;
	struct mt_job *first, **last;
	bool stop;
	unsigned int size, started; /* workers wanted and started, both with worker 0 */
	struct worker workers[];    /* [0] is not used: worker 0 is the thread that waits */
};

/* Takes the first job off the list; NULL if there is none. The lock is held. */
static struct mt_job *take(struct mt_pool *pool)
{
	struct mt_job *job = pool->first;

	if (!job)
		return NULL;
	pool->first = job->next;
	if (!pool->first)
		pool->last = &pool->first;
	return job;
}

/* Runs a job. Called with the lock held, and releases it while the job runs. */
static void run(struct mt_pool *pool, struct mt_job *job, unsigned int worker)
{
	pthread_mutex_unlock(&pool->lock);
	job->run(job, worker);
	pthread_mutex_lock(&pool->lock);
	job->done = true;
	pthread_cond_signal(&pool->done);
}

static void *work(void *of)
{
	struct worker *worker = of;
	struct mt_pool *pool = worker->pool;
	struct mt_job *job;

	pthread_mutex_lock(&pool->lock);
	while (!pool->stop) {
		job = take(pool);
		if (job)
			run(pool, job, worker->number);
		else
			pthread_cond_wait(&pool->given, &pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

static void start(struct mt_pool *pool)
{
	for (; pool->started < pool->size; pool->started++) {
		struct worker *worker = &pool->workers[pool->started];

		*worker = (struct worker){.pool = pool, .number = pool->started};
		if (mt_thread_start(&worker->thread, work, worker))
			break;
	}
}

struct mt_pool *mt_pool_create(unsigned int size)
{
	struct mt_pool *pool;

	size = size < 1 ? 1 : size > MT_POOL_MAX ? MT_POOL_MAX : size;
	pool = mt_alloc(1, sizeof(*pool) + size * sizeof(pool->workers[0]));
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->given, NULL);
	pthread_cond_init(&pool->done, NULL);
	pool->last = &pool->first;
	pool->size = size;
	pool->started = 1;
	return pool;
}

void mt_pool_destroy(struct mt_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->stop = true;
	pthread_cond_broadcast(&pool->given);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned int i = 1; i < pool->started; i++)
		pthread_join(pool->workers[i].thread, NULL);
	pthread_cond_destroy(&pool->given);
	pthread_cond_destroy(&pool->done);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

unsigned int mt_pool_size(const struct mt_pool *pool)
{
	return pool->size;
}

void mt_pool_submit(struct mt_pool *pool, struct mt_job *job)
{
	job->next = NULL;
	job->done = false;
	if (pool->started < pool->size) {
		start(pool);
		pool->size = pool->started; /* if a thread cannot be started, do not try again */
	}
	pthread_mutex_lock(&pool->lock);
	*pool->last = job;
	pool->last = &job->next;
	if (pool->size > 1)
		pthread_cond_signal(&pool->given);
	pthread_mutex_unlock(&pool->lock);
}

void mt_pool_wait(struct mt_pool *pool, struct mt_job *job)
{
	struct mt_job *other;

	pthread_mutex_lock(&pool->lock);
	while (!job->done) {
		other = take(pool);
		if (other)
			run(pool, other, 0);
		else
			pthread_cond_wait(&pool->done, &pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
}

int mt_thread_start(pthread_t *thread, void *(*body)(void *argument), void *argument)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(thread, NULL, body, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

void mt_inheriting_mutex(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}
