/*
 * Stacks from branch records: a hardware call stack as recorded, plain records classified and
 * replayed (lbr.h). Private to the unwinder.
 */
#ifndef MT_UNWIND_BRANCHES_LBR_WALK_H
#define MT_UNWIND_BRANCHES_LBR_WALK_H

#include "unwind/branches/lbr.h"
#include "unwind/unwind.h"

struct mt_branch_runs;
struct mt_walk;

enum {
	MT_BRANCHES_MAX = 1024, /* records used; the oldest are ignored */
};

/* The calls that the records prove to be active at ip, newest first, at most MT_BRANCHES_MAX. */
size_t mt_branches_callers(const struct mt_walk *walk, uint64_t ip, struct mt_lbr_entry *out);

/*
 * Appends those callers to a stack whose dump ended with `end`; returns the new end (lbr_splice.c).
 */
enum mt_stack_end mt_branches_splice(struct mt_walk *walk, enum mt_stack_end end);

/* Builds a stack from the sampled ip and the callers that the branch records prove. */
enum mt_stack_end mt_branches_whole(struct mt_walk *walk);

/* Whether the input's branch records are a hardware call stack. */
bool mt_branches_are_calls(const struct mt_unwind_input *input);

void mt_branch_runs_destroy(struct mt_branch_runs *runs);

#endif
