/*
 * Stacks from branch records: the hardware's call stack as it is, plain records classified and
 * replayed (lbr.h). Private to the unwinder.
 */
#ifndef MT_UNWIND_LBR_WALK_H
#define MT_UNWIND_LBR_WALK_H

#include "unwind/unwind.h"

struct mt_branch_runs;
struct mt_walk;

/* The sampled ip, and behind it what the input's branch records prove. */
enum mt_stack_end mt_branches_whole(struct mt_walk *walk);

/* Whether the input's branch records are a hardware call stack. */
bool mt_branches_are_calls(const struct mt_unwind_input *input);

void mt_branch_runs_destroy(struct mt_branch_runs *runs);

#endif
