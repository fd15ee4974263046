/*
 * What a stack says of the spots where others of its thread were joined. Private to the joiner.
 */
#ifndef MT_UNWIND_JOIN_WEIGH_H
#define MT_UNWIND_JOIN_WEIGH_H

#include <stdint.h>

struct mt_join_check;
struct mt_join_donor;
struct mt_join_spots;
struct mt_join_stack;

/*
 * Judges spots by what the stack shows, from its own root or from `end` inwards: what it got beyond
 * is common by descent. `before` is what was taken to stand so far.
 */
void mt_join_weigh(const struct mt_join_check *check, const struct mt_join_spots *spots,
		   const struct mt_join_donor *before, const struct mt_join_stack *stack,
		   uint64_t end);

#endif
