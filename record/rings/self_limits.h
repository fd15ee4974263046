/*
 * Being a good guest on a host that runs short of memory: the recorder's own memory is bounded,
 * locked, and not what the kernel takes first.
 */
#ifndef MT_RECORD_RINGS_SELF_LIMITS_H
#define MT_RECORD_RINGS_SELF_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a budget is spent. */
struct mt_memory_share {
	uint64_t bytes;	 /* all of it; more than was asked for where that is too little */
	size_t blocks;	 /* of the spool, MT_SPOOL_BLOCK each */
	unsigned images; /* of stacks, 64 KiB each, in each stream */
	uint64_t tables; /* bytes of unwind tables; 0: no stack is unwound */
	size_t hold;	 /* bytes of samples that may wait to be unwound */
};

/* What beside copying is to be done with it. */
struct mt_memory_use {
	bool carries; /* images */
	bool unwinds; /* stacks */
};

/*
 * Shares out `bytes` (0: the default, 64 MiB, 160 where stacks are unwound, more on hosts with
 * dozens of CPUs) among so many streams and the rest of what it is for.
 */
struct mt_memory_share mt_memory_share(uint64_t bytes, size_t streams,
				       const struct mt_memory_use *use);

/*
 * Has the C library's heap give back what is freed, from blocks of 128 KiB on: left to itself it
 * keeps as much as it once had, in each of several arenas. To be called before there are threads.
 */
void mt_self_limits_bound_heap(void);

/* Bytes of memory of its own that this process has now: not what files and rings have. */
uint64_t mt_self_limits_memory(void);

/*
 * Locks what this process has and will have, as it is touched, where the limit of locked memory is
 * no matter for us (what little there is goes to the rings). False where it may not.
 */
bool mt_self_limits_lock_memory(void);

/*
 * Where memory is locked: makes present all that there is by now, code, data and stacks. A page
 * that comes with the first touch is a fault; a fault takes the address space's lock; and whoever
 * holds that may be of the lowest priority, while a ring overflows. False where it is not.
 */
bool mt_self_limits_have_memory(void);

/* The stacks of threads that are started from now on are small, for all of them is locked. */
void mt_self_limits_bound_stacks(void);

/*
 * Where there are several nodes of memory, the kernel takes pages away now and then to see by the
 * next fault which node's threads use them: not from this process and its threads. Children inherit
 * that: fork before.
 */
void mt_self_limits_stay_local(void);

/*
 * Lowers our oom_score_adj as far as we may, and gives what it is then. Children inherit it: fork
 * before.
 */
int mt_self_limits_spare_from_oom(void);

enum mt_priority {
	MT_PRIORITY_REALTIME,
	MT_PRIORITY_NICE,   /* nice -20 */
	MT_PRIORITY_NORMAL, /* whatever mtrec was started with */
};

/* Raises the calling thread's priority as far as it may. */
enum mt_priority mt_self_limits_raise_priority(void);

#endif
