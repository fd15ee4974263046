/*
 * The joiner: completes a stack whose dump ended early with the outer frames of another stack of
 * the thread. docs/joining.md has the rule and its measured accuracy.
 *
 * 1. A whole stack before or after the cut one has a frame exactly at the cut stack's boundary, and
 *    no stack in between shows that the thread has left this frame.
 * 2. That frame's function was seen to call the function at which the cut stack ends.
 * 3. The thread's next whole stack that reaches the boundary has the same functions from there
 *    outwards. A cut stack is not joined if the frames joined to other stacks that ended at the
 *    same call were refuted too often, by whole stacks or by seeds.
 *
 * Stacks are added in order of time. The caller owns a stack and what it points to, and keeps both
 * until mt_joiner_release().
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
	MT_JOIN_WHOLE, /* reached the root: other stacks may be joined with it */
	MT_JOIN_CUT,   /* ended with the dump or the branch records: may be joined */
	MT_JOIN_OTHER, /* only shows the thread's position */
};

/*
 * A stack to join. A seed is a stack with a larger dump than the other stacks of its event, so that
 * it is whole where they are cut.
 */
struct mt_join_stack {
	uint64_t thread; /* unique number of the thread */
	enum mt_join_kind kind;
	const uint64_t *pcs; /* innermost first; for callers, of the last byte of the call */
	const uint64_t *sps; /* stack pointer of each frame; 0: unknown, only in outer frames */
	size_t count;
	uint64_t shorter;  /* seeds: where a normal dump would end; 0: not a seed */
	uint64_t boundary; /* cut stacks: stack pointer of the missing caller; 0: unknown */
	const struct mt_image_map *map; /* passed to the check */

	size_t tail_count; /* out: frames joined, read with mt_join_tail_pcs() */

	/* Private to the joiner. */
	struct mt_join_frames *frames; /* frames of the stack and joined frames; NULL: not joined */
	bool is_refuted;	   /* a later stack has other frames in place of the joined ones */
	struct mt_join_thread *of; /* thread of the stack */
	bool waits;		   /* is on the thread's list */
	struct mt_join_stack *newer, *older; /* neighbours on the list */
	uint64_t peak; /* highest stack pointer between this stack and the next newer one */
};

/* Answers questions of the joiner about code. */
struct mt_join_check {
	void *context;
	/* mt_call_site_find() */
	uint64_t (*site)(void *context, const struct mt_call_question *question);
	/* mt_call_sites_same() */
	bool (*same)(void *context, const struct mt_image_map *map, uint64_t a, uint64_t b);
};

/* NULL out of memory. *check is copied. */
struct mt_joiner *mt_joiner_create(const struct mt_join_check *check);
void mt_joiner_destroy(struct mt_joiner *joiner);

/*
 * Adds the next stack. Joins this stack, or stacks that wait for a whole one, if the rule allows
 * it. False out of memory.
 */
bool mt_joiner_add(struct mt_joiner *joiner, struct mt_join_stack *stack);

/*
 * Whether a joined stack is still considered right after all stacks added since. Call as late as
 * possible before mt_joiner_release().
 */
bool mt_join_is_valid(const struct mt_joiner *joiner, const struct mt_join_stack *stack);

/* Copies the addresses of the first n joined frames, innermost first. */
void mt_join_tail_pcs(const struct mt_join_stack *stack, size_t n, uint64_t *out);

/* Drops the stack from the joiner and frees its joined frames. */
void mt_joiner_release(struct mt_join_stack *stack);

/* Drops all threads, before another recording. Every stack must have been released. */
void mt_joiner_reset(struct mt_joiner *joiner);

#endif
