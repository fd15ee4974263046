/* Stacks from hardware call stacks, which branch records hold. Private to the unwinder. */
#ifndef MT_UNWIND_LBR_WALK_H
#define MT_UNWIND_LBR_WALK_H

#include "unwind/unwind.h"

struct mt_walk;

enum {
	MT_BRANCHES_MAX = 1024, /* records used; the oldest are ignored */
};

struct mt_branch_call {
	uint64_t from, to;
	uint8_t size; /* of the call instruction at `from`, in bytes; 0: unknown */
};

/* The recorded calls, newest first, at most MT_BRANCHES_MAX. */
size_t mt_branches_callers(const struct mt_walk *walk, struct mt_branch_call *out);

/*
 * Appends those callers to a stack whose dump ended with `end`; returns the new end (lbr_splice.c).
 */
enum mt_stack_end mt_branches_splice(struct mt_walk *walk, enum mt_stack_end end);

/* Builds a stack from the sampled ip and the recorded calls. */
enum mt_stack_end mt_branches_whole(struct mt_walk *walk);

#endif
