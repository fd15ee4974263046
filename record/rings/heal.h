/*
 * Healing holes: where the kernel ended a stack dump at a page that was never touched, one byte of
 * it is read from outside, of memory that is no file's. That makes the page present without
 * changing what it holds, and the dumps that follow pass through. A dump that ends with its stack's
 * mapping has no hole.
 *
 * Each hole is looked at once, by a thread of its own, and only so many a second.
 */
#ifndef MT_RECORD_RINGS_HEAL_H
#define MT_RECORD_RINGS_HEAL_H

#include <stdint.h>

struct mt_error;
struct mt_heal;

struct mt_heal_counts {
	uint64_t healed;  /* pages that were read */
	uint64_t ends;	  /* no holes: the stack ends there */
	uint64_t refused; /* the kernel let us not read, it is a file's, or the process was gone */
	uint64_t put_off; /* for there were too many at a time */
};

/* Starts the thread. */
struct mt_error *mt_heal_create(struct mt_heal **out);

/* Ends it; where it hangs in a page that does not come, leaves it to the end of the process. */
void mt_heal_destroy(struct mt_heal *heal);

/*
 * A dump of a thread of this process ended at that address although more was asked for. Callable
 * from any thread; never waits.
 */
void mt_heal_tell(struct mt_heal *heal, uint32_t pid, uint64_t address);

/* What it did so far. */
struct mt_heal_counts mt_heal_counts(const struct mt_heal *heal);

/* What there is to say of an address and the byte before it. */
enum mt_heal_answer {
	MT_HEAL_UNTOLD,	 /* errno says why */
	MT_HEAL_ENDS,	 /* no mapping has both */
	MT_HEAL_GOES_ON, /* one mapping has both */
	MT_HEAL_FILE,	 /* one has, and is a file's */
};

/* By a text as /proc/PID/maps has it; never MT_HEAL_UNTOLD. */
enum mt_heal_answer mt_heal_goes_on(const char *maps, uint64_t address);

/*
 * By the process whose /proc/PID/maps is open there, without the text; MT_HEAL_UNTOLD with errno
 * ENOTTY before Linux 6.11.
 */
enum mt_heal_answer mt_heal_ask(int maps, uint64_t address);

#endif
