/*
 * Memory between the drains and the writing thread: a bounded pool of blocks, and a queue of full
 * ones in order. Its locks inherit priority, so that a real-time drain never waits for a preempted
 * writer.
 */
#ifndef MT_RECORD_RINGS_SPOOL_H
#define MT_RECORD_RINGS_SPOOL_H

#include <stdbool.h>
#include <stddef.h>

struct mt_block;
struct mt_spool;

#define MT_SPOOL_BLOCK ((size_t)512 << 10) /* bytes of a block: one chunk before compression */

/*
 * Creates a spool of at most `blocks` blocks of MT_SPOOL_BLOCK bytes; allocates a few of them. NULL
 * out of memory.
 */
struct mt_spool *mt_spool_create(size_t blocks);
void mt_spool_destroy(struct mt_spool *spool);

/*
 * Sets the function that is called on the thread that takes a block, when few free blocks are left
 * and more may be allocated. It must make another thread call mt_spool_grow(). NULL: none.
 */
void mt_spool_set_want(struct mt_spool *spool, void (*want)(void *context), void *context);

/* Allocates blocks until a few are free, as far as the bound allows. Thread-safe. */
void mt_spool_grow(struct mt_spool *spool);

/*
 * Lowers the bound to the present number of blocks minus `blocks`, but not below 16, and frees free
 * blocks. Do not call on a thread that others wait for.
 */
void mt_spool_shrink(struct mt_spool *spool, size_t blocks);

/* True if mt_spool_take() would find a block now. */
bool mt_spool_has_free(struct mt_spool *spool);

/* A free block, to be pushed or released; NULL if all are in use. Does not wait. */
struct mt_block *mt_spool_take(struct mt_spool *spool);

/* Like mt_spool_take(), but waits for a free block. */
struct mt_block *mt_spool_take_wait(struct mt_spool *spool);

/*
 * Sets the function that is called on the pushing thread when `percent` or more of all blocks are
 * queued after a push. Set before the first push.
 */
void mt_spool_set_alarm(struct mt_spool *spool, unsigned percent, void (*alarm)(void *context),
			void *context);

/* Queues a block for the writer. */
void mt_spool_push(struct mt_spool *spool, struct mt_block *block);

/*
 * Returns the oldest queued block; waits until there is one. NULL if the spool is closed and empty.
 * The caller returns the block with mt_spool_release().
 */
struct mt_block *mt_spool_pop(struct mt_spool *spool);
void mt_spool_release(struct mt_spool *spool, struct mt_block *block);

/* Ends pushing: mt_spool_pop() returns NULL when the queue is empty. */
void mt_spool_close(struct mt_spool *spool);

/* Bytes in blocks that are queued, being filled or being written. */
size_t mt_spool_in_use(struct mt_spool *spool);

/* Number of queued blocks. */
size_t mt_spool_queued(struct mt_spool *spool);

/*
 * Queued blocks in percent of the bound; and the largest number of bytes that were ever queued.
 */
unsigned mt_spool_fill(struct mt_spool *spool);
size_t mt_spool_peak(struct mt_spool *spool);

#endif
