/*
 * Keeps, for each thread, the frames of the last whole stack, and the highest stack pointer and the
 * cut stacks since then. A joined stack provides frames like a whole one. Each whole stack decides
 * about all waiting stacks, from the newest to the oldest.
 */
#include "unwind/join/join.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "unwind/join/call_site.h"

enum {
	TALLIES = 4096,
	WRONG_SHARE = 150, /* at most one wrong in this many right joined stacks is accepted */
	RIGHT_FEW = 4,	   /* with fewer right ones, the tally of the thread decides */
};

/* Frames with which stacks may be joined. Not changed while there are several references. */
struct mt_join_frames {
	size_t references, count, room;
	size_t placed; /* frames from this index on have no known stack pointer */
	size_t rising; /* stack pointers rise from here up to the root: one stack */
	uint64_t *sps; /* stored after pcs */
	uint64_t pcs[];
};

/* How often joined frames were right, and how often wrong, for stacks that end at one call. */
struct tally {
	uint32_t right, wrong;
};

struct mt_join_thread {
	struct mt_join_frames *last;  /* NULL: no whole stack yet */
	uint64_t left;		      /* the thread has left frames below this stack address */
	struct mt_join_stack *newest; /* list of cut stacks since the last whole one */
	struct tally tally;	      /* of all stacks of the thread */
};

struct mt_joiner {
	struct mt_join_check check;
	struct mt_map64 by_thread; /* thread to index in threads */
	MT_ARRAY(struct mt_join_thread *) threads;
	struct tally tallies[TALLIES]; /* indexed by a hash of the call */
};

struct mt_joiner *mt_joiner_create(const struct mt_join_check *check)
{
	struct mt_joiner *joiner = mt_alloc(1, sizeof(*joiner));

	if (joiner)
		joiner->check = *check;
	return joiner;
}

/* ---- Frames ---- */

static void release_frames(struct mt_join_frames *frames)
{
	if (frames && !--frames->references)
		free(frames);
}

static struct mt_join_frames *share_frames(struct mt_join_frames *frames)
{
	frames->references++;
	return frames;
}

/* Allocates `count` frames, in `old` if only the caller refers to it. NULL out of memory. */
static struct mt_join_frames *make_frames(struct mt_join_frames *old, size_t count)
{
	struct mt_join_frames *frames = old;
	size_t room = count + count / 2;

	if (!old || old->references > 1 || old->room < count) {
		frames = mt_resize(NULL, 1, sizeof(*frames) + 2 * room * sizeof(frames->pcs[0]));
		if (!frames)
			return NULL;
		release_frames(old);
		frames->references = 1;
		frames->room = room;
		frames->sps = frames->pcs + room;
	}
	frames->count = count;
	return frames;
}

/* Copies the frames of a stack, without joined ones, to the front. */
static void put_own(struct mt_join_frames *frames, const struct mt_join_stack *stack)
{
	memcpy(frames->pcs, stack->pcs, stack->count * sizeof(*frames->pcs));
	memcpy(frames->sps, stack->sps, stack->count * sizeof(*frames->sps));
}

/* Sets `placed` and `rising` from the stack pointers. */
static void measure(struct mt_join_frames *frames)
{
	size_t i = frames->count;

	while (i && !frames->sps[i - 1])
		i--;
	frames->placed = i;
	while (i > 1 && frames->sps[i - 2] && frames->sps[i - 2] <= frames->sps[i - 1])
		i--;
	frames->rising = i ? i - 1 : 0;
}

/*
 * The index of the frame whose stack pointer is `sp`, on the stack that has the root; frames->count
 * if there is none.
 */
static size_t find_place(const struct mt_join_frames *frames, uint64_t sp)
{
	const size_t first = frames->rising;
	size_t place =
		first + mt_array_split(frames->placed - first, at, frames->sps[first + at] < sp);

	return place < frames->placed && frames->sps[place] == sp ? place : frames->count;
}

static bool same_function(const struct mt_joiner *joiner, const struct mt_image_map *map,
			  uint64_t a, uint64_t b)
{
	return a == b || joiner->check.same(joiner->check.context, map, a, b);
}

/* Whether frames from `at` on are calls in the same functions as the other frames from `i` on. */
static bool same_callers(const struct mt_joiner *joiner, const struct mt_image_map *map,
			 const struct mt_join_frames *frames, size_t at, const uint64_t *pcs,
			 const uint64_t *sps, size_t count)
{
	if (frames->count - at != count || memcmp(frames->sps + at, sps, count * sizeof(*sps)) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!same_function(joiner, map, frames->pcs[at + i], pcs[i]))
			return false;
	}
	return true;
}

/* ---- Threads ---- */

void mt_joiner_reset(struct mt_joiner *joiner)
{
	for (size_t i = 0; i < joiner->threads.count; i++) {
		release_frames(joiner->threads.items[i]->last);
		free(joiner->threads.items[i]);
	}
	joiner->threads.count = 0;
	mt_map64_deinit(&joiner->by_thread);
	joiner->by_thread = (struct mt_map64){0};
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

/* The thread's state, created on first use; NULL out of memory. */
static struct mt_join_thread *find_thread(struct mt_joiner *joiner, uint64_t key)
{
	struct mt_join_thread **slot;
	uint64_t index;

	if (mt_map64_get(&joiner->by_thread, key, &index))
		return joiner->threads.items[index];
	slot = mt_array_push(&joiner->threads);
	if (!slot)
		return NULL;
	*slot = mt_alloc(1, sizeof(**slot));
	if (!*slot || !mt_map64_put(&joiner->by_thread, key, joiner->threads.count - 1)) {
		free(*slot);
		joiner->threads.count--;
		return NULL;
	}
	return *slot;
}

static void add_to_list(struct mt_join_thread *thread, struct mt_join_stack *stack)
{
	stack->of = thread;
	stack->waits = true;
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
		stack->of->newest = stack->older;
	if (stack->older)
		stack->older->newer = stack->newer;
	stack->waits = false;
}

void mt_joiner_release(struct mt_join_stack *stack)
{
	unlink_stack(stack);
	release_frames(stack->frames);
	stack->frames = NULL;
	stack->tail_count = 0;
}

void mt_join_tail_pcs(const struct mt_join_stack *stack, size_t n, uint64_t *out)
{
	n = n < stack->tail_count ? n : stack->tail_count;
	if (n)
		memcpy(out, stack->frames->pcs + stack->count, n * sizeof(*out));
}

/* ---- Joining ---- */

/*
 * The index of the frame at the boundary. *site: the call in its function that led to the cut
 * stack's last frame. frames->count if there is no such frame, or its function is not known to make
 * this call.
 */
static size_t find_caller(const struct mt_joiner *joiner, const struct mt_join_frames *frames,
			  const struct mt_join_stack *cut, uint64_t *site)
{
	size_t at = cut->boundary ? find_place(frames, cut->boundary) : frames->count;
	struct mt_call_question question = {.map = cut->map, .inner = cut->pcs[cut->count - 1]};

	if (at == frames->count)
		return at;
	question.outer = frames->pcs[at];
	question.outer_calls = at > 0;
	question.known_inner = at ? frames->pcs[at - 1] : 0;
	*site = joiner->check.site(joiner->check.context, &question);
	return *site ? at : frames->count;
}

/* Joins the stack if the rule allows it: sets stack->tail_count. False out of memory. */
static bool join(const struct mt_joiner *joiner, const struct mt_join_frames *donor,
		 struct mt_join_stack *stack)
{
	struct mt_join_frames *frames;
	size_t at, count;
	uint64_t site;

	at = find_caller(joiner, donor, stack, &site);
	if (at == donor->count)
		return true;
	count = donor->count - at;
	frames = make_frames(NULL, stack->count + count);
	if (!frames)
		return false;
	put_own(frames, stack);
	memcpy(frames->pcs + stack->count, donor->pcs + at, count * sizeof(*frames->pcs));
	memcpy(frames->sps + stack->count, donor->sps + at, count * sizeof(*frames->sps));
	frames->pcs[stack->count] = site;
	measure(frames);
	stack->frames = frames;
	stack->tail_count = count;
	return true;
}

/* ---- Tallies ---- */

/* The index of the tally of stacks that end at the same call. */
static size_t tally_of(const struct mt_join_stack *cut)
{
	return mt_hash64(cut->pcs[cut->count - 1]) % TALLIES;
}

static void count(struct tally *tally, bool right)
{
	*(right ? &tally->right : &tally->wrong) += 1;
}

static bool is_good(const struct tally *tally)
{
	return (uint64_t)tally->wrong * WRONG_SHARE <= tally->right;
}

bool mt_join_is_valid(const struct mt_joiner *joiner, const struct mt_join_stack *stack)
{
	const struct tally *tally = &joiner->tallies[tally_of(stack)], *all = &stack->of->tally;

	return !stack->is_refuted && is_good(tally) &&
	       (tally->right >= RIGHT_FEW || (all->right >= RIGHT_FEW && is_good(all)));
}

/* Counts a result for the call at which the cut stack ends, and for the thread. */
static void count_both(struct mt_joiner *joiner, struct mt_join_thread *thread,
		       const struct mt_join_stack *cut, bool right)
{
	count(&joiner->tallies[tally_of(cut)], right);
	count(&thread->tally, right);
}

/* Sets *cut to a seed, cut like other stacks of the event; false if it would not be cut. */
static bool cut_seed(const struct mt_join_stack *seed, struct mt_join_stack *cut)
{
	size_t last = 0;

	while (last + 1 < seed->count && seed->sps[last + 1] <= seed->shorter)
		last++;
	if (last + 1 >= seed->count)
		return false;
	*cut = *seed;
	cut->count = last + 1;
	cut->boundary = seed->sps[last + 1];
	return true;
}

/* Joins a seed as if it were cut, and counts whether the joined frames equal the real ones. */
static void try_seed(struct mt_joiner *joiner, struct mt_join_thread *thread,
		     const struct mt_join_stack *seed)
{
	struct mt_join_stack cut;
	uint64_t site;
	size_t at;

	if (!cut_seed(seed, &cut) || cut.boundary < thread->left)
		return;
	at = find_caller(joiner, thread->last, &cut, &site);
	if (at < thread->last->count)
		count_both(joiner, thread, &cut,
			   same_callers(joiner, seed->map, thread->last, at, seed->pcs + cut.count,
					seed->sps + cut.count, seed->count - cut.count));
}

enum verdict {
	UNKNOWN,
	RIGHT,
	WRONG,
};

/* Compares the frames that a stack was joined with to frames seen later. */
static enum verdict judge(struct mt_joiner *joiner, const struct mt_join_frames *later,
			  struct mt_join_stack *stack)
{
	const struct mt_join_frames *got = stack->frames;
	size_t at = find_place(later, stack->boundary);

	if (at == later->count)
		return UNKNOWN;
	stack->is_refuted = !same_callers(joiner, stack->map, later, at, got->pcs + stack->count,
					  got->sps + stack->count, stack->tail_count);
	count_both(joiner, stack->of, stack, !stack->is_refuted);
	return stack->is_refuted ? WRONG : RIGHT;
}

/* ---- Adding stacks ---- */

static uint64_t higher(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The lowest possible stack pointer of a caller of the cut stack's frames. */
static uint64_t reach(const struct mt_join_stack *stack)
{
	return stack->boundary ? stack->boundary : stack->sps[stack->count - 1] + 1;
}

/*
 * Settles the cut stacks on the thread's list with the frames of the whole stack that follows them,
 * from the newest back. The frames of a stack that is joined with these frames, or has the same
 * ones, are used for older stacks. A stack that is not joined shows what the thread has left: older
 * stacks are only joined with frames above that.
 */
static bool settle(struct mt_joiner *joiner, struct mt_join_thread *thread)
{
	const struct mt_join_frames *donor = thread->last;
	struct mt_join_stack *older;
	uint64_t floor = 0;
	bool good = true;

	for (struct mt_join_stack *s = thread->newest; s; s = older) {
		enum verdict verdict = UNKNOWN;

		older = s->older;
		unlink_stack(s);
		floor = higher(floor, s->peak);
		if (s->frames && reach(s) >= floor) {
			verdict = judge(joiner, donor, s);
		} else if (!s->frames) {
			good = good && (reach(s) < floor || join(joiner, donor, s));
			verdict = s->frames ? RIGHT : WRONG;
		}
		if (verdict == RIGHT)
			donor = s->frames;
		else if (verdict == WRONG)
			floor = higher(floor, reach(s) + 1);
	}
	return good;
}

/* Adds a cut stack. If it is joined, its frames become the last frames of the thread. */
static bool add_cut(struct mt_joiner *joiner, struct mt_join_thread *thread,
		    struct mt_join_stack *stack)
{
	if (thread->last && stack->boundary >= thread->left && !join(joiner, thread->last, stack))
		return false;
	if (stack->frames) {
		release_frames(thread->last);
		thread->last = share_frames(stack->frames);
		thread->left = 0;
	} else {
		thread->left = higher(thread->left, reach(stack) + 1);
	}
	add_to_list(thread, stack);
	return true;
}

/*
 * Outer frames from branch records or the kernel's chain have no stack pointers. Copies the stack
 * pointers of the thread's last frames to them, from the root inwards, as long as the calls are the
 * same.
 */
static void place(const struct mt_join_frames *last, struct mt_join_frames *frames)
{
	size_t at = last->count, i = frames->count, known = i;

	while (known && !frames->sps[known - 1])
		known--;
	while (at && i > known && last->pcs[at - 1] == frames->pcs[i - 1] &&
	       (!known || last->sps[at - 1] > frames->sps[known - 1]))
		frames->sps[--i] = last->sps[--at];
}

static bool add_whole(struct mt_joiner *joiner, struct mt_join_thread *thread,
		      const struct mt_join_stack *stack)
{
	bool unplaced = thread->last && !stack->sps[stack->count - 1];
	struct mt_join_frames *frames;

	if (stack->shorter && thread->last)
		try_seed(joiner, thread, stack);
	frames = make_frames(unplaced ? NULL : thread->last, stack->count);
	if (!frames)
		return false;
	put_own(frames, stack);
	if (unplaced) {
		place(thread->last, frames);
		release_frames(thread->last);
	}
	measure(frames);
	thread->last = frames;
	thread->left = 0;
	return settle(joiner, thread);
}

bool mt_joiner_add(struct mt_joiner *joiner, struct mt_join_stack *stack)
{
	struct mt_join_thread *thread;

	if (!stack->count || !stack->sps[0])
		return true;
	thread = find_thread(joiner, stack->thread);
	if (!thread)
		return false;
	thread->left = higher(thread->left, stack->sps[0]);
	if (thread->newest)
		thread->newest->peak = higher(thread->newest->peak, stack->sps[0]);
	if (stack->kind == MT_JOIN_CUT)
		return add_cut(joiner, thread, stack);
	return stack->kind == MT_JOIN_OTHER || add_whole(joiner, thread, stack);
}
