/*
 * Limits on the recorder itself, for hosts that run short of memory: its memory is bounded and
 * locked, and the OOM killer does not choose it first.
 */
#ifndef MT_RECORD_RINGS_SELF_LIMITS_H
#define MT_RECORD_RINGS_SELF_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a memory budget is divided. */
struct mt_memory_share {
	uint64_t bytes;	 /* whole budget; more than requested if that is too little */
	size_t blocks;	 /* blocks of the spool, MT_SPOOL_BLOCK bytes each */
	unsigned images; /* stack images of each stream, 64 KiB each */
	uint64_t tables; /* bytes of unwind tables; 0: no stack is unwound */
	size_t hold;	 /* bytes of samples that may wait to be unwound */
};

/* Work of the recorder in addition to copying. */
struct mt_memory_use {
	bool carries; /* carries images */
	bool unwinds; /* unwinds stacks */
};

/*
 * Divides a budget of `bytes` among the streams, the spool and the uses. 0: the default, which is
 * 64 MiB, 160 MiB if stacks are unwound, and more on hosts with dozens of CPUs.
 */
struct mt_memory_share mt_memory_share(uint64_t bytes, size_t streams,
				       const struct mt_memory_use *use);

/*
 * Makes malloc return freed blocks of 128 KiB and more to the system, because by default each of
 * several arenas keeps its largest size. Call before there are threads.
 */
void mt_self_limits_bound_heap(void);

/* Bytes of private memory of this process now, without files and rings. */
uint64_t mt_self_limits_memory(void);

/*
 * Locks present and future memory of this process, page by page as it is touched, if the limit of
 * locked memory does not apply (otherwise that limit is left to the rings). False if not permitted.
 */
bool mt_self_limits_lock_memory(void);

/*
 * If memory is locked, populates everything mapped so far: code, data and stacks. Otherwise the
 * first touch of a page is a fault, which takes mmap_lock. A thread of the lowest priority may hold
 * that lock while a ring overflows. False if memory is not locked.
 */
bool mt_self_limits_have_memory(void);

/*
 * Makes the stacks of threads that are started from now on small, because all of a stack is locked.
 */
void mt_self_limits_bound_stacks(void);

/*
 * Switches NUMA balancing off for this process. NUMA balancing unmaps pages at intervals, to learn
 * from the faults which node uses them. Children inherit the setting, so fork them before.
 */
void mt_self_limits_stay_local(void);

/*
 * Lowers oom_score_adj of this process as far as permitted and returns the new value. Children
 * inherit the value, so fork them before.
 */
int mt_self_limits_spare_from_oom(void);

enum mt_priority {
	MT_PRIORITY_REALTIME,
	MT_PRIORITY_NICE,   /* nice -20 */
	MT_PRIORITY_NORMAL, /* whatever mtrec was started with */
};

/* Raises the calling thread's priority as far as permitted. */
enum mt_priority mt_self_limits_raise_priority(void);

#endif
