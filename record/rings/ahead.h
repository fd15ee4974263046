/*
 * Populates memory before the drains need it: blocks of the spool and images of stacks. Drains must
 * not allocate (see record/rings/spool.c), and allocating everything at the start would cost a
 * short recording more than its samples do. So a thread of the drains' priority allocates more
 * whenever little is left.
 */
#ifndef MT_RECORD_RINGS_AHEAD_H
#define MT_RECORD_RINGS_AHEAD_H

#include <stddef.h>

struct mt_ahead;
struct mt_drain;
struct mt_error;
struct mt_spool;
struct mt_wake_thread;

/*
 * Starts the thread. Borrows the spool; destroying the struct mt_ahead unregisters it from the
 * spool.
 */
struct mt_error *mt_ahead_create(struct mt_spool *spool, struct mt_ahead **out);

/* From now on, also allocates the stack images of these drains. Borrows the drains. */
void mt_ahead_add_drains(struct mt_ahead *ahead, struct mt_drain *const *drains, size_t count);

/* Ends the thread. NULL-safe. */
void mt_ahead_destroy(struct mt_ahead *ahead);

/* Returns the thread, which others wake when more memory is needed. */
struct mt_wake_thread *mt_ahead_thread(struct mt_ahead *ahead);

#endif
