/*
 * The joiner: the outer frames of a stack that was cut short because its dump ended, taken from
 * another stack of the same thread. docs/joining.md tells the rule and how well it does.
 *
 *  1. A whole stack before or behind has a frame at the very place where the cut stack ends, its
 *     boundary, and no stack in between shows that this frame was left.
 *  2. That frame's function was seen to call the function at which the cut stack ends.
 *  3. The next whole stack of the thread that reaches the boundary has the same functions from
 *     there outwards. Where other stacks that end at the same call were found wrong too often, by
 *     whole stacks or by seeds, none that ends there is joined.
 *
 * Stacks are added in order of time. A stack is the caller's; the joiner holds it until
 * mt_joiner_release(), and what it points to as well.
 */
#ifndef MT_UNWIND_JOIN_JOIN_H
#define MT_UNWIND_JOIN_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_call_question;
struct mt_image_map;
struct mt_join_frames;
struct mt_join_thread;
struct mt_joiner;

enum mt_join_kind {
	MT_JOIN_WHOLE, /* it reached its root: others may be joined with it */
	MT_JOIN_CUT,   /* the dump or the branch records ended: it may be joined with others */
	MT_JOIN_OTHER, /* it only says where the thread stood */
};

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

	/* private to the joiner */
	struct mt_join_frames *frames;	     /* its own and those that it got; NULL: it got none */
	bool is_refuted;		     /* a later stack has other frames there */
	struct mt_join_thread *of;	     /* its thread */
	bool waits;			     /* it is on that thread's list */
	struct mt_join_stack *newer, *older; /* on that list */
	uint64_t peak; /* the highest stack pointer between this stack and the next on the list */
};

/* What the joiner asks of code. */
struct mt_join_check {
	void *context;
	/* answers mt_call_site_find()'s question */
	uint64_t (*site)(void *context, const struct mt_call_question *question);
	/* whether both addresses are in the same function */
	bool (*same)(void *context, const struct mt_image_map *map, uint64_t a, uint64_t b);
};

/* NULL out of memory. *check is copied. */
struct mt_joiner *mt_joiner_create(const struct mt_join_check *check);
void mt_joiner_destroy(struct mt_joiner *joiner);

/*
 * The next stack. Joins it, or others that wait for a whole one, where the rule allows. False out
 * of memory.
 */
bool mt_joiner_add(struct mt_joiner *joiner, struct mt_join_stack *stack);

/*
 * Whether a stack that was joined may stay so, by all stacks added since. Ask as late as possible,
 * before mt_joiner_release().
 */
bool mt_join_stands(const struct mt_joiner *joiner, const struct mt_join_stack *stack);

/* The addresses of the first n frames that a stack got, innermost first, until it is released. */
void mt_join_tail_pcs(const struct mt_join_stack *stack, size_t n, uint64_t *out);

/* The joiner forgets the stack; its tail is freed. */
void mt_joiner_release(struct mt_join_stack *stack);

/* Forgets all threads: another recording begins. Every stack has been released. */
void mt_joiner_reset(struct mt_joiner *joiner);

#endif
