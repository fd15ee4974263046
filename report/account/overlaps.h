/*
 * Calls whose order is not known: the last ones of a space, with what each of them changed, so that
 * what depends on the order of two that ran at the same time can be named. Two such calls that have
 * an address in common leave all that both of them changed in doubt, and whatever was moved on from
 * there since.
 */
#ifndef MT_REPORT_ACCOUNT_OVERLAPS_H
#define MT_REPORT_ACCOUNT_OVERLAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/account/call.h"

struct mt_overlaps;

struct mt_timed_call {
	uint64_t enter, exit;
	int32_t tid;
	uint32_t origin;
	bool ordered; /* its place is known: only others may have been before or behind it */
	bool brk;
	size_t count; /* of ranges; 0: it changed nothing */
	struct mt_range ranges[MT_VM_RANGES];
	struct mt_range moved; /* what it took elsewhere; empty: nothing */
	uint64_t to;
};

/*
 * A call as it was decoded; `brk` is where the heap ended before it, 0 not known, and `shm` the
 * size of the largest segment of shared memory attached so far.
 */
struct mt_timed_call mt_timed_call_of(const struct mt_vm_call *call, uint64_t brk, uint64_t shm);

/* What is told of each range in doubt, with the origins of both calls. False out of memory. */
struct mt_overlap_sink {
	bool (*doubt)(void *context, const struct mt_range *range, const uint32_t origins[2]);
	/* What of a range is in doubt was moved to another address, and is so there, too. */
	bool (*moved)(void *context, const struct mt_range *range, uint64_t to,
		      const uint32_t origins[2]);
	void *context;
};

/* NULL out of memory. */
struct mt_overlaps *mt_overlaps_create(void);
void mt_overlaps_destroy(struct mt_overlaps *overlaps);

/*
 * A call, in the order of their exits: tells what it leaves in doubt, and keeps it. False out of
 * memory, or from the sink.
 */
bool mt_overlaps_add(struct mt_overlaps *overlaps, const struct mt_timed_call *call,
		     const struct mt_overlap_sink *sink);

/*
 * What all calls of other threads that ended after `since` may not have done to it yet: of a fork.
 */
bool mt_overlaps_since(const struct mt_overlaps *overlaps, uint64_t since, int32_t tid,
		       const struct mt_overlap_sink *sink);

/* All addresses at which a call to brk that ended after `since` began or ended. */
struct mt_range mt_overlaps_brk(const struct mt_overlaps *overlaps, uint64_t since);

#endif
