/*
 * call_site: what stacks of made programs and their code say of who calls whom, and what else may
 * have stood between two frames.
 */
#include "unwind/call_site.h"

#include "formats/base/cleanup.h"
#include "tests/unit/code_builder.h"
#include "tests/unit/unit.h"

MT_DEFINE_CLEANUP(mt_image_map, struct mt_image_map)
#define MT_MAP_GUARD MT_CLEANUP(mt_image_map_destroy_p) struct mt_image_map *

static struct mt_call_sites *sites;
static struct code_stack made[2];
static size_t turn;

static void setup(void)
{
	code_setup();
	code_add_file("/a");
	code_add_file("/b");
	sites = mt_call_sites_create();
	MT_CHECK(sites);
}

static void teardown(void)
{
	mt_call_sites_destroy(sites);
	code_teardown();
}

/* Those by turns: one has to stay until the next was learned from. */
#define SHOW(map, whole, ...) \
	MT_CHECK(mt_call_sites_learn(sites, map, LAY(&made[turn ^= 1], whole, __VA_ARGS__)))

/* Of a frame that was sampled at outer. */
static uint64_t from_sampled(const struct mt_image_map *map, uint64_t outer, uint64_t inner)
{
	return mt_call_site_find(
		sites, &(struct mt_call_question){.map = map, .outer = outer, .inner = inner});
}

/* Of one that called known_inner from there. */
static uint64_t from_call(const struct mt_image_map *map, uint64_t outer, uint64_t known_inner,
			  uint64_t inner)
{
	return mt_call_site_find(sites, &(struct mt_call_question){.map = map,
								   .outer = outer,
								   .outer_calls = true,
								   .known_inner = known_inner,
								   .inner = inner});
}

/* ---- Calls that stacks show ---- */

MT_TEST(a_call_shown_in_one_process_answers_for_another)
{
	setup();
	MT_MAP_GUARD here = code_process(HERE, "/a");
	MT_MAP_GUARD there = code_process(THERE, "/a");

	SHOW(here, false, {at(HERE, READ, 5), 32}, {at(HERE, LOOP, 0x44), 64});
	MT_CHECK_EQ(from_sampled(there, at(THERE, LOOP, 0x90), at(THERE, READ, 7)),
		    at(THERE, LOOP, 0x44));
	MT_CHECK_EQ(from_sampled(here, at(HERE, LOOP, 0x90), at(HERE, READ, 7)),
		    at(HERE, LOOP, 0x44));
	MT_CHECK_EQ(from_sampled(there, at(THERE, LOOP, 0x90), at(THERE, WRITE, 7)), 0);
	MT_CHECK_EQ(from_sampled(there, at(THERE, READ, 7), at(THERE, LOOP, 0x90)), 0);
	teardown();
}

MT_TEST(a_call_into_another_image_is_shown_too)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	code_map_file(map, THERE, "/b");
	SHOW(map, false, {at(THERE, READ, 5), 32}, {at(HERE, LOOP, 0x44), 64});
	MT_CHECK_EQ(from_sampled(map, at(HERE, LOOP, 3), at(THERE, READ, 0)), at(HERE, LOOP, 0x44));
	MT_CHECK_EQ(from_sampled(map, at(HERE, LOOP, 3), at(HERE, READ, 0)), 0);
	MT_CHECK_EQ(from_sampled(map, at(THERE, LOOP, 3), at(THERE, READ, 0)), 0);
	teardown();
}

MT_TEST(the_call_itself_is_preferred_to_the_first_one_of_its_function)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");
	const uint64_t first = at(HERE, LOOP, 0x14), second = at(HERE, LOOP, 0x24),
		       third = at(HERE, LOOP, 0x34);

	SHOW(map, false, {at(HERE, READ, 5), 32}, {first, 64});
	SHOW(map, false, {at(HERE, READ, 6), 32}, {second, 64});
	SHOW(map, false, {at(HERE, WRITE, 6), 32}, {third, 64});
	MT_CHECK_EQ(from_call(map, first, at(HERE, WRITE, 0), at(HERE, READ, 9)), first);
	MT_CHECK_EQ(from_call(map, second, at(HERE, WRITE, 0), at(HERE, READ, 9)), second);
	MT_CHECK_EQ(from_call(map, third, at(HERE, WRITE, 0), at(HERE, READ, 9)), first);
	/* where it was sampled, no call is at hand */
	MT_CHECK_EQ(from_sampled(map, second, at(HERE, READ, 9)), first);
	teardown();
}

MT_TEST(a_call_that_led_to_the_same_function_does_so_again)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	MT_CHECK_EQ(from_call(map, at(HERE, LOOP, 0x14), at(HERE, READ, 3), at(HERE, READ, 9)),
		    at(HERE, LOOP, 0x14));
	/* even from code that no file has */
	MT_CHECK_EQ(from_call(map, THERE, at(HERE, READ, 3), at(HERE, READ, 9)), THERE);
	MT_CHECK_EQ(from_call(map, at(HERE, LOOP, 0x14), at(HERE, WRITE, 3), at(HERE, READ, 9)), 0);
	/* known_inner says nothing of a frame that was sampled */
	MT_CHECK_EQ(mt_call_site_find(sites,
				      &(struct mt_call_question){.map = map,
								 .outer = at(HERE, LOOP, 0x14),
								 .known_inner = at(HERE, READ, 3),
								 .inner = at(HERE, READ, 9)}),
		    0);
	teardown();
}

MT_TEST(functions_of_two_images_at_the_same_link_address_are_not_the_same)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	code_map_file(map, THERE, "/b");
	MT_CHECK_EQ(from_call(map, at(HERE, LOOP, 0x14), at(HERE, READ, 3), at(THERE, READ, 3)), 0);
	teardown();
}

MT_TEST(what_is_shown_after_a_question_changes_the_answer)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");
	const uint64_t outer = at(HERE, LOOP, 0x90), inner = at(HERE, READ, 7);

	MT_CHECK_EQ(from_sampled(map, outer, inner), 0);
	/* of other pages, and of the same one: neither is this call */
	SHOW(map, true, {at(HERE, READ, 5), 32}, {at(HERE, FAR, 0x14), 64});
	MT_CHECK_EQ(from_sampled(map, outer, inner), 0);
	SHOW(map, true, {at(HERE, READ, 5), 32}, {at(HERE, MAIN, 0x14), 64});
	MT_CHECK_EQ(from_sampled(map, outer, inner), 0);
	SHOW(map, true, {at(HERE, READ, 5), 32}, {at(HERE, LOOP, 0x24), 64});
	MT_CHECK_EQ(from_sampled(map, outer, inner), at(HERE, LOOP, 0x24));
	/* and once more: the call itself is better */
	MT_CHECK_EQ(from_call(map, at(HERE, LOOP, 0x34), at(HERE, WRITE, 0), inner),
		    at(HERE, LOOP, 0x24));
	SHOW(map, true, {at(HERE, READ, 5), 32}, {at(HERE, LOOP, 0x34), 64});
	MT_CHECK_EQ(from_call(map, at(HERE, LOOP, 0x34), at(HERE, WRITE, 0), inner),
		    at(HERE, LOOP, 0x34));
	MT_CHECK_EQ(from_sampled(map, outer, inner), at(HERE, LOOP, 0x24));
	teardown();
}

MT_TEST(a_call_is_found_from_another_page_of_its_function)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	for (uint64_t offset = 0; offset < 0x2100; offset += 0x700) {
		mt_call_sites_begin(sites);
		MT_CHECK_EQ(from_sampled(map, at(HERE, LONG, 0x1000), at(HERE, READ, 7)), 0);
		SHOW(map, false, {at(HERE, READ, 5), 32}, {at(HERE, LONG, offset), 64});
		MT_CHECK_EQ(from_sampled(map, at(HERE, LONG, 0x1000), at(HERE, READ, 7)),
			    at(HERE, LONG, offset));
	}
	teardown();
}

MT_TEST(all_calls_of_a_deep_stack_are_learned)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");
	const enum function by[] = {READ, WRITE, HOOK, LOOP, LEAF, FAR, LONG, MAIN};

	SHOW(map, true, {at(HERE, READ, 5), 32}, {at(HERE, WRITE, 6), 32}, {at(HERE, HOOK, 7), 48},
	     {at(HERE, LOOP, 8), 64}, {at(HERE, LEAF, 9), 80}, {at(HERE, FAR, 10), 16},
	     {at(HERE, LONG, 11), 16}, {at(HERE, MAIN, 12), 16});
	for (uint64_t i = 1; i < 8; i++)
		MT_CHECK_EQ(from_sampled(map, at(HERE, by[i], 0x80), at(HERE, by[i - 1], 0)),
			    at(HERE, by[i], 5 + i));
	teardown();
}

/* Bytes of LONG and of WRITE, each with each: more than the 18 bits of calls that wait at most. */
#define MANY 600000

static void show_many(const struct mt_image_map *map)
{
	for (uint64_t i = 0; i < MANY; i++)
		SHOW(map, false, {at(HERE, WRITE, i % 0x100), 32}, {at(HERE, LONG, i / 0x100), 64});
}

/* What was shown before is learned then, and not lost. */
MT_TEST(of_more_calls_than_may_wait_all_are_known)
{
	size_t before;
	unsigned int wrong = 0;

	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	SHOW(map, false, {at(HERE, READ, 5), 32}, {at(HERE, LOOP, 0x44), 64});
	before = memory_in_use();
	show_many(map);
	MT_CHECK(memory_in_use() - before < (size_t)MANY * 80); /* with 64 bytes each */
	MT_CHECK_EQ(from_sampled(map, at(HERE, LOOP, 0), at(HERE, READ, 0)), at(HERE, LOOP, 0x44));
	for (uint64_t offset = 0; offset < MANY / 0x100; offset++)
		wrong += from_call(map, at(HERE, LONG, offset), at(HERE, READ, 0),
				   at(HERE, WRITE, 0)) != at(HERE, LONG, offset);
	MT_CHECK_EQ(wrong, 0);
	MT_CHECK_EQ(from_sampled(map, at(HERE, LONG, 0x2000), at(HERE, WRITE, 0)),
		    at(HERE, LONG, 0)); /* the first one */
	teardown();
}

MT_TEST(what_was_learned_without_a_question_is_forgotten_too)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	show_many(map);
	mt_call_sites_begin(sites);
	MT_CHECK_EQ(from_sampled(map, at(HERE, LONG, 0x2000), at(HERE, WRITE, 0)), 0);
	teardown();
}

/* All functions of one image as they are called from each byte of LONG in another. */
static void show_all(const struct mt_image_map *map, uint64_t outer, uint64_t inner)
{
	for (uint64_t i = 0; i < code_pieces[LONG].size; i++) {
		for (enum function f = MAIN; f < FUNCTIONS; f++)
			SHOW(map, false, {at(inner, f, 0), 32}, {at(outer, LONG, i), 64});
	}
}

/* 20 bits, with those that say of a function alone that it calls another. */
MT_TEST(of_too_many_calls_the_first_are_known)
{
	static const char *const paths[] = {"/a", "/b", "/c", "/d"};

	setup();
	code_add_file("/c");
	code_add_file("/d");
	MT_MAP_GUARD map = mt_image_map_create();

	for (uint64_t i = 0; i < 4; i++)
		code_map_file(map, HERE + i * 0x10000, paths[i]);
	for (uint64_t i = 0; i < 16; i++)
		show_all(map, HERE + i / 4 * 0x10000, HERE + i % 4 * 0x10000);
	MT_CHECK_EQ(from_sampled(map, at(HERE, LONG, 9), at(HERE, MAIN, 0)), at(HERE, LONG, 0));
	SHOW(map, false, {at(HERE, MAIN, 0), 32}, {at(HERE, FAR, 5), 64});
	/* and what there is no room for is not */
	MT_CHECK_EQ(from_sampled(map, at(HERE, FAR, 9), at(HERE, MAIN, 0)), 0);
	teardown();
}

MT_TEST(no_call_is_known_when_another_recording_begins)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	for (int round = 0; round < 3; round++) {
		SHOW(map, true, {at(HERE, READ, 5), 32}, {at(HERE, LOOP, 0x14), 64});
		MT_CHECK(mt_call_sites_know(sites, made[turn].stack.hash));
		if (round) /* begins without a question, too */
			MT_CHECK_EQ(from_sampled(map, at(HERE, LOOP, 0), at(HERE, READ, 0)),
				    at(HERE, LOOP, 0x14));
		mt_call_sites_begin(sites);
		MT_CHECK(!mt_call_sites_know(sites, made[turn].stack.hash));
		MT_CHECK_EQ(from_sampled(map, at(HERE, LOOP, 0), at(HERE, READ, 0)), 0);
		mt_call_sites_begin(sites);
	}
	/* as much is shown then, but of something else */
	SHOW(map, true, {at(HERE, READ, 5), 32}, {at(HERE, LOOP, 0x14), 64});
	MT_CHECK(from_sampled(map, at(HERE, LOOP, 0), at(HERE, READ, 0)));
	mt_call_sites_begin(sites);
	SHOW(map, true, {at(HERE, WRITE, 5), 32}, {at(HERE, LOOP, 0x14), 64});
	MT_CHECK_EQ(from_sampled(map, at(HERE, LOOP, 0), at(HERE, READ, 0)), 0);
	teardown();
}

/* ---- Calls in code ---- */

MT_TEST(a_direct_call_in_code_is_known_without_a_stack)
{
	setup();
	CODE_FILE("/calls", {LOOP, 0x10, READ});
	MT_MAP_GUARD map = code_process(HERE, "/calls");

	code_map_file(map, THERE, "/a");
	/* which call it is nothing says */
	MT_CHECK_EQ(from_sampled(map, at(HERE, LOOP, 0x90), at(HERE, READ, 7)),
		    at(HERE, LOOP, 0x90));
	MT_CHECK_EQ(from_call(map, at(HERE, LOOP, 0x14), at(HERE, WRITE, 0), at(HERE, READ, 7)),
		    at(HERE, LOOP, 0x14));
	MT_CHECK_EQ(from_sampled(map, at(HERE, MAIN, 0x90), at(HERE, READ, 7)), 0);
	MT_CHECK_EQ(from_sampled(map, at(THERE, LOOP, 0x90), at(THERE, READ, 7)), 0);
	MT_CHECK_EQ(from_sampled(map, at(HERE, LOOP, 0x90), at(THERE, READ, 7)), 0);
	/* but a stack says it */
	SHOW(map, true, {at(HERE, READ, 5), 32}, {at(HERE, LOOP, 0x14), 64});
	MT_CHECK_EQ(from_sampled(map, at(HERE, LOOP, 0x90), at(HERE, READ, 7)),
		    at(HERE, LOOP, 0x14));
	teardown();
}

/* ---- Code of no file ---- */

MT_TEST(code_of_no_file_may_call_other_such_code_from_where_it_called_some)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");
	const uint64_t jit = at(THERE, LOOP, 0), other = at(THERE, READ, 0);

	code_map_file(map, THERE, "//anon");
	for (int round = 0; round < 2; round++) {
		MT_CHECK_EQ(from_call(map, jit, other, other + 0x40), jit);
		MT_CHECK_EQ(from_call(map, at(HERE, LOOP, 4), other, other + 0x40),
			    at(HERE, LOOP, 4));
		/* one of the two is code of a file */
		MT_CHECK_EQ(from_call(map, jit, at(HERE, READ, 0), other), 0);
		MT_CHECK_EQ(from_call(map, jit, other, at(HERE, READ, 0)), 0);
		/* nothing tells where it calls from */
		MT_CHECK_EQ(from_sampled(map, jit, other), 0);
		SHOW(map, true, {other + 0x40, 32}, {jit, 64}, {at(HERE, MAIN, 4), 16});
	}
	teardown();
}

/* No new generation in all of this. */
MT_TEST(what_is_mapped_later_is_code_of_a_file_from_then_on)
{
	uint32_t generation;
	unsigned int wrong = 0;

	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");
	const uint64_t outer = at(THERE, LOOP, 4), known = at(THERE, READ, 0),
		       inner = at(THERE, WRITE, 0);

	generation = mt_image_map_generation(map);
	MT_CHECK_EQ(from_call(map, outer, known, inner), outer);
	code_map_file(map, THERE, "/b");
	MT_CHECK_EQ(mt_image_map_generation(map), generation);
	MT_CHECK_EQ(from_call(map, outer, known, inner), 0);
	/* and so on: more maps than answers are kept */
	for (int i = 0; i < 40000; i++) {
		bool file = i * 7919 % 13 % 2;

		code_map_part(map, THERE, file ? "/b" : "//anon", PROT_READ, CODE_START, CODE_END);
		wrong += from_call(map, outer, known, inner) != (file ? 0 : outer);
	}
	MT_CHECK_EQ(wrong, 0);
	teardown();
}

/* ---- Rivals ---- */

/* The bytes from READ's stack pointer to LOOP's, in most of what follows. */
#define SIZE 64

static bool has_rival(const struct mt_image_map *map, uint64_t base, uint64_t size)
{
	return mt_call_site_has_rival(
		sites, &(struct mt_call_rival_question){.map = map,
							.outer = at(base, LOOP, 0x14),
							.frame = at(base, READ, 0x20),
							.inner = at(base, LEAF, 3),
							.size = size});
}

/* A stack of LEAF, called by that one, which LOOP calls and which has a frame of so many bytes. */
static void show_frame(const struct mt_image_map *map, uint64_t base, uint64_t frame, uint64_t size)
{
	SHOW(map, true, {at(base, LEAF, 1), 16}, {frame, size}, {at(base, LOOP, 0x24), 32},
	     {at(base, MAIN, 4), 48});
}

MT_TEST(another_function_with_a_frame_of_that_size_is_a_rival)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	show_frame(map, HERE, at(HERE, READ, 0x20), SIZE);
	MT_CHECK(!has_rival(map, HERE, SIZE)); /* it is no rival of its own */
	show_frame(map, HERE, at(HERE, WRITE, 0x20), SIZE + 16);
	MT_CHECK(!has_rival(map, HERE, SIZE));
	MT_CHECK(has_rival(map, HERE, SIZE + 16));
	show_frame(map, HERE, at(HERE, WRITE, 0x30), SIZE);
	MT_CHECK(has_rival(map, HERE, SIZE));
	MT_CHECK(!has_rival(map, HERE, SIZE + 32));
	teardown();
}

MT_TEST(a_rival_seen_in_one_process_is_one_in_another)
{
	setup();
	MT_MAP_GUARD here = code_process(HERE, "/a");
	MT_MAP_GUARD there = code_process(THERE, "/a");

	show_frame(here, HERE, at(HERE, WRITE, 0x20), SIZE);
	MT_CHECK(has_rival(there, THERE, SIZE));
	MT_CHECK(!has_rival(there, THERE, SIZE + 16));
	teardown();
}

MT_TEST(only_one_that_calls_the_inner_function_is_a_rival)
{
	setup();
	CODE_FILE("/calls", {WRITE, 0x10, LEAF});
	MT_MAP_GUARD shown = code_process(HERE, "/a");
	MT_MAP_GUARD direct = code_process(HERE, "/calls");

	for (int round = 0; round < 2; round++) {
		const struct mt_image_map *map = round ? direct : shown;

		/* WRITE calls FAR there */
		SHOW(map, true, {at(HERE, FAR, 1), 16}, {at(HERE, WRITE, 0x24), SIZE},
		     {at(HERE, LOOP, 0x24), 32});
		MT_CHECK_EQ(has_rival(map, HERE, SIZE), round); /* its code has a call of LEAF */
	}
	/* a stack shows that it calls LEAF as well, from somewhere else */
	SHOW(shown, true, {at(HERE, LEAF, 1), 16}, {at(HERE, WRITE, 0x34), SIZE},
	     {at(HERE, HOOK, 0x24), 32});
	MT_CHECK(has_rival(shown, HERE, SIZE));
	teardown();
}

MT_TEST(one_that_was_seen_below_another_function_is_no_rival)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	SHOW(map, true, {at(HERE, LEAF, 1), 16}, {at(HERE, WRITE, 0x24), SIZE},
	     {at(HERE, HOOK, 0x24), 32}, {at(HERE, MAIN, 4), 16});
	MT_CHECK(!has_rival(map, HERE, SIZE));
	/* nor one that was sampled, whose frame may be as large as it likes */
	SHOW(map, true, {at(HERE, WRITE, 0x24), SIZE}, {at(HERE, LOOP, 0x24), 32});
	MT_CHECK(!has_rival(map, HERE, SIZE));
	MT_CHECK(!has_rival(map, HERE, 0));
	teardown();
}

MT_TEST(a_rival_may_stand_below_the_callers_caller_with_another_frame_between)
{
	struct mt_call_rival_question q = {.size = SIZE, .span = 80 + 32};

	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	SHOW(map, true, {at(HERE, LEAF, 1), 16}, {at(HERE, WRITE, 0x24), 80},
	     {at(HERE, HOOK, 0x24), 32}, {at(HERE, MAIN, 4), 16});
	q.map = map;
	q.outer = at(HERE, LOOP, 0x14);
	q.frame = at(HERE, READ, 0x20);
	q.inner = at(HERE, LEAF, 3);
	MT_CHECK(!mt_call_site_has_rival(sites, &q)); /* not asked about */
	q.beyond = at(HERE, MAIN, 0x40);
	MT_CHECK(mt_call_site_has_rival(sites, &q));
	q.span += 16;
	MT_CHECK(!mt_call_site_has_rival(sites, &q));
	q.span -= 16;
	q.beyond = at(HERE, FAR, 0x40);
	MT_CHECK(!mt_call_site_has_rival(sites, &q));
	q.beyond = at(HERE, MAIN, 0x40);
	q.frame = at(HERE, WRITE, 0x20);
	MT_CHECK(!mt_call_site_has_rival(sites, &q));
	teardown();
}

static bool root_has_rival(const struct mt_image_map *map, uint64_t frame, uint64_t inner)
{
	return mt_call_site_has_rival(sites, &(struct mt_call_rival_question){
						     .map = map, .frame = frame, .inner = inner});
}

MT_TEST(another_root_that_calls_the_inner_function_is_a_rival)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");
	const uint64_t main = at(HERE, MAIN, 4), loop = at(HERE, LOOP, 8);

	SHOW(map, true, {loop, 32}, {main, 64});
	MT_CHECK(!root_has_rival(map, main, loop));
	SHOW(map, false, {loop, 32}, {at(HERE, HOOK, 0x10), 64}); /* cut: HOOK is no root */
	MT_CHECK(!root_has_rival(map, main, loop));
	SHOW(map, true, {at(HERE, READ, 1), 32}, {at(HERE, FAR, 0x10), 64}); /* calls no LOOP */
	MT_CHECK(!root_has_rival(map, main, loop));
	SHOW(map, true, {at(HERE, READ, 1), 32}, {at(HERE, HOOK, 0x20), 64});
	MT_CHECK(root_has_rival(map, main, loop));
	MT_CHECK(!root_has_rival(map, main, at(HERE, LEAF, 0)));
	teardown();
}

MT_TEST(code_that_is_not_mapped_in_the_process_is_no_rival)
{
	setup();
	MT_MAP_GUARD with = code_process(HERE, "/a");
	MT_MAP_GUARD without = code_process(HERE, "/a");

	code_map_file(with, THERE, "/b");
	show_frame(with, HERE, at(THERE, WRITE, 0x20), SIZE);
	MT_CHECK(has_rival(with, HERE, SIZE));
	MT_CHECK(!has_rival(without, HERE, SIZE));
	code_map_file(without, 2 * THERE, "/b");
	MT_CHECK(has_rival(without, HERE, SIZE));
	teardown();
}

MT_TEST(a_function_at_the_same_link_address_of_another_image_is_a_rival)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	code_map_file(map, THERE, "/b");
	show_frame(map, HERE, at(THERE, READ, 0x20), SIZE);
	MT_CHECK(has_rival(map, HERE, SIZE));
	teardown();
}

MT_TEST(of_code_of_no_file_there_are_no_rivals)
{
	struct mt_call_rival_question q = {.size = SIZE};

	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	code_map_file(map, THERE, "//anon");
	show_frame(map, HERE, at(HERE, WRITE, 0x20), SIZE);
	q.map = map;
	for (int which = 0; which < 4; which++) {
		q.outer = at(which == 1 ? THERE : HERE, LOOP, 0x14);
		q.frame = at(which == 2 ? THERE : HERE, READ, 0x20);
		q.inner = at(which == 3 ? THERE : HERE, LEAF, 3);
		MT_CHECK_EQ(mt_call_site_has_rival(sites, &q), which == 0);
	}
	teardown();
}

MT_TEST(no_rival_is_known_when_another_recording_begins)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	for (int round = 0; round < 2; round++) {
		show_frame(map, HERE, at(HERE, WRITE, 0x20), SIZE);
		MT_CHECK(has_rival(map, HERE, SIZE));
		mt_call_sites_begin(sites);
		MT_CHECK(!has_rival(map, HERE, SIZE));
		/* and what says so is not kept over another beginning */
		mt_call_sites_begin(sites);
	}
	teardown();
}

MT_TEST_MAIN
