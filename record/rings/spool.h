/*
 * Memory between those who drain rings and the one who compresses and writes: a bounded pool of
 * blocks, and a queue of the full ones in order. Locks inherit priority, so that a real-time drain
 * never waits for a preempted writer.
 */
#ifndef MT_RECORD_RINGS_SPOOL_H
#define MT_RECORD_RINGS_SPOOL_H

#include <stdbool.h>
#include <stddef.h>

struct mt_block;
struct mt_spool;

#define MT_SPOOL_BLOCK ((size_t)512 << 10) /* bytes of a block: one chunk before compression */

/*
 * Room for `blocks` blocks of MT_SPOOL_BLOCK bytes; a few of them are there at once. NULL out of
 * memory.
 */
struct mt_spool *mt_spool_create(size_t blocks);
void mt_spool_destroy(struct mt_spool *spool);

/*
 * What to call, on the thread that takes a block, when few are left and more may be had: it is to
 * see to it that another thread calls mt_spool_grow(). NULL: nothing.
 */
void mt_spool_set_want(struct mt_spool *spool, void (*want)(void *context), void *context);

/* Gets so many more that a few are free, as far as there is memory; the spool is used meanwhile. */
void mt_spool_grow(struct mt_spool *spool);

/*
 * From now on so many blocks fewer than there are, 16 at least: gives back free ones. Not on a
 * thread that others wait for.
 */
void mt_spool_shrink(struct mt_spool *spool, size_t blocks);

/* Whether mt_spool_take() would find one now. */
bool mt_spool_has_free(struct mt_spool *spool);

/* A free block, the caller's until pushed or released; NULL where all are in use. Does not wait. */
struct mt_block *mt_spool_take(struct mt_spool *spool);

/* As above, waiting until there is one. */
struct mt_block *mt_spool_take_wait(struct mt_spool *spool);

/*
 * What to call, on the pushing thread, when a push leaves `percent` or more of all blocks queued.
 * Set before the first push.
 */
void mt_spool_set_alarm(struct mt_spool *spool, unsigned percent, void (*alarm)(void *context),
			void *context);

/* Queues a block for the writer. */
void mt_spool_push(struct mt_spool *spool, struct mt_block *block);

/*
 * The oldest queued block, waiting for one; NULL when the spool is closed and empty. Give it back
 * with release.
 */
struct mt_block *mt_spool_pop(struct mt_spool *spool);
void mt_spool_release(struct mt_spool *spool, struct mt_block *block);

/* No more pushes: pop ends when the queue is empty. */
void mt_spool_close(struct mt_spool *spool);

/* Bytes that stand in blocks now: queued, being filled or being written. */
size_t mt_spool_in_use(struct mt_spool *spool);

/* Blocks that are queued now. */
size_t mt_spool_queued(struct mt_spool *spool);

/*
 * How full: queued blocks in percent of all that there may be; and the most there ever were, in
 * bytes.
 */
unsigned mt_spool_fill(struct mt_spool *spool);
size_t mt_spool_peak(struct mt_spool *spool);

#endif
