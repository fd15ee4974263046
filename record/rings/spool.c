/*
 * The block pool and the queue share one mutex. Blocks are mapped populated, so that using one
 * faults no page. A drain never maps blocks: a real-time drain that needs the lock of the address
 * space waits for the thread that holds it, which may have a low priority, and the drain's ring
 * overflows meanwhile. Waiting threads are woken through semaphores for the same reason: signalling
 * a condition variable can block until threads woken earlier have run. Only a few blocks are
 * allocated at the start: most recordings use few, and allocating a page costs more than a sample.
 */
#include "record/rings/spool.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "formats/base/cleanup.h"
#include "formats/base/pages.h"
#include "formats/base/pool.h"
#include "formats/chunks/chunk.h"

#define LEAST 16 /* blocks; the bound is never lower */
/*
 * Free blocks to keep ready until the pool is complete. Mapping a block may wait up to 0.2 s for
 * the lock of the address space, and drains had filled 8 blocks by then: with 8, 3 of 25 recordings
 * of an allocator lost samples.
 */
#define AHEAD 24

struct mt_spool {
	pthread_mutex_t lock;
	sem_t pushed;	    /* one for each queued block, and one when the spool is closed */
	sem_t released;	    /* one for each waiting thread that should look for a block again */
	size_t limit, most; /* capacity of the arrays, and the present bound on blocks */
	struct mt_block *blocks; /* `limit` of them; the first `made` have been allocated before */
	size_t made;
	struct mt_block **free, **queue, **bare; /* stack, ring, stack of limit pointers */
	size_t free_count, queue_first, queue_count, queue_peak, waiting;
	size_t bare_count; /* blocks whose memory was freed */
	bool complete;
	unsigned alarm_percent; /* queued blocks, in percent, from which alarm is called */
	void (*alarm)(void *context);
	void *alarm_context;
	void (*want)(void *context); /* or NULL */
	void *want_context;
};

static void init_locks(struct mt_spool *spool)
{
	mt_inheriting_mutex(&spool->lock);
	sem_init(&spool->pushed, 0, 0);
	sem_init(&spool->released, 0, 0);
}

static void wait_for(sem_t *sem)
{
	while (sem_wait(sem) && errno == EINTR)
		;
}

static void add_free_locked(struct mt_spool *spool, struct mt_block *block)
{
	spool->free[spool->free_count++] = block;
	if (spool->waiting) {
		spool->waiting--;
		sem_post(&spool->released);
	}
}

/* Number of blocks that have memory. */
static size_t there_locked(const struct mt_spool *spool)
{
	return spool->made - spool->bare_count;
}

/* Adds a block to the pool; false if the pool is complete, or out of memory. */
static bool add_block(struct mt_spool *spool)
{
	struct mt_block *block;
	void *bytes = mt_pages_map(MT_SPOOL_BLOCK);
	bool used = false;

	pthread_mutex_lock(&spool->lock);
	if (bytes && there_locked(spool) < spool->most) {
		block = spool->bare_count ? spool->bare[--spool->bare_count]
					  : &spool->blocks[spool->made++];
		*block = (struct mt_block){.bytes = bytes, .capacity = MT_SPOOL_BLOCK};
		add_free_locked(spool, block);
		used = true;
	}
	spool->complete = !used || there_locked(spool) >= spool->most;
	pthread_mutex_unlock(&spool->lock);
	if (bytes && !used)
		munmap(bytes, MT_SPOOL_BLOCK);
	return used;
}

/* Takes the memory of a free block if there are more blocks than the bound; else NULL. */
static void *empty_block(struct mt_spool *spool)
{
	struct mt_block *block = NULL;
	void *bytes = NULL;

	pthread_mutex_lock(&spool->lock);
	if (there_locked(spool) > spool->most && spool->free_count)
		block = spool->free[--spool->free_count];
	if (block) {
		bytes = MT_TAKE(block->bytes);
		block->capacity = 0;
		spool->bare[spool->bare_count++] = block;
	}
	pthread_mutex_unlock(&spool->lock);
	return bytes;
}

void mt_spool_shrink(struct mt_spool *spool, size_t blocks)
{
	size_t there, least = spool->limit < LEAST ? spool->limit : LEAST;
	void *bytes;

	pthread_mutex_lock(&spool->lock);
	there = there_locked(spool) < spool->most ? there_locked(spool) : spool->most;
	spool->most = there > least + blocks ? there - blocks : least;
	spool->complete = there_locked(spool) >= spool->most;
	pthread_mutex_unlock(&spool->lock);
	while ((bytes = empty_block(spool)))
		munmap(bytes, MT_SPOOL_BLOCK);
}

static bool wants_blocks(const struct mt_spool *spool)
{
	return spool->free_count < AHEAD && !spool->complete;
}

void mt_spool_grow(struct mt_spool *spool)
{
	bool wants = true;

	while (wants) {
		pthread_mutex_lock(&spool->lock);
		wants = wants_blocks(spool);
		pthread_mutex_unlock(&spool->lock);
		if (wants)
			wants = add_block(spool);
	}
}

void mt_spool_set_want(struct mt_spool *spool, void (*want)(void *context), void *context)
{
	pthread_mutex_lock(&spool->lock);
	spool->want = want;
	spool->want_context = context;
	pthread_mutex_unlock(&spool->lock);
}

/*
 * Allocates a few blocks at the start, because a thread must not wait for a block if no memory ever
 * comes.
 */
static bool reserve(struct mt_spool *spool)
{
	mt_spool_grow(spool);
	return spool->made == (spool->limit < AHEAD ? spool->limit : AHEAD);
}

struct mt_spool *mt_spool_create(size_t blocks)
{
	struct mt_spool *spool = calloc(1, sizeof(*spool));

	if (!spool)
		return NULL;
	init_locks(spool);

	spool->limit = spool->most = blocks;
	spool->blocks = calloc(blocks, sizeof(*spool->blocks));
	spool->free = calloc(blocks, sizeof(*spool->free));
	spool->queue = calloc(blocks, sizeof(*spool->queue));
	spool->bare = calloc(blocks, sizeof(*spool->bare));
	if (!spool->blocks || !spool->free || !spool->queue || !spool->bare || !reserve(spool)) {
		mt_spool_destroy(spool);
		return NULL;
	}
	mt_pages_ready(spool->free, blocks * sizeof(*spool->free));
	mt_pages_ready(spool->queue, blocks * sizeof(*spool->queue));
	return spool;
}

void mt_spool_destroy(struct mt_spool *spool)
{
	if (!spool)
		return;
	for (size_t i = 0; i < spool->made; i++) {
		if (spool->blocks[i].bytes)
			munmap(spool->blocks[i].bytes, MT_SPOOL_BLOCK);
	}
	sem_destroy(&spool->pushed);
	sem_destroy(&spool->released);
	pthread_mutex_destroy(&spool->lock);
	free(spool->blocks);
	free(spool->free);
	free(spool->queue);
	free(spool->bare);
	free(spool);
}

static struct mt_block *take_locked(struct mt_spool *spool)
{
	return spool->free_count ? spool->free[--spool->free_count] : NULL;
}

/* The function to call if few blocks are free; want NULL: no function. */
struct wanting {
	void (*want)(void *context);
	void *context;
};

static struct wanting wanting_locked(const struct mt_spool *spool)
{
	return wants_blocks(spool) ? (struct wanting){spool->want, spool->want_context}
				   : (struct wanting){NULL, NULL};
}

static void notify(const struct wanting *wanting)
{
	if (wanting->want)
		wanting->want(wanting->context);
}

struct mt_block *mt_spool_take(struct mt_spool *spool)
{
	struct mt_block *block;
	struct wanting wanting;

	pthread_mutex_lock(&spool->lock);
	block = take_locked(spool);
	wanting = wanting_locked(spool);
	pthread_mutex_unlock(&spool->lock);
	notify(&wanting);
	return block;
}

struct mt_block *mt_spool_take_wait(struct mt_spool *spool)
{
	struct mt_block *block;
	struct wanting wanting;

	pthread_mutex_lock(&spool->lock);
	while (!(block = take_locked(spool))) {
		spool->waiting++;
		pthread_mutex_unlock(&spool->lock);
		wait_for(&spool->released);
		pthread_mutex_lock(&spool->lock);
	}
	wanting = wanting_locked(spool);
	pthread_mutex_unlock(&spool->lock);
	notify(&wanting);
	return block;
}

bool mt_spool_has_free(struct mt_spool *spool)
{
	bool has;

	pthread_mutex_lock(&spool->lock);
	has = spool->free_count;
	pthread_mutex_unlock(&spool->lock);
	return has;
}

void mt_spool_set_alarm(struct mt_spool *spool, unsigned percent, void (*alarm)(void *context),
			void *context)
{
	spool->alarm_percent = percent;
	spool->alarm = alarm;
	spool->alarm_context = context;
}

void mt_spool_push(struct mt_spool *spool, struct mt_block *block)
{
	bool alarming;

	pthread_mutex_lock(&spool->lock);
	spool->queue[(spool->queue_first + spool->queue_count++) % spool->limit] = block;
	if (spool->queue_count > spool->queue_peak)
		spool->queue_peak = spool->queue_count;
	alarming = spool->alarm && spool->queue_count >= spool->most * spool->alarm_percent / 100;
	pthread_mutex_unlock(&spool->lock);
	sem_post(&spool->pushed);
	if (alarming)
		spool->alarm(spool->alarm_context);
}

struct mt_block *mt_spool_pop(struct mt_spool *spool)
{
	struct mt_block *block = NULL;

	wait_for(&spool->pushed);
	pthread_mutex_lock(&spool->lock);
	if (spool->queue_count) {
		block = spool->queue[spool->queue_first];
		spool->queue_first = (spool->queue_first + 1) % spool->limit;
		spool->queue_count--;
	}
	pthread_mutex_unlock(&spool->lock);
	if (!block)
		sem_post(&spool->pushed); /* closed: wakes the next reader as well */
	return block;
}

void mt_spool_release(struct mt_spool *spool, struct mt_block *block)
{
	pthread_mutex_lock(&spool->lock);
	block->used = 0;
	add_free_locked(spool, block);
	pthread_mutex_unlock(&spool->lock);
}

void mt_spool_close(struct mt_spool *spool)
{
	sem_post(&spool->pushed);
}

size_t mt_spool_in_use(struct mt_spool *spool)
{
	size_t bytes = 0;

	pthread_mutex_lock(&spool->lock);
	for (size_t i = 0; i < spool->made; i++)
		bytes += __atomic_load_n(&spool->blocks[i].used, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&spool->lock);
	return bytes;
}

size_t mt_spool_queued(struct mt_spool *spool)
{
	size_t count;

	pthread_mutex_lock(&spool->lock);
	count = spool->queue_count;
	pthread_mutex_unlock(&spool->lock);
	return count;
}

unsigned mt_spool_fill(struct mt_spool *spool)
{
	unsigned fill;

	pthread_mutex_lock(&spool->lock);
	fill = (unsigned)(spool->queue_count * 100 / spool->most);
	pthread_mutex_unlock(&spool->lock);
	return fill;
}

size_t mt_spool_peak(struct mt_spool *spool)
{
	size_t peak;

	pthread_mutex_lock(&spool->lock);
	peak = spool->queue_peak * MT_SPOOL_BLOCK;
	pthread_mutex_unlock(&spool->lock);
	return peak;
}
