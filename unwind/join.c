/*
 * For each thread its last whole stack, how far up its frames were left since, and the cut stacks
 * since then. A cut stack that is joined is as good as a whole one. Each whole stack settles all
 * that wait, from the newest back: those that it proves nothing about nothing later can.
 *
 * Nearly every stack is whole and replaced before anybody asks for its frames: they are looked at
 * where they are, from the root inwards, and copied only when the last one of a thread is released.
 */
#include "unwind/join.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "unwind/call_site.h"

struct place {
	uint64_t pc, sp;
};

/* Frames that cut stacks got from others: those joined one after the other mostly have the same. */
struct mt_join_tail {
	size_t references, count;
	struct place frames[];
};

struct mt_join_thread {
	struct mt_join_stack *held;    /* the last whole stack; NULL: it was released */
	MT_ARRAY(struct place) frames; /* of one that was released */
	uint64_t left;		       /* frames below were left */
	struct mt_join_stack *newest;  /* of those that wait */
	bool failed;		       /* out of memory while one was released */
};

struct mt_joiner {
	struct mt_join_check check;
	struct mt_map64 by_thread; /* to an index in threads */
	MT_ARRAY(struct mt_join_thread *) threads;
	struct mt_join_thread *last;
	uint64_t last_key;
};

struct mt_joiner *mt_joiner_create(const struct mt_join_check *check)
{
	struct mt_joiner *joiner = calloc(1, sizeof(*joiner));

	if (joiner)
		joiner->check = *check;
	return joiner;
}

void mt_joiner_reset(struct mt_joiner *joiner)
{
	for (size_t i = 0; i < joiner->threads.count; i++) {
		mt_array_deinit(&joiner->threads.items[i]->frames);
		free(joiner->threads.items[i]);
	}
	joiner->threads.count = 0;
	joiner->last = NULL;
	mt_map64_deinit(&joiner->by_thread);
	joiner->by_thread = (struct mt_map64){0};
}

void mt_joiner_destroy(struct mt_joiner *joiner)
{
	if (!joiner)
		return;
	mt_joiner_reset(joiner);
	mt_array_deinit(&joiner->threads);
	free(joiner);
}

static struct mt_join_thread *add_thread(struct mt_joiner *joiner, uint64_t key)
{
	struct mt_join_thread **slot = mt_array_push(&joiner->threads);

	if (!slot)
		return NULL;
	*slot = calloc(1, sizeof(**slot));
	if (!*slot || !mt_map64_put(&joiner->by_thread, key, joiner->threads.count - 1)) {
		free(*slot);
		joiner->threads.count--;
		return NULL;
	}
	return *slot;
}

static struct mt_join_thread *find_thread(struct mt_joiner *joiner, uint64_t key)
{
	uint64_t index;

	if (joiner->last && joiner->last_key == key)
		return joiner->last;
	joiner->last_key = key;
	joiner->last = mt_map64_get(&joiner->by_thread, key, &index) ? joiner->threads.items[index]
								     : add_thread(joiner, key);
	return joiner->last;
}

/* ---- Waiting ---- */

static void wait_in(struct mt_join_thread *thread, struct mt_join_stack *stack)
{
	stack->waits = thread;
	stack->peak = 0;
	stack->newer = NULL;
	stack->older = thread->newest;
	if (stack->older)
		stack->older->newer = stack;
	thread->newest = stack;
}

static void unlink_stack(struct mt_join_stack *stack)
{
	if (!stack->waits)
		return;
	if (stack->newer)
		stack->newer->older = stack->older;
	else
		stack->waits->newest = stack->older;
	if (stack->older)
		stack->older->newer = stack->newer;
	stack->waits = NULL;
}

/* ---- Frames ---- */

/*
 * Frames that a stack may be joined with, innermost first: a stack's own and those that it was
 * joined with, or the copy of both. The first was sampled, the others call.
 */
struct donor {
	struct mt_join_stack *stack; /* or NULL */
	const struct place *copy;
	size_t count;
	uint64_t left; /* frames below were left */
};

static struct donor donor_of_stack(struct mt_join_stack *stack, uint64_t left)
{
	return (struct donor){
		.stack = stack, .count = stack->count + stack->tail_count, .left = left};
}

static struct donor donor_of(const struct mt_join_thread *thread)
{
	if (thread->held)
		return donor_of_stack(thread->held, thread->left);
	return (struct donor){
		.copy = thread->frames.items, .count = thread->frames.count, .left = thread->left};
}

static struct place frame_at(const struct donor *donor, size_t i)
{
	const struct mt_join_stack *stack = donor->stack;
	struct place frame;

	if (!stack)
		return donor->copy[i];
	if (i < stack->count)
		return (struct place){stack->pcs[i], stack->sps[i]};
	frame = stack->tail->frames[stack->tail_from + i - stack->count];
	if (i == stack->count)
		frame.pc = stack->tail_first;
	return frame;
}

/*
 * From which frame on stack pointers rise, up to `placed`, the end of those that have a place. The
 * frames that a stack got rise, and are not looked at again.
 */
static size_t rising_from(const struct donor *donor, size_t placed)
{
	struct mt_join_stack *stack = donor->stack;
	size_t at = stack && stack->tail_count && placed > stack->count ? stack->count : placed;
	uint64_t above = at < placed ? frame_at(donor, at).sp : UINT64_MAX, here;

	if (stack && stack->rising)
		return stack->rising - 1;
	for (; at; at--) {
		here = frame_at(donor, at - 1).sp;
		if (!here || here > above)
			break;
		above = here;
	}
	if (stack)
		stack->rising = at + 1;
	return at;
}

/*
 * The innermost frame at or above sp that still stands, on the stack of the root: where the stack
 * pointer falls on the way in, the thread had switched to another one. Callers of which branch
 * records tell have no place, and stand as long as the frames within. donor->count: there is none.
 */
static size_t find_frame(const struct donor *donor, uint64_t sp)
{
	uint64_t lowest = sp > donor->left ? sp : donor->left;
	size_t from, to, placed = donor->count;

	while (placed && !frame_at(donor, placed - 1).sp)
		placed--;
	from = rising_from(donor, placed);
	for (to = placed; from < to;) {
		size_t middle = from + (to - from) / 2;

		if (frame_at(donor, middle).sp >= lowest)
			to = middle;
		else
			from = middle + 1;
	}
	return to < placed ? to : donor->count;
}

/* Whether the frame that this one called stands, too. */
static bool inner_stands(const struct donor *donor, size_t at)
{
	uint64_t sp = at ? frame_at(donor, at - 1).sp : 0;

	return sp && sp >= donor->left && sp <= frame_at(donor, at).sp;
}

static void let_go(struct mt_join_thread *thread)
{
	if (thread->held)
		thread->held->holder = NULL;
	thread->held = NULL;
}

static void hold(struct mt_join_thread *thread, struct mt_join_stack *stack)
{
	let_go(thread);
	thread->held = stack;
	thread->left = 0;
	stack->holder = thread;
}

/* What a thread holds is to be freed: its frames are copied. */
static void copy_held(struct mt_join_thread *thread)
{
	struct donor donor = donor_of(thread);

	thread->frames.count = 0;
	if (mt_array_reserve(&thread->frames, donor.count)) {
		for (size_t i = 0; i < donor.count; i++)
			thread->frames.items[i] = frame_at(&donor, i);
		thread->frames.count = donor.count;
	} else {
		thread->failed = true;
	}
	let_go(thread);
}

void mt_joiner_release(struct mt_join_stack *stack)
{
	unlink_stack(stack);
	if (stack->holder)
		copy_held(stack->holder);
	if (stack->tail && !--stack->tail->references)
		free(stack->tail);
	stack->tail = NULL;
	stack->tail_count = stack->rising = 0;
}

/* ---- Joining ---- */

static bool same_place(struct place place, const struct mt_join_stack *stack, size_t i)
{
	return place.pc == stack->pcs[i] && place.sp == stack->sps[i];
}

/* The last frame whose stack pointer is known: branch records tell callers without theirs. */
static size_t last_placed(const struct mt_join_stack *stack)
{
	size_t last = stack->count - 1;

	while (last && !stack->sps[last])
		last--;
	return last;
}

/* Whether what the donor has from `at` on begins with the cut stack's frames from i on. */
static bool same_callers(const struct donor *donor, size_t at, const struct mt_join_stack *stack,
			 size_t i)
{
	if (donor->count - at < stack->count - i)
		return false;
	for (; i < stack->count; i++, at++) {
		if (frame_at(donor, at).pc != stack->pcs[i])
			return false;
	}
	return true;
}

/*
 * Two frames in both: the last that the cut stack has with its place, and the one that it called;
 * and the callers that the cut stack has of it. Gives the index of what follows them in the donor;
 * donor->count where there is none.
 */
static size_t match_frames(const struct donor *donor, const struct mt_join_stack *stack)
{
	size_t last = last_placed(stack), at = find_frame(donor, stack->sps[last]);

	if (!last || at == donor->count || !inner_stands(donor, at) ||
	    !same_place(frame_at(donor, at), stack, last) ||
	    !same_place(frame_at(donor, at - 1), stack, last - 1) ||
	    !same_callers(donor, at + 1, stack, last + 1))
		return donor->count;
	return at + stack->count - last;
}

/*
 * The frame at the boundary: its index, and *site, where in its function the call to the cut
 * stack's last frame is. donor->count where there is none, or it cannot be the caller.
 */
static size_t match_boundary(const struct mt_joiner *joiner, const struct donor *donor,
			     const struct mt_join_stack *stack, uint64_t *site)
{
	size_t at = find_frame(donor, stack->boundary), last = stack->count - 1;
	struct mt_call_question question = {.map = stack->map, .inner = stack->pcs[last]};
	bool inner;

	if (at == donor->count || frame_at(donor, at).sp != stack->boundary)
		return donor->count;
	inner = inner_stands(donor, at);
	question.outer = frame_at(donor, at).pc;
	question.outer_calls = at;
	question.known_inner = inner ? frame_at(donor, at - 1).pc : 0;
	*site = question.outer;
	if (inner && same_place(frame_at(donor, at - 1), stack, last))
		return at;
	*site = joiner->check.site(joiner->check.context, &question);
	return *site ? at : donor->count;
}

static struct mt_join_tail *copy_tail(const struct donor *donor, size_t from)
{
	size_t count = donor->count - from;
	struct mt_join_tail *tail = malloc(sizeof(*tail) + count * sizeof(tail->frames[0]));

	if (!tail)
		return NULL;
	tail->references = 0;
	tail->count = count;
	for (size_t i = 0; i < count; i++)
		tail->frames[i] = frame_at(donor, from + i);
	return tail;
}

/* Gives the stack the donor's frames from `from` on; false out of memory. */
static bool take_tail(const struct donor *donor, size_t from, struct mt_join_stack *stack)
{
	const struct mt_join_stack *other = donor->stack;
	bool shared = other && from >= other->count;

	stack->tail = shared ? other->tail : copy_tail(donor, from);
	if (!stack->tail)
		return false;
	stack->tail->references++;
	stack->tail_from = shared ? other->tail_from + from - other->count : 0;
	stack->tail_count = donor->count - from;
	stack->tail_first = frame_at(donor, from).pc;
	stack->rising = 0;
	return true;
}

void mt_join_tail_pcs(const struct mt_join_stack *stack, size_t n, uint64_t *out)
{
	for (size_t i = 0; i < n && i < stack->tail_count; i++)
		out[i] = stack->tail->frames[stack->tail_from + i].pc;
	if (n && stack->tail_count)
		out[0] = stack->tail_first;
}

/* Joins where that is proven: stack->tail_count tells. False out of memory. */
static bool join(const struct mt_joiner *joiner, const struct donor *donor,
		 struct mt_join_stack *stack)
{
	uint64_t site = 0;
	size_t at;

	at = stack->boundary ? match_boundary(joiner, donor, stack, &site)
			     : match_frames(donor, stack);
	if (at >= donor->count)
		return true;
	if (!take_tail(donor, at, stack))
		return false;
	if (site)
		stack->tail_first = site;
	return true;
}

/* ---- What still stands ---- */

/* The lowest stack pointer that a caller of this stack's frames may have. */
static uint64_t reach(const struct mt_join_stack *stack)
{
	return stack->boundary ? stack->boundary : stack->sps[last_placed(stack)];
}

/* That of frames which a stack that was not joined leaves standing: its caller is another one. */
static uint64_t beyond(const struct mt_join_stack *stack)
{
	return reach(stack) + 1;
}

static uint64_t higher(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Settles all that wait, by the thread's frames: from the newest back, each that is joined lending
 * its frames to the older ones. One that is not says what did not stand between.
 */
static bool settle(struct mt_joiner *joiner, struct mt_join_thread *thread)
{
	struct donor donor = donor_of(thread);
	struct mt_join_stack *older;
	uint64_t floor = 0;
	bool good = true;

	for (struct mt_join_stack *s = thread->newest; s; s = older) {
		older = s->older;
		unlink_stack(s);
		floor = higher(floor, s->peak);
		if (good && reach(s) >= floor)
			good = join(joiner, &donor, s);
		if (s->tail_count)
			donor = donor_of_stack(s, 0);
		else
			floor = higher(floor, beyond(s));
	}
	return good;
}

bool mt_joiner_add(struct mt_joiner *joiner, struct mt_join_stack *stack)
{
	struct mt_join_thread *thread;

	if (!stack->count || !stack->sps[0])
		return true;
	thread = find_thread(joiner, stack->thread);
	if (!thread || thread->failed)
		return false;
	thread->left = higher(thread->left, stack->sps[0]);
	if (thread->newest)
		thread->newest->peak = higher(thread->newest->peak, stack->sps[0]);
	if (stack->kind == MT_JOIN_OTHER)
		return true;
	if (stack->kind == MT_JOIN_CUT) {
		struct donor donor = donor_of(thread);

		if (!join(joiner, &donor, stack))
			return false;
		if (!stack->tail_count) {
			thread->left = higher(thread->left, beyond(stack));
			wait_in(thread, stack);
			return true;
		}
	}
	hold(thread, stack);
	return !thread->newest || settle(joiner, thread);
}
