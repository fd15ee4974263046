/* call_site: call sites learned from the stacks of made programs. */
#include "unwind/join/call_site.h"

#include "formats/base/cleanup.h"
#include "tests/unit/code_builder.h"
#include "tests/unit/unit.h"

MT_DEFINE_CLEANUP(mt_image_map, struct mt_image_map)
#define MT_MAP_GUARD MT_CLEANUP(mt_image_map_destroy_p) struct mt_image_map *

static struct mt_call_sites *sites;
static uint64_t hashes; /* a new hash for each stack */

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

/* Learns a stack, the innermost address first. */
#define SHOW(map, ...)                                                            \
	MT_CHECK(mt_call_sites_learn(sites, map, (const uint64_t[]){__VA_ARGS__}, \
				     sizeof((const uint64_t[]){__VA_ARGS__}) / 8, ++hashes))

/* The question for a frame that was sampled at `outer`. */
static uint64_t from_sampled(const struct mt_image_map *map, uint64_t outer, uint64_t inner)
{
	return mt_call_site_find(
		sites, &(struct mt_call_question){.map = map, .outer = outer, .inner = inner});
}

/* The question for a frame that called known_inner at `outer`. */
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

	SHOW(here, at(HERE, READ, 5), at(HERE, LOOP, 0x44));
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
	SHOW(map, at(THERE, READ, 5), at(HERE, LOOP, 0x44));
	MT_CHECK_EQ(from_sampled(map, at(HERE, LOOP, 3), at(THERE, READ, 0)), at(HERE, LOOP, 0x44));
	MT_CHECK_EQ(from_sampled(map, at(HERE, LOOP, 3), at(HERE, READ, 0)), 0);
	MT_CHECK_EQ(from_sampled(map, at(THERE, LOOP, 3), at(THERE, READ, 0)), 0);
	teardown();
}

MT_TEST(a_call_that_led_to_the_same_function_does_so_again)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	MT_CHECK_EQ(from_call(map, at(HERE, LOOP, 0x14), at(HERE, READ, 3), at(HERE, READ, 9)),
		    at(HERE, LOOP, 0x14));
	/* also from code without a file */
	MT_CHECK_EQ(from_call(map, THERE, at(HERE, READ, 3), at(HERE, READ, 9)), THERE);
	MT_CHECK_EQ(from_call(map, at(HERE, LOOP, 0x14), at(HERE, WRITE, 3), at(HERE, READ, 9)), 0);
	/* known_inner does not count for a sampled frame */
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
	/* neither is this call: one is on another page, one on the same page */
	SHOW(map, at(HERE, READ, 5), at(HERE, FAR, 0x14));
	MT_CHECK_EQ(from_sampled(map, outer, inner), 0);
	SHOW(map, at(HERE, READ, 5), at(HERE, MAIN, 0x14));
	MT_CHECK_EQ(from_sampled(map, outer, inner), 0);
	SHOW(map, at(HERE, READ, 5), at(HERE, LOOP, 0x24));
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
		SHOW(map, at(HERE, READ, 5), at(HERE, LONG, offset));
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

	SHOW(map, at(HERE, READ, 5), at(HERE, WRITE, 6), at(HERE, HOOK, 7), at(HERE, LOOP, 8),
	     at(HERE, LEAF, 9), at(HERE, FAR, 10), at(HERE, LONG, 11), at(HERE, MAIN, 12));
	for (uint64_t i = 1; i < 8; i++)
		MT_CHECK_EQ(from_sampled(map, at(HERE, by[i], 0x80), at(HERE, by[i - 1], 0)),
			    at(HERE, by[i], 5 + i));
	teardown();
}

/* A stack with a known hash is skipped, and so is the end that it shares with the last one. */
MT_TEST(what_was_shown_before_is_not_lost)
{
	setup();
	MT_MAP_GUARD here = code_process(HERE, "/a");
	MT_MAP_GUARD there = code_process(THERE, "/a");

	SHOW(here, at(HERE, READ, 5), at(HERE, LOOP, 6), at(HERE, MAIN, 7));
	SHOW(here, at(HERE, WRITE, 5), at(HERE, LOOP, 6), at(HERE, MAIN, 7));
	MT_CHECK_EQ(from_sampled(here, at(HERE, LOOP, 0), at(HERE, READ, 0)), at(HERE, LOOP, 6));
	MT_CHECK_EQ(from_sampled(here, at(HERE, LOOP, 0), at(HERE, WRITE, 0)), at(HERE, LOOP, 6));
	MT_CHECK_EQ(from_sampled(there, at(THERE, MAIN, 0), at(THERE, LOOP, 0)),
		    at(THERE, MAIN, 7));
	/* the same addresses in another process belong to other functions */
	MT_MAP_GUARD other = code_process(HERE, "/b");

	SHOW(other, at(HERE, HOOK, 5), at(HERE, LOOP, 6), at(HERE, MAIN, 7));
	MT_CHECK_EQ(from_sampled(other, at(HERE, LOOP, 0), at(HERE, HOOK, 0)), at(HERE, LOOP, 6));
	MT_CHECK_EQ(from_sampled(other, at(HERE, MAIN, 0), at(HERE, LOOP, 0)), at(HERE, MAIN, 7));
	teardown();
}

MT_TEST(no_call_is_known_when_another_recording_begins)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	for (int round = 0; round < 3; round++) {
		SHOW(map, at(HERE, READ, 5), at(HERE, LOOP, 0x14));
		MT_CHECK_EQ(from_sampled(map, at(HERE, LOOP, 0), at(HERE, READ, 0)),
			    at(HERE, LOOP, 0x14));
		hashes--; /* the same stack again */
		mt_call_sites_begin(sites);
		MT_CHECK_EQ(from_sampled(map, at(HERE, LOOP, 0), at(HERE, READ, 0)), 0);
	}
	teardown();
}

MT_TEST(functions_are_distinguished_by_start_and_image)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	code_map_file(map, THERE, "/b");
	MT_CHECK(mt_call_sites_same(sites, map, at(HERE, READ, 3), at(HERE, READ, 0xff)));
	MT_CHECK(!mt_call_sites_same(sites, map, at(HERE, READ, 3), at(HERE, WRITE, 3)));
	MT_CHECK(!mt_call_sites_same(sites, map, at(HERE, READ, 3), at(THERE, READ, 3)));
	MT_CHECK(!mt_call_sites_same(sites, map, HERE + CODE_NOTHING, HERE + CODE_NOTHING));
	teardown();
}

/* ---- Code without a file ---- */

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
		/* the call site is not known */
		MT_CHECK_EQ(from_sampled(map, jit, other), 0);
		SHOW(map, other + 0x40, jit, at(HERE, MAIN, 4));
	}
	teardown();
}

/* The generation stays the same in this test. */
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
	/* again, with more maps than the number of answers that are kept */
	for (int i = 0; i < 40000; i++) {
		bool file = i * 7919 % 13 % 2;

		code_map_part(map, THERE, file ? "/b" : "//anon", PROT_READ, CODE_START, CODE_END);
		wrong += from_call(map, outer, known, inner) != (file ? 0 : outer);
	}
	MT_CHECK_EQ(wrong, 0);
	teardown();
}

MT_TEST_MAIN
