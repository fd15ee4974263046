/*
 * The joiner: what other stacks of a thread prove about the outer frames of one that was cut short
 * because its dump ended.
 *
 * A stack that was cut ends within a frame whose caller's stack pointer is known, its boundary. An
 * earlier or later whole stack of the same thread that has a frame at that very boundary goes on
 * from there as the cut one does, if nothing says that the frame was left in between: no stack
 * seen in between stands above the boundary, or has other frames there. And the frame's function
 * has to call the one that was cut, as far as its code tells, and no other be known that may have
 * stood there and calls it.
 *
 * Stacks are added in order of time. A stack is the caller's; it is held by the joiner until
 * mt_joiner_release(), and what it points to as well.
 */
#ifndef MT_UNWIND_JOIN_H
#define MT_UNWIND_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_call_question;
struct mt_call_rival_question;
struct mt_image_map;
struct mt_joiner;

enum mt_join_kind {
	MT_JOIN_WHOLE, /* it reached its root: others may be joined with it */
	MT_JOIN_CUT,   /* the dump or the branch records ended: it may be joined with others */
	MT_JOIN_OTHER, /* it only says where the thread stood */
};

struct mt_join_claim;
struct mt_join_tail;

/* A seed has a larger dump than the others of its event: it is whole where these are cut. */
struct mt_join_stack {
	uint64_t thread; /* any number that no two threads share */
	enum mt_join_kind kind;
	const uint64_t *pcs; /* innermost first; of callers, the last byte of the call */
	const uint64_t *sps; /* the stack pointer in each frame; 0 unknown, of outer ones */
	size_t count;
	uint64_t shorter;  /* of a seed: where the dumps of its like end; 0: it is none */
	uint64_t boundary; /* of a cut stack: the stack pointer in the missing caller; 0 unknown */
	const struct mt_image_map *map; /* for the code between; given to the check */

	size_t tail_count; /* out: frames that it got, see mt_join_tail_pcs(); 0 until then */

	struct mt_join_claim *claim; /* private to the joiner: what its frames rest on; */
	struct mt_join_tail *tail;   /* where these are, from which on, */
	size_t tail_from;
	uint64_t tail_first;		       /* but for the first one's address; */
	struct mt_join_stack *newer, *older;   /* cut stacks that wait, */
	struct mt_join_thread *waits, *holder; /* where, and the thread that has it as its last */
	uint64_t peak; /* the highest stack pointer since, up to the next that waits */
};

/* What the joiner asks of code. */
struct mt_join_check {
	void *context;
	/* answers mt_call_site_find()'s question */
	uint64_t (*site)(void *context, const struct mt_call_question *question);
	/* whether both addresses are in the same function */
	bool (*same)(void *context, const struct mt_image_map *map, uint64_t a, uint64_t b);
	/* answers mt_call_site_has_rival()'s question */
	bool (*rival)(void *context, const struct mt_call_rival_question *question);
	/* what that may become true by: another number each time, never 0 */
	uint64_t (*known)(void *context, const struct mt_image_map *map);
};

/* NULL out of memory. *check is copied. */
struct mt_joiner *mt_joiner_create(const struct mt_join_check *check);
void mt_joiner_destroy(struct mt_joiner *joiner);

/*
 * The next stack. Joins it, or others that wait for a whole one, where that is proven. False out of
 * memory.
 */
bool mt_joiner_add(struct mt_joiner *joiner, struct mt_join_stack *stack);

/*
 * Whether a stack that was joined may stay so, by all that was added since. Asked as late as can
 * be, before mt_joiner_release().
 */
bool mt_join_stands(const struct mt_joiner *joiner, const struct mt_join_stack *stack);

/* The addresses of the first n frames that a stack got, innermost first, until it is released. */
void mt_join_tail_pcs(const struct mt_join_stack *stack, size_t n, uint64_t *out);

/*
 * The stack is not waited for any longer; its tail is freed. Of nearly all there is nothing: whole
 * ones that others came after.
 */
void mt_joiner_give_up(struct mt_join_stack *stack);
static inline void mt_joiner_release(struct mt_join_stack *stack)
{
	if (stack->tail || stack->claim || stack->holder || stack->waits)
		mt_joiner_give_up(stack);
}

/* Forgets all threads: another recording begins. Every stack has been released. */
void mt_joiner_reset(struct mt_joiner *joiner);

#endif
