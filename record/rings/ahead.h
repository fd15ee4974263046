/*
 * Memory that those who drain rings will need, fetched from the system ahead of them: blocks of the
 * spool and images of stacks. They must not fetch it themselves (record/rings/spool.c says why),
 * and all of it at the start would cost a short recording more than its samples do. So a thread of
 * its own does, as urgent as they are, whenever little is left.
 */
#ifndef MT_RECORD_RINGS_AHEAD_H
#define MT_RECORD_RINGS_AHEAD_H

#include <stddef.h>

struct mt_ahead;
struct mt_drain;
struct mt_error;
struct mt_spool;

/* Starts the thread. The spool is borrowed; it no longer wants anything once this is destroyed. */
struct mt_error *mt_ahead_create(struct mt_spool *spool, struct mt_ahead **out);

/* The drains whose images it sees to from now on; borrowed. */
void mt_ahead_add_drains(struct mt_ahead *ahead, struct mt_drain *const *drains, size_t count);

/* Ends the thread. NULL-safe. */
void mt_ahead_destroy(struct mt_ahead *ahead);

/* Something gets short. Callable from any thread (context: the struct mt_ahead); never waits. */
void mt_ahead_ask(void *context);

#endif
