/*
 * Finds calls of an address space whose order is unknown. If two calls ran at the same time and
 * have an address in common, all ranges of both calls are doubtful, and so is memory that was moved
 * from these ranges later. The latest calls of a space are kept one by one. Older calls are kept as
 * one range around their changes.
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
	bool ordered; /* the call's place in the order is known */
	bool brk;
	size_t count; /* ranges; 0: the call changed nothing */
	struct mt_range ranges[MT_VM_RANGES];
	struct mt_range moved; /* range that the call moved to `to`; empty: none */
	uint64_t to;
};

/*
 * Makes a timed call. `brk` is the end of the heap before the call, 0: unknown; `shm` the size of
 * the largest attached segment of shared memory.
 */
struct mt_timed_call mt_timed_call_of(const struct mt_vm_call *call, uint64_t brk, uint64_t shm);

/* Called for each range in doubt, with the origins of both calls. */
struct mt_overlap_sink {
	void (*doubt)(void *context, const struct mt_range *range, const uint32_t origins[2]);
	/* The doubtful parts of a range were moved to another address and are in doubt there. */
	void (*moved)(void *context, const struct mt_range *range, uint64_t to,
		      const uint32_t origins[2]);
	void *context;
};

/* The caller destroys it. */
struct mt_overlaps *mt_overlaps_create(void);
void mt_overlaps_destroy(struct mt_overlaps *overlaps);

/*
 * Adds a call, and passes the ranges that it makes doubtful to the sink. Add calls in the order of
 * their exits.
 */
void mt_overlaps_add(struct mt_overlaps *overlaps, const struct mt_timed_call *call,
		     const struct mt_overlap_sink *sink);

/*
 * Passes the ranges of other threads' calls that ended after `since` to the sink: a fork may have
 * copied the space before these calls.
 */
void mt_overlaps_since(const struct mt_overlaps *overlaps, uint64_t since, int32_t tid,
		       const struct mt_overlap_sink *sink);

/*
 * A range around all changes of calls that are no longer kept, if one of them ended after `since`,
 * else an empty range. mt_overlaps_since() does not report these calls.
 */
struct mt_range mt_overlaps_forgotten(const struct mt_overlaps *overlaps, uint64_t since);

/* Widens a range by all moves of the heap's end by brk calls that ended after `since`. */
void mt_overlaps_brk(const struct mt_overlaps *overlaps, uint64_t since, struct mt_range *all);

#endif
