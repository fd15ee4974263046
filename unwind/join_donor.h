/*
 * Frames that a stack may be joined with. Private to the joiner.
 */
#ifndef MT_UNWIND_JOIN_DONOR_H
#define MT_UNWIND_JOIN_DONOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/join.h"

struct mt_join_place {
	uint64_t pc, sp;
};

/* Frames that cut stacks got from others: those joined one after the other mostly have the same. */
struct mt_join_tail {
	size_t references, count;
	uint64_t asked; /* for rivals, when so much was known; 0: not yet */
	size_t rivals;	/* frames from here on have none, but for the first that a stack got: */
	struct {
		uint64_t asked, inner; /* of that which such a stack asked last, and which calls */
		size_t from;
		bool has;
	} first;
	struct mt_join_place frames[];
};

/*
 * Frames that a stack may be joined with, innermost first: a stack's own and those that it was
 * joined with, or the copy of both. The first was sampled, the others call.
 */
struct mt_join_donor {
	const struct mt_join_stack *stack; /* or NULL */
	const struct mt_join_place *copy;
	size_t count;
	uint64_t left; /* frames below were left */
	struct mt_join_claim *claim;
};

static inline size_t mt_join_frames_of(const struct mt_join_stack *stack)
{
	return stack->count + stack->tail_count;
}

static inline struct mt_join_donor mt_join_donor_of_stack(const struct mt_join_stack *stack,
							  uint64_t left)
{
	return (struct mt_join_donor){.stack = stack,
				      .count = mt_join_frames_of(stack),
				      .left = left,
				      .claim = stack->claim};
}

static inline struct mt_join_place mt_join_frame_of(const struct mt_join_stack *stack, size_t i)
{
	struct mt_join_place frame;

	if (i < stack->count)
		return (struct mt_join_place){stack->pcs[i], stack->sps[i]};
	frame = stack->tail->frames[stack->tail_from + i - stack->count];
	if (i == stack->count)
		frame.pc = stack->tail_first;
	return frame;
}

static inline struct mt_join_place mt_join_frame_at(const struct mt_join_donor *donor, size_t i)
{
	return donor->stack ? mt_join_frame_of(donor->stack, i) : donor->copy[i];
}

/* The frames from `from` on. */
void mt_join_frames_copy(const struct mt_join_donor *donor, size_t from, struct mt_join_place *out);

/* Whether these are the tail's. */
bool mt_join_frames_are(const struct mt_join_donor *donor, size_t from,
			const struct mt_join_tail *tail);

/* Whether both addresses are in the same function. */
static inline bool mt_join_same_function(const struct mt_join_check *check,
					 const struct mt_image_map *map, uint64_t a, uint64_t b)
{
	return a == b || check->same(check->context, map, a, b);
}

/*
 * The innermost frame at or above sp that still stands, on the stack of the root: where the stack
 * pointer falls on the way in, the thread had switched to another one. Callers of which branch
 * records tell have no place, and stand as long as the frames within. donor->count: there is none.
 * The frames that a stack got rise, and are not looked at again.
 */
size_t mt_join_find_frame(const struct mt_join_donor *donor, uint64_t sp);

/* The frame of exactly that place, where it still stands; donor->count where there is none. */
size_t mt_join_find_place(const struct mt_join_donor *donor, uint64_t sp);

/*
 * Whether the stack of the root has a frame of exactly that place: *at. Looked for from the root
 * inwards, from the frame *at on; donor->count begins there. `depth` is where it was last.
 */
bool mt_join_descend_to(const struct mt_join_donor *donor, uint64_t sp, size_t depth, size_t *at);

/* Whether the frame that this one called stands, too. */
bool mt_join_inner_stands(const struct mt_join_donor *donor, size_t at);

/* Where in its function the frame calls inner; 0 where it cannot be the caller. */
uint64_t mt_join_call_in(const struct mt_join_check *check, const struct mt_join_donor *donor,
			 size_t at, const struct mt_image_map *map, uint64_t inner);

#endif
