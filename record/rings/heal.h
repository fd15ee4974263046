/*
 * Heals holes in stacks. Where the kernel ended a stack dump at a page that was never touched, one
 * byte of that page is read with process_vm_readv(2), unless the page is a file's. That faults the
 * page in without changing its contents, and later dumps pass through it. A dump that ends where
 * the stack's mapping ends has no hole.
 *
 * A thread of its own handles each hole once, and only so many a second.
 */
#ifndef MT_RECORD_RINGS_HEAL_H
#define MT_RECORD_RINGS_HEAL_H

#include <stdint.h>

struct mt_error;
struct mt_heal;

struct mt_heal_counts {
	uint64_t healed;  /* pages faulted in */
	uint64_t ends;	  /* dumps that ended where the stack ends */
	uint64_t refused; /* not permitted, page of a file, or process gone */
	uint64_t put_off; /* holes beyond the limit a second */
};

/* Starts the thread. */
struct mt_error *mt_heal_create(struct mt_heal **out);

/* Ends the thread. A thread that hangs in a page of FUSE is left behind until the process exits. */
void mt_heal_destroy(struct mt_heal *heal);

/*
 * Reports that a dump of a thread of this process ended at that address although more was
 * requested. Callable from any thread; never waits.
 */
void mt_heal_tell(struct mt_heal *heal, uint32_t pid, uint64_t address);

/* The counts so far. */
struct mt_heal_counts mt_heal_counts(const struct mt_heal *heal);

/* Whether a mapping covers an address and the byte before it. */
enum mt_heal_answer {
	MT_HEAL_UNTOLD,	 /* unknown; errno says why */
	MT_HEAL_ENDS,	 /* no mapping covers both */
	MT_HEAL_GOES_ON, /* one mapping covers both */
	MT_HEAL_FILE,	 /* a mapping of a file covers both */
};

/* The answer from the text of /proc/PID/maps; never MT_HEAL_UNTOLD. */
enum mt_heal_answer mt_heal_goes_on(const char *maps, uint64_t address);

/*
 * The answer from the ioctl PROCMAP_QUERY on an open /proc/PID/maps; MT_HEAL_UNTOLD with errno
 * ENOTTY before Linux 6.11.
 */
enum mt_heal_answer mt_heal_ask(int maps, uint64_t address);

#endif
