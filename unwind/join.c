/*
 * For each thread the frames of its last whole stack, as far as they still stand, and the cut
 * stacks since then. A cut stack that is joined is as good as a whole one. Each whole stack settles
 * all that wait, from the newest back: those that it proves nothing about nothing later can.
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

struct mt_join_thread {
	MT_ARRAY(struct place) frames; /* of the last whole stack, sp rising */
	size_t from;		       /* those before are gone */
	bool sampled;		       /* frame 0 is where the thread was sampled, not at a call */
	struct mt_join_stack *newest;  /* of those that wait */
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

void mt_joiner_release(struct mt_join_stack *stack)
{
	unlink_stack(stack);
	free(stack->tail);
	stack->tail = NULL;
}

/* ---- Joining ---- */

/* Frames that a stack may be joined with; the first may have been sampled rather than calling. */
struct donor {
	const struct place *frames;
	size_t count;
	bool sampled; /* frames[0] */
};

/* The first frame whose stack pointer is not below sp. */
static size_t lower_bound(const struct donor *donor, uint64_t sp)
{
	size_t low = 0, high = donor->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (donor->frames[middle].sp < sp)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool same_place(const struct place *place, const struct mt_join_stack *stack, size_t i)
{
	return place->pc == stack->pcs[i] && place->sp == stack->sps[i];
}

/*
 * Two frames in both: the last that the cut stack has, and the one that it called. Gives the index
 * of what follows them in the donor; 0 where there is none.
 */
static size_t match_frames(const struct donor *donor, const struct mt_join_stack *stack)
{
	size_t last = stack->count - 1, at = lower_bound(donor, stack->sps[last]);

	if (!last || !at || at >= donor->count || !same_place(&donor->frames[at], stack, last) ||
	    !same_place(&donor->frames[at - 1], stack, last - 1))
		return 0;
	return at + 1;
}

/*
 * The frame at the boundary: its index, and *site, where in its function the call to the cut
 * stack's last frame is. SIZE_MAX where there is none, or it cannot be the caller.
 */
static size_t match_boundary(const struct mt_joiner *joiner, const struct donor *donor,
			     const struct mt_join_stack *stack, uint64_t *site)
{
	size_t at = lower_bound(donor, stack->boundary), last = stack->count - 1;
	struct mt_call_question question = {.map = stack->map, .inner = stack->pcs[last]};

	if (at == donor->count || donor->frames[at].sp != stack->boundary)
		return SIZE_MAX;
	question.outer = donor->frames[at].pc;
	question.outer_calls = at || !donor->sampled;
	question.known_inner = at ? donor->frames[at - 1].pc : 0;
	*site = question.outer;
	if (at && same_place(&donor->frames[at - 1], stack, last))
		return at;
	*site = joiner->check.site(joiner->check.context, &question);
	return *site ? at : SIZE_MAX;
}

static struct mt_join_tail *copy_tail(const struct donor *donor, size_t from)
{
	size_t count = donor->count - from;
	struct mt_join_tail *tail = malloc(sizeof(*tail) + 2 * count * sizeof(tail->words[0]));

	if (!tail)
		return NULL;
	tail->count = count;
	for (size_t i = 0; i < count; i++) {
		tail->words[i] = donor->frames[from + i].pc;
		tail->words[count + i] = donor->frames[from + i].sp;
	}
	return tail;
}

/* Joins where that is proven: stack->tail tells. False out of memory. */
static bool join(const struct mt_joiner *joiner, const struct donor *donor,
		 struct mt_join_stack *stack)
{
	uint64_t site = 0;
	size_t at;

	if (!donor->count || !stack->count)
		return true;
	if (stack->boundary) {
		at = match_boundary(joiner, donor, stack, &site);
		if (at == SIZE_MAX)
			return true;
	} else {
		at = match_frames(donor, stack);
		if (!at)
			return true;
	}
	stack->tail = copy_tail(donor, at);
	if (stack->tail && site)
		stack->tail->words[0] = site;
	return stack->tail;
}

/* ---- What still stands ---- */

/* The lowest stack pointer that a caller of this stack's frames may have. */
static uint64_t reach(const struct mt_join_stack *stack)
{
	return stack->boundary ? stack->boundary : stack->sps[stack->count - 1];
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
 * Keeps a stack's frames as the thread's: those behind the last switch to another stack, where the
 * stack pointer falls.
 */
static bool keep(struct mt_join_thread *thread, const struct mt_join_stack *stack)
{
	size_t tail = stack->tail ? stack->tail->count : 0, first = 0;

	thread->frames.count = thread->from = 0;
	if (!mt_array_reserve(&thread->frames, stack->count + tail))
		return false;
	for (size_t i = 1; i < stack->count; i++) {
		if (stack->sps[i] < stack->sps[i - 1])
			first = i;
	}
	thread->sampled = !first;
	for (size_t i = first; i < stack->count; i++)
		thread->frames.items[thread->frames.count++] =
			(struct place){stack->pcs[i], stack->sps[i]};
	for (size_t i = 0; i < tail; i++)
		thread->frames.items[thread->frames.count++] =
			(struct place){stack->tail->words[i], stack->tail->words[tail + i]};
	return true;
}

static struct donor donor_of(const struct mt_join_thread *thread)
{
	return (struct donor){thread->frames.items + thread->from,
			      thread->frames.count - thread->from,
			      thread->sampled && !thread->from};
}

/* Frames below sp were left. */
static void drop_below(struct mt_join_thread *thread, uint64_t sp)
{
	while (thread->from < thread->frames.count && thread->frames.items[thread->from].sp < sp)
		thread->from++;
}

/*
 * Settles all that wait, by the thread's frames: from the newest back, each that is joined lending
 * its frames to the older ones. One that is not says what did not stand between.
 */
static bool settle(struct mt_joiner *joiner, struct mt_join_thread *thread)
{
	struct mt_join_thread known = {0};
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
		if (!s->tail) {
			floor = higher(floor, beyond(s));
		} else if (older) {
			good = good && keep(&known, s);
			donor = donor_of(&known);
		}
	}
	mt_array_deinit(&known.frames);
	return good;
}

bool mt_joiner_add(struct mt_joiner *joiner, struct mt_join_stack *stack)
{
	struct mt_join_thread *thread;

	if (!stack->count || !stack->sps[0])
		return true;
	thread = find_thread(joiner, stack->thread);
	if (!thread)
		return false;
	drop_below(thread, stack->sps[0]);
	if (thread->newest)
		thread->newest->peak = higher(thread->newest->peak, stack->sps[0]);
	if (stack->kind == MT_JOIN_OTHER)
		return true;
	if (stack->kind == MT_JOIN_CUT) {
		struct donor donor = donor_of(thread);

		if (!join(joiner, &donor, stack))
			return false;
		if (!stack->tail) {
			drop_below(thread, beyond(stack));
			wait_in(thread, stack);
			return true;
		}
	}
	return keep(thread, stack) && (!thread->newest || settle(joiner, thread));
}
