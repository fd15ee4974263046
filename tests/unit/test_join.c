/*
 * join: stacks of made threads, for which the test knows every frame. A joined stack must have the
 * true frames. If a frame returned in between, nothing may be joined.
 */
#include "unwind/join/join.h"

#include "tests/unit/unit.h"
#include "unwind/join/call_site.h"

#define THREAD 7
#define TOP ((uint64_t)0x7fff00010000)
#define FRAMES 16

/* Each function has 0x100 bytes of addresses; a table lists the calls. */
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

/* The call of f is at 0x40 + f in its caller, if the table has the call. */
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

/* A stack: pcs and stack pointers of its frames, innermost first. */
struct made {
	uint64_t pcs[FRAMES], sps[FRAMES];
	struct mt_join_stack stack;
};

struct frame {
	enum function function;
	uint64_t size;
};

/*
 * Lays out the frames below `top`; the outermost frame has the highest address. The stack lacks its
 * `cut` outermost frames.
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

static struct mt_joiner *setup(void)
{
	struct mt_join_check check = {.site = find_site, .same = is_same};

	memset(calls, 0, sizeof(calls));
	calls[START][LOOP] = calls[LOOP][HANDLE] = calls[LOOP][OTHER] = true;
	calls[HANDLE][SMALL] = calls[HANDLE][LARGE] = true;
	calls[SMALL][LEAF] = calls[LARGE][LEAF] = true;
	return mt_joiner_create(&check);
}

static bool add(struct mt_joiner *joiner, struct made *made)
{
	return mt_joiner_add(joiner, &made->stack);
}

/* Whether the tail consists of exactly the frames that were cut off. */
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
	LAY(&made[2], TOP, 4, {OTHER, 8192}, CUT); /* below LEAF and LARGE of the joined stack */
	for (size_t i = 0; i < 3; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(is_true(&made[2], 6));
	teardown(joiner, made, 3);
}

/* As if branch records reach the root. */
MT_TEST(callers_of_unknown_place_are_lent_with_the_frames_within)
{
	struct mt_joiner *joiner = setup();
	struct made made[2];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 3, CUT);
	for (size_t i = 0; i < 2; i++)
		made[i].sps[3] = made[i].sps[4] = 0;
	MT_CHECK(add(joiner, &made[0]) && add(joiner, &made[1]));
	MT_CHECK(is_true(&made[1], 5));
	teardown(joiner, made, 2);
}

/* As if dumps are small and branch records reach the root: only an early stack has all places. */
MT_TEST(callers_of_unknown_place_are_where_the_same_calls_were)
{
	struct mt_joiner *joiner = setup();
	struct made made[3];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 0, WHOLE);
	made[1].sps[2] = made[1].sps[3] = made[1].sps[4] = 0;
	LAY(&made[2], TOP, 2, WHOLE);
	for (size_t i = 0; i < 3; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(is_true(&made[2], 5));
	teardown(joiner, made, 3);
}

MT_TEST(callers_of_unknown_place_are_not_put_below_known_frames)
{
	struct mt_joiner *joiner = setup();
	struct made made[3];

	LAY(&made[0], TOP, 0, {HANDLE, 32}, {LOOP, 48}, {START, 16});
	LAY(&made[1], TOP, 0, WHOLE);
	made[1].sps[1] = TOP - 8; /* above the places of LOOP and START */
	made[1].sps[2] = made[1].sps[3] = made[1].sps[4] = 0;
	LAY(&made[2], TOP, 2, WHOLE);
	for (size_t i = 0; i < 3; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(!made[2].stack.tail_count);
	teardown(joiner, made, 3);
}

MT_TEST(a_stack_whose_boundary_is_not_known_is_not_joined)
{
	struct mt_joiner *joiner = setup();
	struct made made[3];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 3, CUT);
	made[1].stack.boundary = 0;
	LAY(&made[2], TOP, 0, WHOLE);
	for (size_t i = 0; i < 3; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(!made[1].stack.frames);
	teardown(joiner, made, 3);
}

MT_TEST(not_across_a_stack_above_the_boundary)
{
	struct mt_joiner *joiner = setup();
	struct made made[5];

	LAY(&made[0], TOP, 0, WHOLE);
	LAY(&made[1], TOP, 0, {LOOP, 48}, {START, 16});
	made[1].stack.kind = MT_JOIN_OTHER; /* its place is enough */
	LAY(&made[2], TOP, 3, CUT);
	made[3] = made[1];
	made[3].stack.pcs = made[3].pcs;
	made[3].stack.sps = made[3].sps;
	LAY(&made[4], TOP, 0, WHOLE);
	for (size_t i = 0; i < 5; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(!made[2].stack.frames);
	teardown(joiner, made, 5);
}

/* After a longjmp or an exception: HANDLE is gone, and OTHER is in its place. */
MT_TEST(not_to_a_function_that_does_not_call_it)
{
	struct mt_joiner *joiner = setup();
	struct made made[2];

	LAY(&made[0], TOP, 0, {LEAF, 16}, {SMALL, 64}, {OTHER, 32}, {LOOP, 48}, {START, 16});
	LAY(&made[1], TOP, 3, CUT);
	MT_CHECK(add(joiner, &made[0]) && add(joiner, &made[1]));
	MT_CHECK(!made[1].stack.frames);
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
	MT_CHECK(!made[1].stack.frames);
	teardown(joiner, made, 3);
}

/* A cut stack that fits no frames shows that the frames at its place are gone. */
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
	MT_CHECK(!made[1].stack.frames);
	MT_CHECK(!made[2].stack.frames);
	teardown(joiner, made, 3);
}

/* Coroutines: their stacks are below the thread's, each with a root. */
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
	MT_CHECK(!made[1].stack.frames); /* no root of the second stack was seen */
	MT_CHECK(!made[2].stack.frames); /* frames of the first stack have returned meanwhile */
	teardown(joiner, made, 4);
}

/* A signal handler on an alternate stack: the frames above the switch are still the thread's. */
MT_TEST(frames_after_a_switch_are_the_threads)
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
	MT_CHECK(!made[2].stack.frames);
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
	MT_CHECK(!made[1].stack.frames);
	mt_joiner_release(&made[0].stack);
	mt_joiner_release(&made[1].stack);
	mt_joiner_reset(joiner);
	made[1].stack.thread = THREAD;
	MT_CHECK(add(joiner, &made[1]));
	MT_CHECK(!made[1].stack.frames);
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
	MT_CHECK(!made[0].stack.frames);
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

/* ---- Right and wrong ---- */

/* HOOK is in HANDLE's place and makes the same calls. */
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

#define ROUNDS_MAX 160

/* Stacks that were added before the test's stacks. */
static struct made before[2 * ROUNDS_MAX + 1];
static size_t before_count;

/*
 * Adds `rounds` cut stacks, each between two whole stacks that agree, on a stack that starts at
 * `top`.
 */
static void see_right_ones(struct mt_joiner *joiner, uint64_t top, size_t rounds)
{
	before_count = 2 * rounds + 1;
	for (size_t i = 0; i < before_count; i++) {
		if (i % 2)
			LAY(&before[i], top, 3, CUT);
		else
			LAY(&before[i], top, 0, WHOLE);
		MT_CHECK(add(joiner, &before[i]));
	}
}

/* Sets up a joiner that has seen `rounds` right joins. */
static struct mt_joiner *setup_hook(size_t rounds)
{
	struct mt_joiner *joiner = setup();

	calls[LOOP][HOOK] = calls[HOOK][SMALL] = calls[HOOK][LARGE] = true;
	see_right_ones(joiner, TOP, rounds);
	return joiner;
}

static void teardown_hook(struct mt_joiner *joiner, struct made *made, size_t count)
{
	for (size_t i = 0; i < before_count; i++)
		mt_joiner_release(&before[i].stack);
	teardown(joiner, made, count);
}

MT_TEST(what_the_next_whole_stack_refutes_is_not_used)
{
	struct mt_joiner *joiner = setup_hook(4);
	struct made made[3];

	LAY(&made[0], TOP, 3, CUT);
	LAY(&made[1], TOP, 3, REPLACED_CUT);
	LAY(&made[2], TOP, 0, REPLACED_WHOLE);
	MT_CHECK(add(joiner, &made[0]) && add(joiner, &made[1]));
	MT_CHECK(mt_join_is_valid(joiner, &made[0].stack));
	MT_CHECK(mt_join_is_valid(joiner, &made[1].stack)); /* nothing contradicts it yet */
	MT_CHECK(add(joiner, &made[2]));
	MT_CHECK(!mt_join_is_valid(joiner,
				   &made[0].stack)); /* which of the two it was is not known */
	MT_CHECK(!mt_join_is_valid(joiner, &made[1].stack));
	teardown_hook(joiner, made, 3);
}

/* The same further out: HANDLE is there again, called by another function. */
MT_TEST(callers_further_out_have_to_be_the_same)
{
	struct mt_joiner *joiner = setup_hook(4);
	struct made made[2];

	LAY(&made[0], TOP, 3, CUT);
	LAY(&made[1], TOP, 0, {LEAF, 16}, {SMALL, 64}, {HANDLE, 32}, {HOOK, 48}, {START, 16});
	MT_CHECK(add(joiner, &made[0]));
	MT_CHECK(mt_join_is_valid(joiner, &made[0].stack));
	MT_CHECK(add(joiner, &made[1]));
	MT_CHECK(!mt_join_is_valid(joiner, &made[0].stack));
	teardown_hook(joiner, made, 2);
}

MT_TEST(another_call_in_the_same_functions_confirms)
{
	struct mt_joiner *joiner = setup_hook(4);
	struct made made[2];

	LAY(&made[0], TOP, 3, CUT);
	LAY(&made[1], TOP, 0, {LEAF, 16}, {LARGE, 64}, {HANDLE, 32}, {LOOP, 48}, {START, 16});
	made[1].pcs[3] += 16;
	MT_CHECK(add(joiner, &made[0]) && add(joiner, &made[1]));
	MT_CHECK(is_true(&made[0], 5) && mt_join_is_valid(joiner, &made[0].stack));
	teardown_hook(joiner, made, 2);
}

/* HOOK came after a stack that ended above HANDLE: HANDLE was there before. */
MT_TEST(a_change_that_was_seen_refutes_nothing)
{
	struct mt_joiner *joiner = setup_hook(4);
	struct made made[3];

	LAY(&made[0], TOP, 3, CUT);
	LAY(&made[1], TOP, 0, {LOOP, 48}, {START, 16});
	LAY(&made[2], TOP, 0, REPLACED_WHOLE);
	for (size_t i = 0; i < 3; i++)
		MT_CHECK(add(joiner, &made[i]));
	MT_CHECK(is_true(&made[0], 5) && mt_join_is_valid(joiner, &made[0].stack));
	teardown_hook(joiner, made, 3);
}

/* A whole stack that ends above the boundary gives no evidence: HANDLE may have returned. */
MT_TEST(a_whole_stack_that_does_not_reach_the_boundary_refutes_nothing)
{
	struct mt_joiner *joiner = setup_hook(4);
	struct made made[2];

	LAY(&made[0], TOP, 3, CUT);
	LAY(&made[1], TOP, 0, {LOOP, 48}, {START, 16});
	MT_CHECK(add(joiner, &made[0]) && add(joiner, &made[1]));
	MT_CHECK(mt_join_is_valid(joiner, &made[0].stack));
	teardown_hook(joiner, made, 2);
}

MT_TEST(nothing_is_joined_before_a_few_were_found_right)
{
	for (size_t rounds = 0; rounds < 6; rounds++) {
		struct mt_joiner *joiner = setup_hook(rounds);
		struct made made[1];

		LAY(&made[0], TOP, 3, CUT);
		MT_CHECK(add(joiner, &made[0]) && is_true(&made[0], 5));
		MT_CHECK_EQ(mt_join_is_valid(joiner, &made[0].stack), rounds >= 4);
		teardown_hook(joiner, made, 1);
	}
}

/* Whole stacks on both sides of a wrong join may agree, but more often they disagree. */
MT_TEST(where_one_in_150_is_wrong_nothing_is_joined)
{
	for (size_t rounds = 148; rounds < 151; rounds++) {
		struct mt_joiner *joiner = setup_hook(rounds);
		struct made made[4];

		LAY(&made[0], TOP, 3, CUT);
		LAY(&made[1], TOP, 0, REPLACED_WHOLE);
		LAY(&made[2], TOP, 0, WHOLE);
		LAY(&made[3], TOP, 3, CUT);
		for (size_t i = 0; i < 4; i++)
			MT_CHECK(add(joiner, &made[i]));
		MT_CHECK(!mt_join_is_valid(joiner, &made[0].stack));
		MT_CHECK_EQ(mt_join_is_valid(joiner, &made[3].stack), rounds == 150);
		teardown_hook(joiner, made, 4);
	}
}

/* Stacks that end at a new call: the other joins of the thread decide whether they are valid. */
MT_TEST(of_a_new_call_the_others_of_the_thread_report)
{
	for (int wrong = 0; wrong < 2; wrong++) {
		struct mt_joiner *joiner = setup_hook(4);
		struct made made[3];

		LAY(&made[0], TOP, 3, CUT);
		LAY(&made[1], TOP, 0, WHOLE);
		if (wrong)
			LAY(&made[1], TOP, 0, REPLACED_WHOLE);
		LAY(&made[2], TOP, 3, {LEAF, 16}, {OTHER, 16384}, {HANDLE, 32}, {LOOP, 48},
		    {START, 16});
		calls[HANDLE][OTHER] = calls[HOOK][OTHER] = true;
		for (size_t i = 0; i < 3; i++)
			MT_CHECK(add(joiner, &made[i]));
		MT_CHECK(made[2].stack.tail_count == 3);
		MT_CHECK_EQ(mt_join_is_valid(joiner, &made[2].stack), !wrong);
		teardown_hook(joiner, made, 3);
	}
}

/* A stack joined with a later whole stack gives no evidence about such joins; other joins must. */
MT_TEST(what_was_joined_with_a_later_stack_rests_on_others)
{
	for (size_t rounds = 3; rounds < 5; rounds++) {
		struct mt_joiner *joiner = setup_hook(rounds);
		struct made made[3];

		LAY(&made[0], TOP, 0, {LOOP, 48}, {START, 16});
		LAY(&made[1], TOP, 3, CUT);
		LAY(&made[2], TOP, 0, WHOLE);
		for (size_t i = 0; i < 3; i++)
			MT_CHECK(add(joiner, &made[i]));
		MT_CHECK(is_true(&made[1], 5));
		MT_CHECK_EQ(mt_join_is_valid(joiner, &made[1].stack), rounds == 4);
		teardown_hook(joiner, made, 3);
	}
}

/* A seed is joined as if it were cut; its own frames show whether the join is right. */
MT_TEST(seeds_report_whether_joining_is_right)
{
	for (size_t wrong = 0; wrong < 2; wrong++) {
		for (size_t seeds = 3; seeds < 5; seeds++) {
			struct mt_joiner *joiner = setup_hook(0);
			struct made made[11];
			size_t n = 0;

			for (size_t i = 0; i < seeds; i++, n += 2) {
				LAY(&made[n], TOP, 0, WHOLE);
				LAY(&made[n + 1], TOP, 0, CUT);
				if (wrong && !i)
					LAY(&made[n + 1], TOP, 0, REPLACED_CUT);
				/* LARGE's frame is larger */
				made[n + 1].stack.shorter = made[n + 1].sps[0] + 4096;
				MT_CHECK(add(joiner, &made[n]) && add(joiner, &made[n + 1]));
			}
			LAY(&made[n], TOP, 3, CUT);
			MT_CHECK(add(joiner, &made[n]) && is_true(&made[n], 5));
			MT_CHECK_EQ(mt_join_is_valid(joiner, &made[n].stack), !wrong && seeds == 4);
			teardown_hook(joiner, made, n + 1);
		}
	}
}

/* A seed that would be whole with a shorter dump gives no evidence about cut stacks. */
MT_TEST(a_seed_whose_like_are_whole_reports_nothing)
{
	struct mt_joiner *joiner = setup_hook(0);
	struct made made[9];

	for (size_t i = 0; i < 8; i++) {
		LAY(&made[i], TOP, 0, WHOLE);
		made[i].stack.shorter = made[i].sps[0] + 4096;
		MT_CHECK(add(joiner, &made[i]));
	}
	LAY(&made[8], TOP, 3, CUT);
	MT_CHECK(add(joiner, &made[8]) && is_true(&made[8], 5));
	MT_CHECK(!mt_join_is_valid(joiner, &made[8].stack));
	teardown_hook(joiner, made, 9);
}

MT_TEST_MAIN
