/*
 * Being a good guest on a host that runs short of memory: the recorder's own memory is bounded,
 * locked, and not what the kernel takes first.
 */
#ifndef MT_RECORD_GUEST_H
#define MT_RECORD_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a budget is spent. */
struct mt_memory_share {
	uint64_t bytes;	 /* all of it; more than was asked for where that is too little */
	size_t blocks;	 /* of the spool, MT_SPOOL_BLOCK each */
	unsigned images; /* of stacks, 64 KiB each, in each stream */
};

/*
 * Shares out `bytes` (0: the default, 64 MiB, more on hosts with dozens of CPUs) among so many
 * streams; carries: and what carries images has its part.
 */
struct mt_memory_share mt_memory_share(uint64_t bytes, size_t streams, bool carries);

/*
 * Has the C library's heap give back what is freed, from blocks of 128 KiB on: left to itself it
 * keeps as much as it once had, in each of several arenas. To be called before there are threads.
 */
void mt_guest_bound_heap(void);

/*
 * Locks what this process has and will have, as it is touched, where the limit of locked memory is
 * no matter for us (what little there is goes to the rings). False where it may not.
 */
bool mt_guest_lock_memory(void);

/*
 * Lowers our oom_score_adj as far as we may, and gives what it is then. Children inherit it: fork
 * before.
 */
int mt_guest_spare_from_oom(void);

#endif
