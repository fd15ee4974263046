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
#include "unwind/join_claim.h"

enum {
	PASSED = 4, /* one in so many stacks that need not be looked at is */
	TALLIES = 4096
};

struct place {
	uint64_t pc, sp;
};

/* Frames that cut stacks got from others: those joined one after the other mostly have the same. */
struct mt_join_tail {
	size_t references, count;
	bool asked;    /* for rivals, */
	size_t rivals; /* and frames from here on have none, but for the first that a stack got */
	struct place frames[];
};

struct mt_join_thread {
	struct mt_join_stack *held;    /* the last whole stack; NULL: it was released */
	MT_ARRAY(struct place) frames; /* of one that was released */
	struct mt_join_claim *claim;   /* what these rest on */
	struct mt_join_spots spots;
	uint64_t left;		      /* frames below were left */
	struct mt_join_stack *newest; /* of those that wait */
	bool failed;		      /* out of memory while one was released */
};

struct mt_joiner {
	struct mt_join_check check;
	struct mt_map64 by_thread; /* to an index in threads */
	MT_ARRAY(struct mt_join_thread *) threads;
	struct mt_join_thread *last;
	uint64_t last_key;
	struct mt_join_tallies tallies[TALLIES]; /* by a hash */
	bool seeds;				 /* there are some */
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
		struct mt_join_thread *thread = joiner->threads.items[i];

		mt_array_deinit(&thread->frames);
		mt_join_claim_release(thread->claim);
		mt_join_spots_deinit(&thread->spots);
		free(thread);
	}
	joiner->threads.count = 0;
	joiner->last = NULL;
	mt_map64_deinit(&joiner->by_thread);
	joiner->by_thread = (struct mt_map64){0};
	joiner->seeds = false;
	memset(joiner->tallies, 0, sizeof(joiner->tallies));
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
	const struct mt_join_stack *stack; /* or NULL */
	const struct place *copy;
	size_t count;
	uint64_t left; /* frames below were left */
	struct mt_join_claim *claim;
};

static struct donor donor_of_stack(const struct mt_join_stack *stack, uint64_t left)
{
	return (struct donor){.stack = stack,
			      .count = stack->count + stack->tail_count,
			      .left = left,
			      .claim = stack->claim};
}

static struct donor donor_of(const struct mt_join_thread *thread)
{
	if (thread->held)
		return donor_of_stack(thread->held, thread->left);
	return (struct donor){.copy = thread->frames.items,
			      .count = thread->frames.count,
			      .left = thread->left,
			      .claim = thread->claim};
}

static inline struct place frame_at(const struct donor *donor, size_t i)
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

/* The first of [from, to) whose stack pointer is not below sp; these rise. */
static size_t first_above(const struct donor *donor, size_t from, size_t to, uint64_t sp)
{
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (frame_at(donor, middle).sp >= sp)
			to = middle;
		else
			from = middle + 1;
	}
	return to;
}

/*
 * The innermost frame at or above sp that still stands, on the stack of the root: where the stack
 * pointer falls on the way in, the thread had switched to another one. Callers of which branch
 * records tell have no place, and stand as long as the frames within. donor->count: there is none.
 * The frames that a stack got rise, and are not looked at again.
 */
static size_t find_frame(const struct donor *donor, uint64_t sp)
{
	uint64_t lowest = sp > donor->left ? sp : donor->left, above;
	size_t placed = donor->count, got, at;

	while (placed && !frame_at(donor, placed - 1).sp)
		placed--;
	got = donor->stack && donor->stack->count < placed ? donor->stack->count : placed;
	above = got < placed ? frame_at(donor, got).sp : UINT64_MAX;
	at = first_above(donor, got, placed, lowest);
	for (; at && at <= got; at--) {
		uint64_t here = frame_at(donor, at - 1).sp;

		if (here < lowest || here > above)
			break;
		above = here;
	}
	return at < placed ? at : donor->count;
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
	mt_join_claim_release(thread->claim);
	thread->claim = NULL;
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
	struct mt_join_claim *claim = mt_join_claim_share(donor.claim);

	thread->frames.count = 0;
	if (mt_array_reserve(&thread->frames, donor.count)) {
		for (size_t i = 0; i < donor.count; i++)
			thread->frames.items[i] = frame_at(&donor, i);
		thread->frames.count = donor.count;
	} else {
		thread->failed = true;
	}
	let_go(thread);
	thread->claim = claim;
}

void mt_joiner_give_up(struct mt_join_stack *stack)
{
	unlink_stack(stack);
	if (stack->holder)
		copy_held(stack->holder);
	if (stack->tail && !--stack->tail->references)
		free(stack->tail);
	mt_join_claim_release(stack->claim);
	stack->tail = NULL;
	stack->claim = NULL;
	stack->tail_count = 0;
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

/* The frame of exactly that place, where it still stands; donor->count where there is none. */
static size_t find_place(const struct donor *donor, uint64_t sp)
{
	size_t at = find_frame(donor, sp);

	return at < donor->count && frame_at(donor, at).sp == sp ? at : donor->count;
}

/* Where in its function the frame calls inner; 0 where it cannot be the caller. */
static uint64_t call_in(const struct mt_joiner *joiner, const struct donor *donor, size_t at,
			const struct mt_image_map *map, uint64_t inner)
{
	struct mt_call_question question = {
		.map = map,
		.outer = frame_at(donor, at).pc,
		.outer_calls = at,
		.known_inner = inner_stands(donor, at) ? frame_at(donor, at - 1).pc : 0,
		.inner = inner,
	};

	return joiner->check.site(joiner->check.context, &question);
}

/*
 * The frame at the boundary: its index, and *site, where in its function the call to the cut
 * stack's last frame is. donor->count where there is none, or it cannot be the caller.
 */
static size_t match_boundary(const struct mt_joiner *joiner, const struct donor *donor,
			     const struct mt_join_stack *stack, uint64_t *site)
{
	size_t at = find_place(donor, stack->boundary), last = stack->count - 1;

	if (at == donor->count)
		return at;
	*site = frame_at(donor, at).pc;
	if (inner_stands(donor, at) && same_place(frame_at(donor, at - 1), stack, last))
		return at;
	*site = call_in(joiner, donor, at, stack->map, stack->pcs[last]);
	return *site ? at : donor->count;
}

static struct mt_join_tail *copy_tail(const struct donor *donor, size_t from)
{
	size_t count = donor->count - from;
	struct mt_join_tail *tail = malloc(sizeof(*tail) + count * sizeof(tail->frames[0]));

	if (!tail)
		return NULL;
	tail->references = 0;
	tail->asked = false;
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
	return true;
}

void mt_join_tail_pcs(const struct mt_join_stack *stack, size_t n, uint64_t *out)
{
	const struct place *frames;

	n = n < stack->tail_count ? n : stack->tail_count;
	if (!n)
		return;
	frames = stack->tail->frames + stack->tail_from;
	out[0] = stack->tail_first;
	for (size_t i = 1; i < n; i++)
		out[i] = frames[i].pc;
}

/* ---- Claims ---- */

/* The lowest stack pointer that a caller of this stack's frames may have. */
static uint64_t reach(const struct mt_join_stack *stack)
{
	return stack->boundary ? stack->boundary : stack->sps[last_placed(stack)];
}

static struct mt_join_site site_of(const struct mt_join_stack *stack)
{
	size_t last = last_placed(stack);

	if (stack->boundary)
		return (struct mt_join_site){stack->boundary, 0, stack->pcs[stack->count - 1]};
	return (struct mt_join_site){stack->sps[last], stack->pcs[last], stack->pcs[last - 1]};
}

static bool same_function(const struct mt_joiner *joiner, const struct mt_image_map *map,
			  uint64_t a, uint64_t b)
{
	return a == b || joiner->check.same(joiner->check.context, map, a, b);
}

/* Those of a function by a call in it. */
static struct mt_join_tallies *tallies_of(struct mt_joiner *joiner, uint64_t inner)
{
	return &joiner->tallies[mt_hash64(inner) % TALLIES];
}

/* The spot where this stack is joined; NULL out of memory. */
static struct mt_join_spot *spot_of(struct mt_joiner *joiner, struct mt_join_spots *spots,
				    const struct mt_join_stack *stack)
{
	const struct mt_join_site site = site_of(stack);

	for (size_t i = 0; i < spots->count; i++) {
		struct mt_join_spot *spot = spots->items[i];

		if (spot->site.boundary != site.boundary || spot->site.outer != site.outer ||
		    !same_function(joiner, stack->map, spot->site.inner, site.inner))
			continue;
		mt_join_spots_use(spots, spot);
		return spot;
	}
	return mt_join_spots_add(spots, &site, tallies_of(joiner, site.inner));
}

/* What a stack rests on that was joined with a donor, a later one or not; false out of memory. */
static bool make_claim(struct mt_joiner *joiner, struct mt_join_thread *thread,
		       const struct donor *donor, bool later, struct mt_join_stack *stack)
{
	struct mt_join_spot *spot = spot_of(joiner, &thread->spots, stack);
	struct mt_join_claim *beyond = donor->claim;

	if (!spot)
		return false;
	while (beyond && beyond->spot->site.boundary <= spot->site.boundary)
		beyond = beyond->beyond;
	stack->claim =
		later ? mt_join_claim_make_earlier(spot, beyond) : mt_join_claim_make(spot, beyond);
	return stack->claim;
}

/*
 * Whether the stack of the root has a frame of exactly that place: *at. Looked for from the root
 * inwards, from the frame *at on; donor->count begins there. `depth` is where it was last.
 */
static bool descend_to(const struct donor *donor, uint64_t sp, size_t depth, size_t *at)
{
	size_t i = donor->count - 1 - depth;
	uint64_t here, inner;

	if (depth < donor->count && frame_at(donor, i).sp == sp &&
	    (!i || frame_at(donor, i - 1).sp < sp)) {
		*at = i;
		return true;
	}
	for (i = *at; i == donor->count || !frame_at(donor, i).sp; i--) {
		if (!i)
			return false;
	}
	here = frame_at(donor, i).sp;
	for (; i; i--, here = inner) {
		inner = frame_at(donor, i - 1).sp;
		if (inner < sp || inner > here)
			break;
	}
	*at = i;
	return here == sp;
}

static bool same_frame(struct place a, struct place b)
{
	return a.pc == b.pc && (a.sp == b.sp || !a.sp || !b.sp);
}

/* Whether these have both, as they were walked: so many outermost frames. */
static bool same_walked(const struct mt_join_stack *a, const struct mt_join_stack *b, size_t n)
{
	return a && !a->tail_count && !b->tail_count && n <= a->count && n <= b->count &&
	       !memcmp(a->pcs + a->count - n, b->pcs + b->count - n, n * sizeof(*a->pcs)) &&
	       !memcmp(a->sps + a->count - n, b->sps + b->count - n, n * sizeof(*a->sps));
}

/* What is taken to have stood so far, and what a stack shows. */
struct weighing {
	const struct donor *before, *now;
	size_t before_at, now_at;
	size_t common; /* of outermost frames: so many are known to be the same */
	bool differ;   /* the one behind them is not */
};

/* Whether all frames further out than those looked at are the same. */
static bool same_beyond(struct weighing *weighing)
{
	const struct donor *before = weighing->before, *now = weighing->now;
	size_t beyond = now->count - 1 - weighing->now_at, *common = &weighing->common;

	if (before->count - 1 - weighing->before_at != beyond)
		return false;
	if (*common < beyond && !weighing->differ && same_walked(before->stack, now->stack, beyond))
		*common = beyond;
	while (*common < beyond && !weighing->differ) {
		weighing->differ = !same_frame(frame_at(before, before->count - 1 - *common),
					       frame_at(now, now->count - 1 - *common));
		*common += !weighing->differ;
	}
	return *common >= beyond;
}

/* Where in that frame a stack that is cut at the spot would go on; 0: it would not. */
static uint64_t site_in(const struct mt_joiner *joiner, const struct donor *donor, size_t at,
			const struct mt_image_map *map, struct mt_join_spot *spot)
{
	uint64_t pc = frame_at(donor, at).pc, inner = at ? frame_at(donor, at - 1).pc : 0;
	struct mt_join_call *call = mt_join_spot_call(spot, pc);
	uint64_t site;

	if (spot->site.outer)
		return pc == spot->site.outer ? pc : 0;
	if (call->site && call->pc == pc && call->inner == inner)
		return call->site;
	site = call_in(joiner, donor, at, map, spot->site.inner);
	*call = (struct mt_join_call){pc, inner, site};
	return site;
}

/*
 * Whether to look: a claim is open, or the stack shows what one would have claimed; of others,
 * which say how often frames there change at all, one in a few does.
 */
static bool is_worth(struct mt_join_spot *spot, const struct donor *now)
{
	size_t at = now->count - 1 - spot->depth;

	if (spot->open || !spot->passed++)
		return true;
	spot->passed %= PASSED;
	return spot->depth < now->count && at && frame_at(now, at - 1).pc == spot->site.inner &&
	       frame_at(now, at).sp == spot->site.boundary;
}

/* Whether they are calls in the same functions at least. */
static bool alike_beyond(const struct mt_joiner *joiner, const struct weighing *weighing)
{
	const struct donor *before = weighing->before, *now = weighing->now;
	size_t beyond = now->count - 1 - weighing->now_at;

	if (before->count - 1 - weighing->before_at != beyond)
		return false;
	for (size_t i = weighing->common; i < beyond; i++) {
		struct place a = frame_at(before, before->count - 1 - i);
		struct place b = frame_at(now, now->count - 1 - i);

		if (a.sp != b.sp || !same_function(joiner, now->stack->map, a.pc, b.pc))
			return false;
	}
	return true;
}

static enum mt_join_verdict verdict_of(const struct mt_joiner *joiner, struct weighing *weighing,
				       uint64_t was, uint64_t is)
{
	if (!same_function(joiner, weighing->now->stack->map, was, is))
		return MT_JOIN_REFUTED;
	if (same_beyond(weighing))
		return MT_JOIN_CONFIRMED;
	return alike_beyond(joiner, weighing) ? MT_JOIN_ALIKE : MT_JOIN_REFUTED;
}

static void weigh_spot(const struct mt_joiner *joiner, struct weighing *w,
		       struct mt_join_spot *spot)
{
	const struct mt_image_map *map = w->now->stack->map;
	uint64_t sp = spot->site.boundary, was, is = 0;

	if (descend_to(w->now, sp, spot->depth, &w->now_at)) {
		spot->depth = w->now->count - 1 - w->now_at;
		is = descend_to(w->before, sp, spot->depth, &w->before_at)
			     ? site_in(joiner, w->now, w->now_at, map, spot)
			     : 0;
	}
	was = is ? site_in(joiner, w->before, w->before_at, map, spot) : 0;
	if (was)
		mt_join_spot_judge(spot, verdict_of(joiner, w, was, is));
	else
		mt_join_spot_close(spot);
}

/* Judges spots by what a stack shows, not by what it got: that is common by descent. */
static void weigh(const struct mt_joiner *joiner, const struct mt_join_thread *thread,
		  const struct donor *before, struct mt_join_stack *stack)
{
	const struct mt_join_spots *spots = &thread->spots;
	const struct donor now = donor_of_stack(stack, 0);
	struct weighing weighing = {before, &now, before->count, now.count, stack->tail_count,
				    false};
	uint64_t end = stack->tail_count ? reach(stack) : UINT64_MAX;

	if (!before->count)
		return;
	for (size_t i = 0; i < spots->count; i++) {
		if (spots->items[i]->site.boundary < before->left)
			break;
		if (spots->items[i]->site.boundary < end && is_worth(spots->items[i], &now))
			weigh_spot(joiner, &weighing, spots->items[i]);
	}
}

/* Whether another function may have called `inner` where the tail has that frame. */
static bool has_rival(const struct mt_joiner *joiner, const struct mt_join_stack *stack, size_t at,
		      uint64_t inner)
{
	const struct place *frame = &stack->tail->frames[at], *outer = frame + 1;
	struct mt_call_rival_question question;

	if (at + 1 >= stack->tail->count || !frame->sp || outer->sp <= frame->sp)
		return false;
	question = (struct mt_call_rival_question){.map = stack->map,
						   .outer = outer->pc,
						   .frame = frame->pc,
						   .inner = inner,
						   .size = outer->sp - frame->sp};
	return joiner->check.rival(joiner->check.context, &question);
}

/* Whether another function may stand in the place of one of the frames that the stack got. */
static bool is_ambiguous(const struct mt_joiner *joiner, const struct mt_join_stack *stack)
{
	struct mt_join_tail *tail = stack->tail;

	if (has_rival(joiner, stack, stack->tail_from, stack->pcs[stack->count - 1]))
		return true;
	if (!tail->asked) {
		tail->rivals = tail->count;
		while (tail->rivals > 1 && !has_rival(joiner, stack, tail->rivals - 1,
						      tail->frames[tail->rivals - 2].pc))
			tail->rivals--;
		tail->asked = true;
	}
	return tail->rivals > stack->tail_from + 1;
}

bool mt_join_stands(const struct mt_joiner *joiner, const struct mt_join_stack *stack)
{
	return mt_join_claim_stands(stack->claim) &&
	       (mt_join_claim_is_sure(stack->claim, joiner->seeds) || !is_ambiguous(joiner, stack));
}

/* Joins where that is proven: stack->tail_count tells. False out of memory. */
static bool join(struct mt_joiner *joiner, struct mt_join_thread *thread, const struct donor *donor,
		 bool later, struct mt_join_stack *stack)
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
	return make_claim(joiner, thread, donor, later, stack);
}

/* ---- Seeds ---- */

/* The stack of a seed as its like have it: false where these are whole as well. */
static bool cut_seed(const struct mt_join_stack *seed, struct mt_join_stack *cut)
{
	size_t last = 0;

	while (last + 1 < seed->count && seed->sps[last + 1] <= seed->shorter)
		last++;
	if (last + 1 >= seed->count)
		return false;
	*cut = *seed;
	cut->kind = MT_JOIN_CUT;
	cut->count = last + 1;
	cut->boundary = seed->sps[last + 1];
	return true;
}

/* Whether it got the frames that the seed has, by function at least. */
static bool is_right(const struct mt_joiner *joiner, const struct mt_join_stack *cut,
		     const struct mt_join_stack *seed)
{
	const struct donor got = donor_of_stack(cut, 0);

	if (got.count != seed->count)
		return false;
	for (size_t i = cut->count; i < got.count; i++) {
		struct place frame = frame_at(&got, i);

		if (frame.sp != seed->sps[i] ||
		    !same_function(joiner, seed->map, frame.pc, seed->pcs[i]))
			return false;
	}
	return true;
}

/* Joins a seed as if it were cut, and tells the spot how that went. False out of memory. */
static bool try_seed(struct mt_joiner *joiner, struct mt_join_thread *thread,
		     const struct donor *before, const struct mt_join_stack *seed)
{
	struct mt_join_stack cut;
	bool good;

	joiner->seeds = true;
	if (!before->count || !cut_seed(seed, &cut))
		return true;
	good = join(joiner, thread, before, false, &cut);
	if (good && cut.tail_count)
		mt_join_spot_try(cut.claim->spot, is_right(joiner, &cut, seed));
	mt_joiner_release(&cut);
	return good;
}

/* ---- What still stands ---- */

/* That of frames which a stack that was not joined leaves standing: its caller is another one. */
static uint64_t beyond(const struct mt_join_stack *stack)
{
	return reach(stack) + 1;
}

static uint64_t higher(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Frames below are seen to be left. */
static void leave(struct mt_join_thread *thread, uint64_t below)
{
	thread->left = higher(thread->left, below);
	mt_join_spots_close(&thread->spots, below);
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
			good = join(joiner, thread, &donor, true, s);
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
	struct donor before;

	if (!stack->count || !stack->sps[0])
		return true;
	thread = find_thread(joiner, stack->thread);
	if (!thread || thread->failed)
		return false;
	leave(thread, stack->sps[0]);
	if (thread->newest)
		thread->newest->peak = higher(thread->newest->peak, stack->sps[0]);
	if (stack->kind == MT_JOIN_OTHER)
		return true;
	before = donor_of(thread);
	if (stack->kind == MT_JOIN_CUT && !join(joiner, thread, &before, false, stack))
		return false;
	if (stack->kind == MT_JOIN_CUT && !stack->tail_count) {
		leave(thread, beyond(stack));
		wait_in(thread, stack);
		return true;
	}
	if (stack->kind == MT_JOIN_WHOLE && stack->shorter &&
	    !try_seed(joiner, thread, &before, stack))
		return false;
	weigh(joiner, thread, &before, stack);
	hold(thread, stack);
	return settle(joiner, thread);
}
