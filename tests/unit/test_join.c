/*
 * join: stacks of made-up threads, of which the test knows what every frame was. What is joined has
 * to be what was there; and where a frame was left in between, nothing may be.
 */
#include "unwind/join.h"

#include "tests/unit/unit.h"
#include "unwind/call_site.h"

#define THREAD 7
#define TOP ((uint64_t)0x7fff00010000)
#define FRAMES 16

/* Functions are 0x100 bytes of addresses each; calls are told by a table. */
enum function {
	START = 1,
	LOOP,
	HANDLE,
	OTHER,
	SMALL,
	LARGE,
	HOOK,
	LEAF,
	FUNCTIONS
};

static bool calls[FUNCTIONS + 1][FUNCTIONS + 1];

static uint64_t code(enum function f, unsigned int at)
{
	return (uint64_t)f << 8 | at;
}

/* Every call of f stands at 0x40 + f in its caller, where the table has it. */
static uint64_t find_site(void *context, const struct mt_call_question *q)
{
	(void)context;
	if (q->outer_calls && q->known_inner >> 8 == q->inner >> 8)
		return q->outer;
	return calls[q->outer >> 8][q->inner >> 8]
		       ? (q->outer & ~(uint64_t)0xff) + 0x40 + (q->inner >> 8)
		       : 0;
}

static bool is_same(void *context, const struct mt_image_map *map, uint64_t a, uint64_t b)
{
	(void)context;
	(void)map;
	return a >> 8 == b >> 8;
}

/* A stack as a list of functions, the innermost first, each with the bytes of its frame. */
struct made {
	uint64_t pcs[FRAMES], sps[FRAMES];
	struct mt_join_stack stack;
};

struct frame {
	enum function function;
	uint64_t size;
};

/* Lays the frames below `top`, the outermost first; of the result all but `cut` outer frames show.
 */
static void lay(struct made *made, uint64_t top, const struct frame *frames, size_t count,
		size_t cut)
{
	uint64_t sp = top;

	for (size_t i = count; i--;) {
		sp -= frames[i].size;
		made->sps[i] = sp;
		made->pcs[i] = code(frames[i].function,
				    i ? 0x40 + (unsigned int)frames[i - 1].function : 3);
	}
	made->stack = (struct mt_join_stack){
		.thread = THREAD,
		.kind = cut ? MT_JOIN_CUT : MT_JOIN_WHOLE,
		.pcs = made->pcs,
		.sps = made->sps,
		.count = count - cut,
		.boundary = cut ? made->sps[count - cut] : 0,
	};
}

#define LAY(made, top, cut, ...)                            \
	lay(made, top, (const struct frame[]){__VA_ARGS__}, \
	    sizeof((const struct frame[]){__VA_ARGS__}) / sizeof(struct frame), cut)

static enum function rival_of; /* another one was seen to stand where this one does, */
static uint64_t rival_below;   /* so far below another; 0: anywhere */

static bool has_rival(void *context, const struct mt_call_rival_question *q)
{
	(void)context;
	MT_CHECK_EQ(!q->size, !q->outer);
	return q->frame >> 8 == rival_of &&
	       (!rival_below || q->size == rival_below || q->span == rival_below);
}

static uint64_t how_much_is_known(void *context, const struct mt_image_map *map)
{
	(void)context;
	(void)map;
	return 1 + rival_of;
}

static struct mt_joiner *setup(void)
{
	struct mt_join_check check = {
		.site = find_site, .same = is_same, .rival = has_rival, .known = how_much_is_known};

	memset(calls, 0, sizeof(calls));
	rival_of = 0;
	rival_below = 0;
	calls[START][LOOP] = calls[LOOP][HANDLE] = calls[LOOP][OTHER] = true;
	calls[HANDLE][SMALL] = calls[HANDLE][LARGE] = true;
	calls[SMALL][LEAF] = calls[LARGE][LEAF] = true;
	return mt_joiner_create(&check);
}

static bool add(struct mt_joiner *joiner, struct made *made)
{
	return mt_joiner_add(joiner, &made->stack);
}

/* The tail is the true one: what was laid, and the cut left out. */
static bool is_true(const struct made *made, size_t count)
{
	size_t got = made->stack.tail_count;
	uint64_t pcs[FRAMES];

	if (!got || got != count - made->stack.count)
		return false;
	mt_join_tail_pcs(&made->stack, got, pcs);
	return !memcmp(pcs, made->pcs + made->stack.count, got * sizeof(*pcs));
}

static void teardown(struct mt_joiner *joiner, struct made *made, size_t count)
{
	for (size_t i = 0; i < count; i++)
		mt_joiner_release(&made[i].stack);
	mt_joiner_destroy(joiner);
}

#define WHOLE                                              \
	{LEAF, 16}, {SMALL, 64}, {HANDLE, 32}, {LOOP, 48}, \
	{                                                  \
		START, 16                                  \
	}
#define CUT                                                   \
	{LEAF, 16}, {LARGE, 16384}, {HANDLE, 32}, {LOOP, 48}, \
	{                                                     \
		START, 16                                     \
	}

MT_TEST(goes_on_with_an_earlier_stack_at_the_call_of_its_own)
{
	struct mt_joiner *joiner = setup();
	struct made made[2];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 3, CUT);
	MT_CHECK(add(joiner, &made[0]) && add(joiner, &made[1]));
	MT_CHECK(is_true(&made[1], 5));
	teardown(joiner, made, 2);
}

MT_TEST(goes_on_with_a_later_stack)
{
	struct mt_joiner *joiner = setup();
	struct made made[4];

	for (size_t i = 0; i < 3; i++)
		LAY(&made[i], TOP, 3, CUT);
	LAY(&made[3], TOP, 0, WHOLE);
	for (size_t i = 0; i < 4; i++)
		MT_CHECK(add(joiner, &made[i]));
	for (size_t i = 0; i < 3; i++)
		MT_CHECK(is_true(&made[i], 5));
	teardown(joiner, made, 4);
}

MT_TEST(a_stack_that_was_joined_lends_its_frames)
{
	struct mt_joiner *joiner = setup();
	struct made made[3];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 3, CUT);
	calls[LEAF][OTHER] = true;
	LAY(&made[2], TOP, 4, {OTHER, 8192}, CUT); /* below the joined one's LEAF and LARGE */
	for (size_t i = 0; i < 3; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(is_true(&made[2], 6));
	teardown(joiner, made, 3);
}

MT_TEST(two_equal_frames_do_where_the_boundary_is_not_known)
{
	struct mt_joiner *joiner = setup();
	struct made made[3];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 3, WHOLE);
	made[1].stack.boundary = 0;
	LAY(&made[2], TOP, 3, CUT);
	made[2].stack.boundary = 0;
	for (size_t i = 0; i < 3; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(is_true(&made[1], 5));
	MT_CHECK(!made[2].stack.tail);
	teardown(joiner, made, 3);
}

/* As branch records tell them: the dump ended in SMALL. */
MT_TEST(callers_of_unknown_place_have_to_be_the_same)
{
	struct mt_joiner *joiner = setup();
	struct made made[4];

	LAY(&made[0], TOP, 0, WHOLE);
	for (size_t i = 1; i < 4; i++) {
		LAY(&made[i], TOP, 2, WHOLE);
		made[i].stack.boundary = 0;
		made[i].sps[2] = 0;
	}
	made[2].pcs[2] = code(OTHER, 0x40 + SMALL);
	made[3].sps[1] = 0; /* one frame with a place is not enough */
	for (size_t i = 0; i < 4; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(is_true(&made[1], 5));
	MT_CHECK(!made[2].stack.tail);
	MT_CHECK(!made[3].stack.tail);
	teardown(joiner, made, 4);
}

/* As where branch records reach the root. */
MT_TEST(callers_of_unknown_place_are_lent_with_the_frames_within)
{
	struct mt_joiner *joiner = setup();
	struct made made[3];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 3, WHOLE);
	LAY(&made[2], TOP, 3, CUT);
	for (size_t i = 0; i < 3; i++)
		made[i].sps[3] = made[i].sps[4] = 0;
	MT_CHECK(add(joiner, &made[0]));
	MT_CHECK(add(joiner, &made[1]));
	MT_CHECK(is_true(&made[1], 5));
	MT_CHECK(add(joiner, &made[2]));
	MT_CHECK(is_true(&made[2], 5));
	teardown(joiner, made, 3);
}

MT_TEST(callers_of_unknown_place_are_found_later_too)
{
	struct mt_joiner *joiner = setup();
	struct made made[2];

	LAY(&made[0], TOP, 1, WHOLE);
	made[0].stack.boundary = made[0].sps[2] = made[0].sps[3] = 0;
	LAY(&made[1], TOP, 0, WHOLE);
	MT_CHECK(add(joiner, &made[0]));
	MT_CHECK(!made[0].stack.tail);
	MT_CHECK(add(joiner, &made[1]));
	MT_CHECK(is_true(&made[0], 5));
	teardown(joiner, made, 2);
}

MT_TEST(not_across_a_stack_above_the_boundary)
{
	struct mt_joiner *joiner = setup();
	struct made made[5];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 0, {LOOP, 48}, {START, 16});
	made[1].stack.kind = MT_JOIN_OTHER; /* where it stood is enough */
	LAY(&made[2], TOP, 3, CUT);
	made[3] = made[1];
	made[3].stack.pcs = made[3].pcs;
	made[3].stack.sps = made[3].sps;
	LAY(&made[4], TOP, 0, WHOLE);
	for (size_t i = 0; i < 5; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(!made[2].stack.tail);
	teardown(joiner, made, 5);
}

/* longjmp, an exception: HANDLE is gone, and OTHER stands where it stood. */
MT_TEST(not_to_a_function_that_does_not_call_it)
{
	struct mt_joiner *joiner = setup();
	struct made made[2];

	LAY(&made[0], TOP, 0, {LEAF, 16}, {SMALL, 64}, {OTHER, 32}, {LOOP, 48}, {START, 16});
	LAY(&made[1], TOP, 3, CUT);
	MT_CHECK(add(joiner, &made[0]) && add(joiner, &made[1]));
	MT_CHECK(!made[1].stack.tail);
	teardown(joiner, made, 2);
}

MT_TEST(not_where_no_frame_begins_at_the_boundary)
{
	struct mt_joiner *joiner = setup();
	struct made made[3];

	LAY(&made[0], TOP, 0, {LEAF, 16}, {SMALL, 64}, {HANDLE, 40}, {LOOP, 48}, {START, 16});
	LAY(&made[1], TOP, 3, CUT);
	LAY(&made[2], TOP, 0, {LEAF, 16}, {SMALL, 64}, {HANDLE, 24}, {LOOP, 48}, {START, 16});
	for (size_t i = 0; i < 3; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(!made[1].stack.tail);
	teardown(joiner, made, 3);
}

/* A cut stack that fits nothing tells that what stood there is gone. */
MT_TEST(not_to_frames_that_another_cut_stack_contradicts)
{
	struct mt_joiner *joiner = setup();
	struct made made[3];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 2, {LEAF, 16}, {OTHER, 88}, {LOOP, 48}, {START, 16});
	made[1].stack.boundary += 8;
	LAY(&made[2], TOP, 3, CUT);
	for (size_t i = 0; i < 3; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(!made[1].stack.tail);
	MT_CHECK(!made[2].stack.tail);
	teardown(joiner, made, 3);
}

/* Coroutines: stacks of their own below the thread's, each with its root. */
MT_TEST(swapped_stacks_are_not_mixed)
{
	struct mt_joiner *joiner = setup();
	struct made made[4];
	uint64_t one = TOP - 0x100000, two = TOP - 0x80000;

	LAY(&made[0], one, 0, {LEAF, 16}, {SMALL, 64}, {HANDLE, 32}, {OTHER, 48});
	LAY(&made[1], two, 2, {LEAF, 16}, {LARGE, 16384}, {HANDLE, 32}, {LOOP, 48});
	LAY(&made[2], one, 2, {LEAF, 16}, {LARGE, 16384}, {HANDLE, 32}, {LOOP, 48});
	LAY(&made[3], TOP, 0, WHOLE);
	for (size_t i = 0; i < 4; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(!made[1].stack.tail); /* the second has shown no root */
	MT_CHECK(!made[2].stack.tail); /* the first may have been left meanwhile, and was */
	teardown(joiner, made, 4);
}

/* A signal handler on a stack of its own: the frames above the switch stay the thread's. */
MT_TEST(frames_behind_a_switch_are_the_threads)
{
	struct mt_joiner *joiner = setup();
	struct made made[3], handler;
	struct made *whole = &made[0];

	LAY(whole, TOP, 0, {LEAF, 16}, {OTHER, 16}, WHOLE);
	LAY(&handler, TOP - 0x200000, 0, {LEAF, 16}, {OTHER, 16});
	memcpy(whole->sps, handler.sps, 2 * sizeof(whole->sps[0]));
	LAY(&made[1], TOP, 3, CUT);
	LAY(&made[2], TOP - 0x200000, 1, {LARGE, 4096}, {OTHER, 16});
	MT_CHECK(add(joiner, whole) && add(joiner, &made[1]) && add(joiner, &made[2]));
	MT_CHECK(is_true(&made[1], 5));
	MT_CHECK(!made[2].stack.tail);
	teardown(joiner, made, 3);
}

MT_TEST(threads_are_apart)
{
	struct mt_joiner *joiner = setup();
	struct made made[2];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 3, CUT);
	made[1].stack.thread = THREAD + 1;
	MT_CHECK(add(joiner, &made[0]) && add(joiner, &made[1]));
	MT_CHECK(!made[1].stack.tail);
	mt_joiner_release(&made[0].stack);
	mt_joiner_release(&made[1].stack);
	mt_joiner_reset(joiner);
	made[1].stack.thread = THREAD;
	MT_CHECK(add(joiner, &made[1]));
	MT_CHECK(!made[1].stack.tail);
	teardown(joiner, made, 2);
}

MT_TEST(what_was_released_is_left_alone)
{
	struct mt_joiner *joiner = setup();
	struct made made[3];

	LAY(&made[0], TOP, 3, CUT);
	LAY(&made[1], TOP, 3, CUT);
	LAY(&made[2], TOP, 0, WHOLE);
	MT_CHECK(add(joiner, &made[0]) && add(joiner, &made[1]));
	mt_joiner_release(&made[0].stack);
	MT_CHECK(add(joiner, &made[2]));
	MT_CHECK(!made[0].stack.tail);
	MT_CHECK(is_true(&made[1], 5));
	teardown(joiner, made, 3);
}

MT_TEST(frames_of_a_released_stack_are_still_known)
{
	struct mt_joiner *joiner = setup();
	struct made made[3];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 3, CUT);
	LAY(&made[2], TOP, 3, CUT);
	MT_CHECK(add(joiner, &made[0]));
	mt_joiner_release(&made[0].stack);
	memset(&made[0], 0, sizeof(made[0]));
	MT_CHECK(add(joiner, &made[1]));
	MT_CHECK(is_true(&made[1], 5));
	mt_joiner_release(&made[1].stack);
	memset(&made[1], 0, sizeof(made[1]));
	MT_CHECK(add(joiner, &made[2]));
	MT_CHECK(is_true(&made[2], 5));
	teardown(joiner, made, 3);
}

/* ---- Frames that are replaced unseen ---- */

/* HOOK in HANDLE's place, which calls the same. */
#define REPLACED_WHOLE                                   \
	{LEAF, 16}, {SMALL, 64}, {HOOK, 32}, {LOOP, 48}, \
	{                                                \
		START, 16                                \
	}
#define REPLACED_CUT                                        \
	{LEAF, 16}, {LARGE, 16384}, {HOOK, 32}, {LOOP, 48}, \
	{                                                   \
		START, 16                                   \
	}

static struct mt_joiner *setup_hook(void)
{
	struct mt_joiner *joiner = setup();

	calls[LOOP][HOOK] = calls[HOOK][SMALL] = calls[HOOK][LARGE] = true;
	return joiner;
}

MT_TEST(what_the_next_whole_stack_refutes_is_not_used)
{
	struct mt_joiner *joiner = setup_hook();
	struct made made[4];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 3, CUT);
	LAY(&made[2], TOP, 3, REPLACED_CUT);
	LAY(&made[3], TOP, 0, REPLACED_WHOLE);
	for (size_t i = 0; i < 3; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(mt_join_stands(joiner, &made[1].stack));
	MT_CHECK(mt_join_stands(joiner,
				&made[2].stack)); /* there is nothing to be said against it yet */
	MT_CHECK(add(joiner, &made[3]));
	MT_CHECK(!mt_join_stands(joiner, &made[1].stack)); /* nobody knows which of these it was */
	MT_CHECK(!mt_join_stands(joiner, &made[2].stack));
	teardown(joiner, made, 4);
}

/* As above, further out: HANDLE is there again, but on behalf of another caller. */
MT_TEST(callers_further_out_have_to_be_the_same)
{
	struct mt_joiner *joiner = setup_hook();
	struct made made[3];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 3, CUT);
	LAY(&made[2], TOP, 0, {LEAF, 16}, {SMALL, 64}, {HANDLE, 32}, {HOOK, 48}, {START, 16});
	for (size_t i = 0; i < 3; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(!mt_join_stands(joiner, &made[1].stack));
	teardown(joiner, made, 3);
}

MT_TEST(what_the_next_whole_stack_confirms_is_used)
{
	struct mt_joiner *joiner = setup_hook();
	struct made made[3];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 3, CUT);
	LAY(&made[2], TOP, 0, {LEAF, 16}, {LARGE, 64}, {HANDLE, 32}, {LOOP, 48}, {START, 16});
	for (size_t i = 0; i < 3; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(is_true(&made[1], 5) && mt_join_stands(joiner, &made[1].stack));
	teardown(joiner, made, 3);
}

/* HOOK came behind a stack that stood above: that HANDLE was there before is still true. */
MT_TEST(a_change_that_was_seen_refutes_nothing)
{
	struct mt_joiner *joiner = setup_hook();
	struct made made[4];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 3, CUT);
	LAY(&made[2], TOP, 0, {LOOP, 48}, {START, 16});
	LAY(&made[3], TOP, 0, REPLACED_WHOLE);
	for (size_t i = 0; i < 4; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(is_true(&made[1], 5) && mt_join_stands(joiner, &made[1].stack));
	teardown(joiner, made, 4);
}

/* Whole stacks have HANDLE on both sides, and yet it was HOOK: only the place tells. */
MT_TEST(where_frames_change_unseen_nothing_is_joined)
{
	struct mt_joiner *joiner = setup_hook();
	struct made made[7];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 3, REPLACED_CUT);
	LAY(&made[2], TOP, 0, WHOLE);
	for (size_t i = 0; i < 3; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(mt_join_stands(joiner, &made[1].stack)); /* wrong, and nothing says so yet */
	LAY(&made[3], TOP, 3, CUT);
	LAY(&made[4], TOP, 0, REPLACED_WHOLE);
	LAY(&made[5], TOP, 3, CUT);
	LAY(&made[6], TOP, 0, WHOLE);
	for (size_t i = 3; i < 7; i++)
		MT_CHECK(add(joiner, &made[i]));
	for (size_t i = 1; i < 7; i += 2)
		MT_CHECK(!mt_join_stands(joiner, &made[i].stack));
	teardown(joiner, made, 7);
}

/* LOOP calls HANDLE twice: which call it was is not known, but that functions stay is. */
MT_TEST(another_call_in_the_same_function_refutes_but_does_not_count)
{
	struct mt_joiner *joiner = setup_hook();
	struct made made[7];

	for (size_t i = 0; i < 7; i++) {
		if (i == 1 || i == 3 || i == 6)
			LAY(&made[i], TOP, 3, CUT);
		else
			LAY(&made[i], TOP, 0, WHOLE);
		if (i >= 2 && i <= 3)
			made[i].pcs[3] += 16;
		MT_CHECK(add(joiner, &made[i]));
	}
	MT_CHECK(!mt_join_stands(joiner, &made[1].stack));
	MT_CHECK(!mt_join_stands(joiner, &made[3].stack));
	MT_CHECK(is_true(&made[6], 5) && mt_join_stands(joiner, &made[6].stack));
	teardown(joiner, made, 7);
}

/* A stack that rests on another one's frames falls with what that one rests on. */
MT_TEST(what_rests_on_refuted_frames_is_not_used)
{
	struct mt_joiner *joiner = setup_hook();
	struct made made[4];

	calls[LEAF][OTHER] = true;
	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 3, CUT);
	LAY(&made[2], TOP, 4, {OTHER, 8192}, CUT); /* below made[1]'s LEAF and LARGE */
	LAY(&made[3], TOP, 0, REPLACED_WHOLE);
	for (size_t i = 0; i < 3; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(is_true(&made[2], 6) && mt_join_stands(joiner, &made[2].stack));
	MT_CHECK(add(joiner, &made[3]));
	MT_CHECK(!mt_join_stands(joiner, &made[1].stack));
	MT_CHECK(!mt_join_stands(joiner, &made[2].stack));
	teardown(joiner, made, 4);
}

/* What a cut stack shows itself is as good as a whole one's: made[1] was called by HOOK. */
MT_TEST(cut_stacks_refute_by_what_they_show)
{
	struct mt_joiner *joiner = setup_hook();
	struct made made[3];

	calls[LOOP][LARGE] = true;
	LAY(&made[0], TOP, 0, {LEAF, 16}, {SMALL, 64}, {HANDLE, 32}, {LARGE, 8192}, {LOOP, 48},
	    {START, 16});
	LAY(&made[1], TOP, 4, {LEAF, 16}, {LARGE, 16384}, {HOOK, 32}, {LARGE, 8192}, {LOOP, 48},
	    {START, 16});
	LAY(&made[2], TOP, 2, {LEAF, 16}, {SMALL, 64}, {HOOK, 32}, {LARGE, 8192}, {LOOP, 48},
	    {START, 16});
	for (size_t i = 0; i < 3; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(is_true(&made[2], 6) && mt_join_stands(joiner, &made[2].stack));
	MT_CHECK(!mt_join_stands(joiner, &made[1].stack));
	teardown(joiner, made, 3);
}

/* Each place is met once, and what is wrong there is confirmed; but in others HOOK comes unseen. */
MT_TEST(what_changes_in_other_places_is_not_joined_in_new_ones)
{
	struct mt_joiner *joiner = setup_hook();
	struct made made[6];

	LAY(&made[0], TOP - 64, 0, WHOLE);
	LAY(&made[1], TOP - 64, 3, CUT);
	LAY(&made[2], TOP - 64, 0, WHOLE);
	LAY(&made[3], TOP, 0, WHOLE);
	LAY(&made[4], TOP, 3, REPLACED_CUT);
	LAY(&made[5], TOP, 0, REPLACED_WHOLE);
	for (size_t i = 0; i < 6; i++) {
		MT_CHECK(add(joiner, &made[i]));
		MT_CHECK_EQ(i < 1 || mt_join_stands(joiner, &made[1].stack), i < 5);
	}
	teardown(joiner, made, 6);
}

/* More than are kept track of, of which the last one is refuted: one in twenty is chance. */
MT_TEST(many_places_are_as_good_as_one)
{
	struct mt_joiner *joiner = setup_hook();
	struct made made[60];

	for (size_t i = 0; i < 60; i += 3) {
		uint64_t top = TOP - 64 * (i / 3);

		LAY(&made[i], top, 0, WHOLE);
		LAY(&made[i + 1], top, 3, CUT);
		LAY(&made[i + 2], top, 0, WHOLE);
		if (i == 57)
			LAY(&made[i + 2], top, 0, REPLACED_WHOLE);
		for (size_t k = i; k < i + 3; k++)
			MT_CHECK(add(joiner, &made[k]));
	}
	for (size_t i = 0; i < 60; i += 3)
		MT_CHECK_EQ(mt_join_stands(joiner, &made[i + 1].stack), i < 57);
	teardown(joiner, made, 60);
}

/* Nobody can tell which of the two was there, next to what is cut or further out. */
MT_TEST(where_another_function_may_stand_nothing_is_joined)
{
	static const enum function rivals[] = {HANDLE, LOOP, OTHER};

	for (size_t i = 0; i < 3; i++) {
		struct mt_joiner *joiner = setup();
		struct made made[2];

		LAY(&made[0], TOP, 0, WHOLE);
		LAY(&made[1], TOP, 3, CUT);
		MT_CHECK(add(joiner, &made[0]) && add(joiner, &made[1]));
		MT_CHECK(is_true(&made[1], 5));
		rival_of = rivals[i];
		MT_CHECK_EQ(mt_join_stands(joiner, &made[1].stack), rivals[i] == OTHER);
		teardown(joiner, made, 2);
	}
}

/* LOOP and HANDLE may be two others of other sizes, of which only the sum is the same. */
MT_TEST(where_two_others_may_stand_in_the_place_of_two_nothing_is_joined)
{
	static const uint64_t sizes[] = {32, 32 + 48, 32 + 48 + 16};

	for (size_t i = 0; i < 3; i++) {
		struct mt_joiner *joiner = setup();
		struct made made[2];

		LAY(&made[0], TOP, 0, {LEAF, 16}, {SMALL, 64}, {HANDLE, 32}, {LOOP, 48},
		    {OTHER, 16}, {START, 8});
		LAY(&made[1], TOP, 4, {LEAF, 16}, {LARGE, 16384}, {HANDLE, 32}, {LOOP, 48},
		    {OTHER, 16}, {START, 8});
		MT_CHECK(add(joiner, &made[0]) && add(joiner, &made[1]));
		MT_CHECK(is_true(&made[1], 6));
		rival_of = HANDLE;
		rival_below = sizes[i];
		MT_CHECK_EQ(mt_join_stands(joiner, &made[1].stack), i == 2);
		teardown(joiner, made, 2);
	}
}

/* Of two contexts that take turns on one stack both begin it, and nothing is further out. */
MT_TEST(where_another_function_may_begin_the_stack_nothing_is_joined)
{
	struct mt_joiner *joiner = setup();
	struct made made[2];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 3, CUT);
	MT_CHECK(add(joiner, &made[0]) && add(joiner, &made[1]));
	MT_CHECK(is_true(&made[1], 5));
	rival_of = START;
	MT_CHECK(!mt_join_stands(joiner, &made[1].stack));
	teardown(joiner, made, 2);
}

/* made[1] has LARGE of the tail, made[2] goes on below it: for that one HANDLE is further out. */
MT_TEST(frames_further_out_of_a_tail_that_is_shared_are_asked_about)
{
	struct mt_joiner *joiner = setup();
	struct made made[3];

	calls[LEAF][OTHER] = true;
	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 3, CUT);
	LAY(&made[2], TOP, 4, {OTHER, 8192}, CUT);
	for (size_t i = 0; i < 3; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(is_true(&made[1], 5) && is_true(&made[2], 6));
	rival_of = LARGE;
	MT_CHECK(mt_join_stands(joiner, &made[1].stack));
	MT_CHECK(!mt_join_stands(joiner, &made[2].stack));
	teardown(joiner, made, 3);
}

MT_TEST(what_may_stand_is_asked_again_when_more_is_known)
{
	struct mt_joiner *joiner = setup();
	struct made made[4];

	for (size_t i = 0; i < 4; i++) {
		if (i % 2)
			LAY(&made[i], TOP, 3, CUT);
		else
			LAY(&made[i], TOP, 0, WHOLE);
		MT_CHECK(add(joiner, &made[i]));
	}
	MT_CHECK(mt_join_stands(joiner, &made[1].stack));
	rival_of = HANDLE;
	MT_CHECK(!mt_join_stands(joiner, &made[3].stack));
	rival_of = LOOP;
	MT_CHECK(!mt_join_stands(joiner, &made[3].stack));
	teardown(joiner, made, 4);
}

/* Unless whole stacks on both sides say that it was the same one, there and again and again. */
MT_TEST(what_is_confirmed_is_joined_though_another_function_may_stand_there)
{
	struct mt_joiner *joiner = setup();
	struct made made[10];

	rival_of = HANDLE;
	for (size_t i = 0; i < 10; i++) {
		if (i % 2)
			LAY(&made[i], TOP, 3, CUT);
		else
			LAY(&made[i], TOP, 0, WHOLE);
		MT_CHECK(add(joiner, &made[i]));
		MT_CHECK_EQ(i < 1 || mt_join_stands(joiner, &made[1].stack), i < 1 || i >= 8);
	}
	MT_CHECK(mt_join_stands(joiner, &made[7].stack));
	MT_CHECK(!mt_join_stands(joiner, &made[9].stack)); /* nothing was seen behind it */
	teardown(joiner, made, 10);
}

/* A dozen at a place may be chance where the other one came unseen in one of few places more. */
MT_TEST(nor_is_it_where_the_other_function_came_unseen_in_another_place)
{
	struct mt_joiner *joiner = setup_hook();
	struct made made[28];

	rival_of = HANDLE;
	for (size_t i = 0; i < 28; i++) {
		uint64_t top = i < 25 ? TOP : TOP - 64;

		if (i < 25 ? i % 2 : i == 26)
			LAY(&made[i], top, 3, CUT);
		else
			LAY(&made[i], top, 0, WHOLE);
		if (i == 27)
			LAY(&made[i], top, 0, REPLACED_WHOLE);
		MT_CHECK(add(joiner, &made[i]));
	}
	MT_CHECK(!mt_join_stands(joiner, &made[26].stack));
	MT_CHECK(!mt_join_stands(joiner, &made[1].stack));
	teardown(joiner, made, 28);
}

/* made[10] is joined with made[11], which is cut, too: that made[12] agrees says nothing. */
MT_TEST(what_is_joined_with_a_later_stack_only_is_not_confirmed_by_those_behind)
{
	struct mt_joiner *joiner = setup();
	struct made made[13];

	rival_of = HANDLE;
	for (size_t i = 0; i < 13; i++) {
		LAY(&made[i], TOP, 0, WHOLE);
		if (i % 2 && i < 9)
			LAY(&made[i], TOP, 3, CUT);
		if (i == 9) {
			LAY(&made[i], TOP, 0, {LOOP, 48}, {START, 16});
			made[i].stack.kind = MT_JOIN_OTHER;
		}
		if (i == 10)
			LAY(&made[i], TOP, 3, CUT);
		if (i == 11)
			LAY(&made[i], TOP, 1, WHOLE);
		MT_CHECK(add(joiner, &made[i]));
	}
	MT_CHECK(is_true(&made[10], 5) && is_true(&made[11], 5));
	MT_CHECK(mt_join_stands(joiner, &made[7].stack));
	MT_CHECK(!mt_join_stands(joiner, &made[10].stack));
	MT_CHECK(mt_join_stands(joiner, &made[11].stack));
	teardown(joiner, made, 13);
}

/* So often a whole stack, a cut one and a seed of its like; the first `wrong` seeds show others. */
static void add_with_seeds(struct mt_joiner *joiner, struct made *made, size_t seeds, size_t wrong)
{
	for (size_t i = 0; i < 3 * seeds; i++, made++) {
		LAY(made, TOP, 0, WHOLE);
		if (i % 3 == 1)
			LAY(made, TOP, 3, CUT);
		if (i % 3 == 2 && i / 3 < wrong)
			LAY(made, TOP, 0, REPLACED_CUT);
		else if (i % 3 == 2)
			LAY(made, TOP, 0, CUT);
		if (i % 3 == 2) /* LARGE is more */
			made->stack.shorter = made->sps[0] + 4096;
		MT_CHECK(add(joiner, made));
	}
}

/* What whole stacks say of each other is not enough where there are seeds, and these are few. */
MT_TEST(where_another_function_may_stand_enough_seeds_have_to_say_which)
{
	static const size_t seeds[] = {1, 5, 7, 8, 12};

	for (size_t i = 0; i < 5; i++) {
		struct mt_joiner *joiner = setup();
		size_t count = 3 * seeds[i] + 3;
		struct made made[39];

		rival_of = HANDLE;
		add_with_seeds(joiner, made, seeds[i], 0);
		for (size_t k = count - 3; k < count; k++) {
			LAY(&made[k], TOP, 0, WHOLE);
			if (k == count - 2)
				LAY(&made[k], TOP, 3, CUT);
			MT_CHECK(add(joiner, &made[k]));
		}
		MT_CHECK(is_true(&made[count - 2], 5));
		MT_CHECK_EQ(mt_join_stands(joiner, &made[count - 2].stack), seeds[i] >= 8);
		teardown(joiner, made, count);
	}
}

/* Few of a place, which no seed met, are joined where seeds meet the thread's others, and well. */
MT_TEST(where_few_are_cut_the_seeds_of_the_thread_have_to_say_that_joining_is_right)
{
	static const struct {
		size_t seeds, wrong, cut;
		bool joined;
	} cases[] = {{15, 0, 6, false},
		     {16, 0, 6, true},
		     {16, 0, 15, true},
		     {16, 0, 16, false},
		     {30, 1, 6, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mt_joiner *joiner = setup();
		size_t first = 3 * cases[i].seeds, count = first + 2 * cases[i].cut + 1;
		struct made made[130];

		rival_of = HANDLE;
		add_with_seeds(joiner, made, cases[i].seeds, cases[i].wrong);
		for (size_t k = first; k < count; k++) {
			LAY(&made[k], TOP - 64, 0, WHOLE);
			if ((k - first) % 2)
				LAY(&made[k], TOP - 64, 3, CUT);
			MT_CHECK(add(joiner, &made[k]));
		}
		MT_CHECK(is_true(&made[count - 2], 5));
		MT_CHECK_EQ(mt_join_stands(joiner, &made[count - 2].stack), cases[i].joined);
		teardown(joiner, made, count);
	}
}

/* Nor is anything joined where a seed shows other frames, and not fifty times as many these. */
MT_TEST(where_seeds_show_other_frames_nothing_is_joined)
{
	for (size_t wrong = 0; wrong < 2; wrong++) {
		struct mt_joiner *joiner = setup_hook();
		struct made made[36];

		add_with_seeds(joiner, made, 12, wrong);
		for (size_t i = 4; i < 36; i += 3)
			MT_CHECK_EQ(mt_join_stands(joiner, &made[i].stack), !wrong);
		teardown(joiner, made, 36);
	}
}

MT_TEST_MAIN
