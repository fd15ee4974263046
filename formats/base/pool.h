/*
 * A thread pool. The thread that waits for a job runs jobs too, so a pool of size one starts no
 * thread and runs each job in mt_pool_wait().
 */
#ifndef MT_FORMATS_BASE_POOL_H
#define MT_FORMATS_BASE_POOL_H

#include <pthread.h>

struct mt_pool;

enum {
	MT_POOL_MAX = 256, /* workers */
};

/* Embedded in the caller's struct, which must not move until the job is done. */
struct mt_job {
	/* worker is below the pool's size; no two jobs run with the same number at the same time */
	void (*run)(struct mt_job *job, unsigned int worker);
	struct mt_job *next; /* private to the pool, like done */
	int done;
};

/*
 * Creates a pool of `size` workers, including worker 0, the thread that waits. The other threads
 * start with the first job; there are fewer of them if the system refuses to start more.
 */
struct mt_pool *mt_pool_create(unsigned int size);
/* Call only after every job was waited for. NULL-safe. */
void mt_pool_destroy(struct mt_pool *pool);
unsigned int mt_pool_size(const struct mt_pool *pool);

/* Submits a job. Jobs start in the order in which they are submitted. */
void mt_pool_submit(struct mt_pool *pool, struct mt_job *job);

/*
 * Returns when the job is done, and runs other jobs meanwhile. Only the thread that created the
 * pool submits and waits.
 */
void mt_pool_wait(struct mt_pool *pool, struct mt_job *job);

/* ---- Threads ---- */

/* Starts a thread with all signals blocked, because the main thread handles signals; 0, or an errno
 * value. */
int mt_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/* Initialises a mutex whose holder inherits the priority of the threads that wait for it. */
void mt_inheriting_mutex(pthread_mutex_t *mutex);

#endif
