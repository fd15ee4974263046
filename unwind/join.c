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
#include "unwind/join_donor.h"
#include "unwind/join_weigh.h"

enum {
	TALLIES = 4096,
	TAILS = 4,
	TAIL_MAX = 64, /* frames of those that are kept */
};

struct mt_join_thread {
	struct mt_join_stack *held;	       /* the last whole stack; NULL: it was released */
	MT_ARRAY(struct mt_join_place) frames; /* of one that was released */
	struct mt_join_claim *claim;	       /* what these rest on */
	struct mt_join_tail *tails[TAILS];     /* that stacks got, the last one first, or NULL */
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

static void release_tail(struct mt_join_tail *tail)
{
	if (tail && !--tail->references)
		free(tail);
}

void mt_joiner_reset(struct mt_joiner *joiner)
{
	for (size_t i = 0; i < joiner->threads.count; i++) {
		struct mt_join_thread *thread = joiner->threads.items[i];

		mt_array_deinit(&thread->frames);
		for (size_t k = 0; k < TAILS; k++)
			release_tail(thread->tails[k]);
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

static struct mt_join_donor donor_of(const struct mt_join_thread *thread)
{
	if (thread->held)
		return mt_join_donor_of_stack(thread->held, thread->left);
	return (struct mt_join_donor){.copy = thread->frames.items,
				      .count = thread->frames.count,
				      .left = thread->left,
				      .claim = thread->claim};
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
	struct mt_join_donor donor = donor_of(thread);
	struct mt_join_claim *claim = mt_join_claim_share(donor.claim);

	thread->frames.count = 0;
	if (mt_array_reserve(&thread->frames, donor.count)) {
		mt_join_frames_copy(&donor, 0, thread->frames.items);
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
	release_tail(stack->tail);
	mt_join_claim_release(stack->claim);
	stack->tail = NULL;
	stack->claim = NULL;
	stack->tail_count = 0;
}

/* ---- Joining ---- */

static bool same_place(struct mt_join_place place, const struct mt_join_stack *stack, size_t i)
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
static bool same_callers(const struct mt_join_donor *donor, size_t at,
			 const struct mt_join_stack *stack, size_t i)
{
	if (donor->count - at < stack->count - i)
		return false;
	for (; i < stack->count; i++, at++) {
		if (mt_join_frame_at(donor, at).pc != stack->pcs[i])
			return false;
	}
	return true;
}

/*
 * Two frames in both: the last that the cut stack has with its place, and the one that it called;
 * and the callers that the cut stack has of it. Gives the index of what follows them in the donor;
 * donor->count where there is none.
 */
static size_t match_frames(const struct mt_join_donor *donor, const struct mt_join_stack *stack)
{
	size_t last = last_placed(stack), at = mt_join_find_frame(donor, stack->sps[last]);

	if (!last || at == donor->count || !mt_join_inner_stands(donor, at) ||
	    !same_place(mt_join_frame_at(donor, at), stack, last) ||
	    !same_place(mt_join_frame_at(donor, at - 1), stack, last - 1) ||
	    !same_callers(donor, at + 1, stack, last + 1))
		return donor->count;
	return at + stack->count - last;
}

/*
 * The frame at the boundary: its index, and *site, where in its function the call to the cut
 * stack's last frame is. donor->count where there is none, or it cannot be the caller.
 */
static size_t match_boundary(const struct mt_joiner *joiner, const struct mt_join_donor *donor,
			     const struct mt_join_stack *stack, uint64_t *site)
{
	size_t at = mt_join_find_place(donor, stack->boundary), last = stack->count - 1;

	if (at == donor->count)
		return at;
	*site = mt_join_frame_at(donor, at).pc;
	if (mt_join_inner_stands(donor, at) &&
	    same_place(mt_join_frame_at(donor, at - 1), stack, last))
		return at;
	*site = mt_join_call_in(&joiner->check, donor, at, stack->map, stack->pcs[last]);
	return *site ? at : donor->count;
}

static struct mt_join_tail *copy_tail(const struct mt_join_donor *donor, size_t from)
{
	size_t count = donor->count - from;
	struct mt_join_tail *tail = malloc(sizeof(*tail) + count * sizeof(tail->frames[0]));

	if (!tail)
		return NULL;
	tail->references = 0;
	tail->asked = tail->first.asked = 0;
	tail->count = count;
	mt_join_frames_copy(donor, from, tail->frames);
	return tail;
}

/* One of the tails that the thread's last joined stacks got where it is the same, or a new one. */
static struct mt_join_tail *same_tail(struct mt_join_thread *thread,
				      const struct mt_join_donor *donor, size_t from)
{
	struct mt_join_tail **tails = thread->tails, *tail;
	size_t at = 0;

	while (at < TAILS && tails[at] && !mt_join_frames_are(donor, from, tails[at]))
		at++;
	if (at < TAILS && tails[at]) {
		tail = tails[at];
	} else {
		tail = copy_tail(donor, from);
		if (!tail || tail->count > TAIL_MAX)
			return tail;
		tail->references++;
		at = at < TAILS ? at : TAILS - 1;
		release_tail(tails[at]);
	}
	memmove(tails + 1, tails, at * sizeof(tails[0]));
	tails[0] = tail;
	return tail;
}

/* Gives the stack the donor's frames from `from` on; false out of memory. */
static bool take_tail(struct mt_join_thread *thread, const struct mt_join_donor *donor, size_t from,
		      struct mt_join_stack *stack)
{
	const struct mt_join_stack *other = donor->stack;
	bool shared = other && from >= other->count;

	stack->tail = shared ? other->tail : same_tail(thread, donor, from);
	if (!stack->tail)
		return false;
	stack->tail->references++;
	stack->tail_from = shared ? other->tail_from + from - other->count : 0;
	stack->tail_count = donor->count - from;
	stack->tail_first = mt_join_frame_at(donor, from).pc;
	return true;
}

void mt_join_tail_pcs(const struct mt_join_stack *stack, size_t n, uint64_t *out)
{
	const struct mt_join_place *frames;

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
		    !mt_join_same_function(&joiner->check, stack->map, spot->site.inner,
					   site.inner))
			continue;
		mt_join_spots_use(spots, spot);
		return spot;
	}
	return mt_join_spots_add(spots, &site, tallies_of(joiner, site.inner));
}

/* What a stack rests on that was joined with a donor, a later one or not; false out of memory. */
static bool make_claim(struct mt_joiner *joiner, struct mt_join_thread *thread,
		       const struct mt_join_donor *donor, bool later, struct mt_join_stack *stack)
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
 * Whether another function may have called `inner` where the tail has that frame. Two frames may
 * have stood in the place of two, each of another size: hence it is asked from further out, too.
 */
static bool has_rival(const struct mt_joiner *joiner, const struct mt_join_stack *stack, size_t at,
		      uint64_t inner)
{
	const struct mt_join_place *frame = &stack->tail->frames[at], *outer = frame + 1;
	size_t further = stack->tail->count - at - 1;
	struct mt_call_rival_question question = {
		.map = stack->map, .frame = frame->pc, .inner = inner};

	if (further && (!frame->sp || outer->sp <= frame->sp))
		return false;
	if (further) {
		question.outer = outer->pc;
		question.size = outer->sp - frame->sp;
	}
	if (further > 1 && outer[1].sp > outer->sp) {
		question.beyond = outer[1].pc;
		question.span = outer[1].sp - frame->sp;
	}
	return joiner->check.rival(joiner->check.context, &question);
}

/* The first of the frames that the stack got: mostly it is asked what the last one asked. */
static bool first_has_rival(const struct mt_joiner *joiner, const struct mt_join_stack *stack,
			    uint64_t known)
{
	struct mt_join_tail *tail = stack->tail;
	uint64_t inner = stack->pcs[stack->count - 1];

	if (tail->first.asked != known || tail->first.inner != inner ||
	    tail->first.from != stack->tail_from) {
		tail->first.has = has_rival(joiner, stack, stack->tail_from, inner);
		tail->first.asked = known;
		tail->first.inner = inner;
		tail->first.from = stack->tail_from;
	}
	return tail->first.has;
}

/* Whether another function may stand in the place of one of the frames that the stack got. */
static bool is_ambiguous(const struct mt_joiner *joiner, const struct mt_join_stack *stack)
{
	struct mt_join_tail *tail = stack->tail;
	const uint64_t known = joiner->check.known(joiner->check.context, stack->map);

	if (first_has_rival(joiner, stack, known))
		return true;
	if (tail->asked != known) {
		tail->rivals = tail->count;
		while (tail->rivals > 1 && !has_rival(joiner, stack, tail->rivals - 1,
						      tail->frames[tail->rivals - 2].pc))
			tail->rivals--;
		tail->asked = known;
	}
	return tail->rivals > stack->tail_from + 1;
}

bool mt_join_stands(const struct mt_joiner *joiner, const struct mt_join_stack *stack)
{
	return mt_join_claim_stands(stack->claim) &&
	       (mt_join_claim_is_sure(stack->claim, joiner->seeds) || !is_ambiguous(joiner, stack));
}

/* Joins where that is proven: stack->tail_count tells. False out of memory. */
static bool join(struct mt_joiner *joiner, struct mt_join_thread *thread,
		 const struct mt_join_donor *donor, bool later, struct mt_join_stack *stack)
{
	uint64_t site = 0;
	size_t at;

	at = stack->boundary ? match_boundary(joiner, donor, stack, &site)
			     : match_frames(donor, stack);
	if (at >= donor->count)
		return true;
	if (!take_tail(thread, donor, at, stack))
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
	const struct mt_join_donor got = mt_join_donor_of_stack(cut, 0);

	if (got.count != seed->count)
		return false;
	for (size_t i = cut->count; i < got.count; i++) {
		struct mt_join_place frame = mt_join_frame_at(&got, i);

		if (frame.sp != seed->sps[i] ||
		    !mt_join_same_function(&joiner->check, seed->map, frame.pc, seed->pcs[i]))
			return false;
	}
	return true;
}

/* Joins a seed as if it were cut, and tells the spot how that went. False out of memory. */
static bool try_seed(struct mt_joiner *joiner, struct mt_join_thread *thread,
		     const struct mt_join_donor *before, const struct mt_join_stack *seed)
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
	struct mt_join_donor donor = donor_of(thread);
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
			donor = mt_join_donor_of_stack(s, 0);
		else
			floor = higher(floor, beyond(s));
	}
	return good;
}

bool mt_joiner_add(struct mt_joiner *joiner, struct mt_join_stack *stack)
{
	struct mt_join_thread *thread;
	struct mt_join_donor before;

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
	mt_join_weigh(&joiner->check, &thread->spots, &before, stack,
		      stack->tail_count ? reach(stack) : UINT64_MAX);
	hold(thread, stack);
	return settle(joiner, thread);
}
