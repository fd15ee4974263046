/*
 * shown_calls: every call that stacks show is given once, when somebody asks for the caller's code.
 */
#include "unwind/shown_calls.h"

#include <string.h>

#include "formats/base/cleanup.h"
#include "tests/unit/code_builder.h"
#include "tests/unit/unit.h"

MT_DEFINE_CLEANUP(mt_image_map, struct mt_image_map)
#define MT_MAP_GUARD MT_CLEANUP(mt_image_map_destroy_p) struct mt_image_map *

static struct mt_code_places *places;
static struct mt_shown_calls *shown;
static uint32_t image; /* of /a */
static struct code_stack made[2];
static size_t turn;

static void setup(void)
{
	code_setup();
	code_add_file("/a");
	code_add_file("/b");
	image = code_image("/a")->id;
	places = mt_code_places_create();
	shown = mt_shown_calls_create(places);
	MT_CHECK(places && shown);
}

static void teardown(void)
{
	mt_shown_calls_destroy(shown);
	mt_code_places_destroy(places);
	code_teardown();
}

/* Those by turns: one has to stay until the next was learned from. */
#define SHOW(map, whole, ...) \
	MT_CHECK(mt_shown_calls_learn(shown, map, LAY(&made[turn ^= 1], whole, __VA_ARGS__)))

static struct mt_shown_pages pages_of(enum function f)
{
	const struct mt_code_function function = function_of(f, image);

	return mt_shown_pages_of(&function);
}

/* What comes next of that code is this; a place of vaddr 0 is nowhere. */
static bool gives(struct mt_shown_pages *pages, uint64_t outer, uint64_t inner, uint64_t size,
		  uint64_t third, uint64_t span)
{
	struct mt_shown_call call;
	const struct mt_code_place *found[] = {&call.outer, &call.inner, &call.third};
	const uint64_t wanted[] = {outer, inner, third};

	if (!mt_shown_calls_take(shown, pages, &call) || call.size != size || call.span != span)
		return false;
	for (size_t i = 0; i < 3; i++) {
		if (found[i]->image != (wanted[i] ? image : MT_NO_IMAGE) ||
		    (wanted[i] && found[i]->vaddr != wanted[i]))
			return false;
	}
	return true;
}

/* How many there still are of that code; takes them. */
static size_t take_all(struct mt_shown_pages pages)
{
	struct mt_shown_call call;
	size_t n = 0;

	while (mt_shown_calls_take(shown, &pages, &call))
		n++;
	return n;
}

MT_TEST(a_stack_shows_its_calls_from_the_innermost_on)
{
	struct mt_shown_pages pages;

	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	SHOW(map, true, {at(HERE, LEAF, 1), 8}, {at(HERE, READ, 2), 32}, {at(HERE, LOOP, 3), 64},
	     {at(HERE, MAIN, 4), 16});
	pages = pages_of(MAIN);
	MT_CHECK(gives(&pages, vaddr(READ, 2), vaddr(LEAF, 1), 0, 0, 0)); /* LEAF was sampled */
	MT_CHECK(gives(&pages, vaddr(LOOP, 3), vaddr(READ, 2), 32, 0, 0));
	MT_CHECK(gives(&pages, vaddr(MAIN, 4), vaddr(LOOP, 3), 64, vaddr(READ, 2), 96));
	MT_CHECK_EQ(take_all(pages), 0);
	pages = mt_shown_pages_of(NULL);
	MT_CHECK(gives(&pages, 0, vaddr(MAIN, 4), 0, 0, 0));
	MT_CHECK_EQ(take_all(pages), 0);
	MT_CHECK_EQ(mt_shown_calls_total(shown), 4);
	teardown();
}

MT_TEST(a_stack_that_was_cut_shows_no_root)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	SHOW(map, false, {at(HERE, READ, 2), 32}, {at(HERE, MAIN, 4), 16});
	MT_CHECK_EQ(take_all(mt_shown_pages_of(NULL)), 0);
	MT_CHECK_EQ(take_all(mt_shown_pages_all()), 1);
	SHOW(map, true, {at(HERE, MAIN, 4), 16}); /* no call, but a root */
	MT_CHECK_EQ(take_all(mt_shown_pages_of(NULL)), 1);
	MT_CHECK(mt_shown_calls_learn(shown, map, &(struct mt_call_stack){.whole = true}));
	MT_CHECK_EQ(mt_shown_calls_total(shown), 2);
	teardown();
}

MT_TEST(where_a_stack_pointer_is_unknown_so_are_sizes)
{
	struct mt_shown_pages pages;

	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	LAY(made, false, {at(HERE, LEAF, 1), 8}, {at(HERE, READ, 2), 32}, {at(HERE, LOOP, 3), 64},
	    {at(HERE, MAIN, 4), 16});
	made->sps[3] = 0;
	MT_CHECK(mt_shown_calls_learn(shown, map, &made->stack));
	pages = pages_of(MAIN);
	MT_CHECK(gives(&pages, vaddr(READ, 2), vaddr(LEAF, 1), 0, 0, 0));
	MT_CHECK(gives(&pages, vaddr(LOOP, 3), vaddr(READ, 2), 32, 0, 0));
	MT_CHECK(gives(&pages, vaddr(MAIN, 4), vaddr(LOOP, 3), 0, 0, 0));
	teardown();
}

MT_TEST(what_is_shown_twice_is_kept_once)
{
	setup();
	MT_MAP_GUARD here = code_process(HERE, "/a");
	MT_MAP_GUARD there = code_process(THERE, "/a");

	for (int round = 0; round < 3; round++) {
		SHOW(here, true, {at(HERE, READ, 2), 32}, {at(HERE, LOOP, 3), 64},
		     {at(HERE, MAIN, 4), 16});
		SHOW(there, true, {at(THERE, READ, 2), 32}, {at(THERE, LOOP, 3), 64},
		     {at(THERE, MAIN, 4), 16});
		/* taken after the first round, and not shown again */
		MT_CHECK_EQ(take_all(mt_shown_pages_all()), round ? 0 : 3);
		MT_CHECK_EQ(mt_shown_calls_total(shown), 3);
	}
	teardown();
}

/* Of MAIN's call of what the frames are, with another stack before that ends in no way as it does.
 */
static size_t shows_more(const struct mt_image_map *map, const struct code_frame *inner)
{
	size_t before;

	SHOW(map, true, {at(HERE, FAR, 1), 16});
	before = mt_shown_calls_total(shown);
	SHOW(map, false, {at(HERE, LEAF, 1), 8}, inner[0], inner[1], {at(HERE, MAIN, 4), 16});
	return mt_shown_calls_total(shown) - before;
}

MT_TEST(calls_that_differ_in_one_thing_are_told_apart)
{
	const struct code_frame read = {at(HERE, READ, 2), 32}, loop = {at(HERE, LOOP, 3), 64};

	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	code_map_file(map, THERE, "/b");
	MT_CHECK_EQ(shows_more(map, (struct code_frame[]){read, loop}), 3);
	MT_CHECK_EQ(shows_more(map, (struct code_frame[]){read, loop}), 0);
	/* LOOP's frame has another size: of MAIN's call that and the span differ */
	MT_CHECK_EQ(shows_more(map, (struct code_frame[]){read, {loop.pc, 80}}), 1);
	/* READ's: LOOP's call has another size, MAIN's another span alone */
	MT_CHECK_EQ(shows_more(map, (struct code_frame[]){{read.pc, 48}, loop}), 2);
	/* another function in READ's place: MAIN's call differs in the third frame alone */
	MT_CHECK_EQ(shows_more(map, (struct code_frame[]){{at(HERE, WRITE, 2), 32}, loop}), 3);
	/* the same in another image */
	MT_CHECK_EQ(shows_more(map, (struct code_frame[]){{at(THERE, READ, 2), 32}, loop}), 3);
	MT_CHECK_EQ(shows_more(map, (struct code_frame[]){read, {at(THERE, LOOP, 3), 64}}), 2);
	teardown();
}

/* Above the frames that two stacks have in common nothing is new, but what stands next to others.
 */
MT_TEST(a_stack_that_ends_as_the_one_before_shows_all_that_is_its_own)
{
	struct mt_shown_pages pages;

	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	SHOW(map, true, {at(HERE, LEAF, 1), 8}, {at(HERE, READ, 2), 32}, {at(HERE, LOOP, 3), 64},
	     {at(HERE, MAIN, 4), 16}, {at(HERE, FAR, 5), 16});
	MT_CHECK_EQ(take_all(mt_shown_pages_all()), 5);
	SHOW(map, true, {at(HERE, LEAF, 1), 8}, {at(HERE, WRITE, 2), 48}, {at(HERE, LOOP, 3), 64},
	     {at(HERE, MAIN, 4), 16}, {at(HERE, FAR, 5), 16});
	pages = pages_of(MAIN);
	MT_CHECK(gives(&pages, vaddr(WRITE, 2), vaddr(LEAF, 1), 0, 0, 0));
	MT_CHECK(gives(&pages, vaddr(LOOP, 3), vaddr(WRITE, 2), 48, 0, 0));
	MT_CHECK(gives(&pages, vaddr(MAIN, 4), vaddr(LOOP, 3), 64, vaddr(WRITE, 2), 112));
	MT_CHECK_EQ(take_all(mt_shown_pages_all()), 0);
	teardown();
}

MT_TEST(the_same_addresses_show_other_calls_in_another_process)
{
	struct mt_shown_pages pages;

	setup();
	MT_MAP_GUARD one = code_process(HERE, "/a");
	MT_MAP_GUARD other = code_process(HERE, "/b");

	SHOW(one, true, {at(HERE, READ, 2), 32}, {at(HERE, LOOP, 3), 64}, {at(HERE, MAIN, 4), 16});
	SHOW(other, true, {at(HERE, READ, 2), 32}, {at(HERE, LOOP, 3), 64},
	     {at(HERE, MAIN, 4), 16});
	MT_CHECK_EQ(mt_shown_calls_total(shown), 6);
	image = code_image("/b")->id;
	pages = pages_of(MAIN);
	MT_CHECK(gives(&pages, vaddr(LOOP, 3), vaddr(READ, 2), 0, 0, 0));
	MT_CHECK(gives(&pages, vaddr(MAIN, 4), vaddr(LOOP, 3), 64, 0, 0));
	teardown();
}

MT_TEST(of_frames_in_no_file_the_others_are_shown)
{
	struct mt_shown_pages pages;

	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	code_map_file(map, THERE, "//anon");
	SHOW(map, true, {at(HERE, LEAF, 1), 8}, {at(HERE, READ, 2), 32}, {at(THERE, LOOP, 3), 64},
	     {at(HERE, MAIN, 4), 16}, {at(THERE, FAR, 4), 16});
	pages = pages_of(MAIN);
	MT_CHECK(gives(&pages, vaddr(READ, 2), vaddr(LEAF, 1), 0, 0, 0));
	MT_CHECK(gives(&pages, vaddr(MAIN, 4), 0, 64, vaddr(READ, 2), 96));
	MT_CHECK_EQ(take_all(mt_shown_pages_all()), 0); /* nor what the root is, nor its calls */
	teardown();
}

/* No new generation in all of this. */
MT_TEST(what_stood_where_no_code_is_mapped_is_not_kept_over_a_change_of_the_map)
{
	struct mt_shown_pages pages;
	uint32_t generation;

	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	generation = mt_image_map_generation(map);
	SHOW(map, false, {at(THERE, READ, 2), 32}, {at(THERE, LOOP, 3), 64});
	MT_CHECK_EQ(mt_shown_calls_total(shown), 0);
	code_map_part(map, THERE, "/b", PROT_READ, CODE_START, CODE_END);
	SHOW(map, false, {at(THERE, READ, 2), 32}, {at(THERE, LOOP, 3), 64});
	MT_CHECK_EQ(mt_shown_calls_total(shown), 1);
	code_map_file(map, THERE, "/a");
	for (int round = 0; round < 2; round++) {
		SHOW(map, false, {at(THERE, READ, 2), 32}, {at(THERE, LOOP, 3), 64});
		MT_CHECK_EQ(mt_shown_calls_total(shown), 2);
	}
	MT_CHECK_EQ(mt_image_map_generation(map), generation);
	pages = pages_of(LOOP);
	MT_CHECK(gives(&pages, vaddr(LOOP, 3), vaddr(READ, 2), 0, 0, 0));
	teardown();
}

MT_TEST(a_function_has_what_all_its_pages_show_and_no_page_that_it_is_not_in)
{
	struct mt_shown_pages pages;

	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	SHOW(map, false, {at(HERE, READ, 2), 32}, {at(HERE, LONG, 0x20ff), 64});
	SHOW(map, false, {at(HERE, READ, 2), 32}, {at(HERE, FAR, 0), 64});
	SHOW(map, false, {at(HERE, READ, 2), 32}, {at(HERE, LONG, 0x1000), 64});
	SHOW(map, false, {at(HERE, READ, 2), 32}, {at(HERE, LONG, 0), 64});
	SHOW(map, false, {at(HERE, READ, 2), 32}, {at(HERE, LONG, 0x900), 64});
	MT_CHECK_EQ(mt_shown_calls_total(shown), 5);
	pages = pages_of(LONG);
	MT_CHECK_EQ(pages.count, 3);
	MT_CHECK_EQ(mt_shown_calls_count(shown, pages), 4);
	/* page after page, and in each the first first */
	MT_CHECK(gives(&pages, vaddr(LONG, 0), vaddr(READ, 2), 0, 0, 0));
	MT_CHECK(gives(&pages, vaddr(LONG, 0x1000), vaddr(READ, 2), 0, 0, 0));
	MT_CHECK(gives(&pages, vaddr(LONG, 0x900), vaddr(READ, 2), 0, 0, 0));
	MT_CHECK(gives(&pages, vaddr(LONG, 0x20ff), vaddr(READ, 2), 0, 0, 0));
	MT_CHECK_EQ(take_all(pages), 0);
	MT_CHECK_EQ(mt_shown_calls_count(shown, pages_of(LONG)), 4); /* taken ones, too */
	MT_CHECK_EQ(mt_shown_calls_count(shown, pages_of(FAR)), 1);
	MT_CHECK_EQ(mt_shown_calls_waiting(shown), 1);
	MT_CHECK_EQ(take_all(pages_of(FAR)), 1);
	teardown();
}

MT_TEST(a_function_larger_than_the_table_has_all_that_it_shows)
{
	const struct mt_code_function all = {CODE_VADDR, CODE_VADDR + (1ull << 40), 0};
	const struct mt_code_function last = {UINT64_MAX - 10, UINT64_MAX, 0},
				      page = {0x1000, 0x2000, 0};

	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	SHOW(map, true, {at(HERE, READ, 2), 32}, {at(HERE, LONG, 0x1000), 64},
	     {at(HERE, FAR, 2), 16});
	MT_CHECK_EQ(mt_shown_pages_of(&last).count, 1);
	MT_CHECK_EQ(mt_shown_pages_of(&page).count, 1);
	MT_CHECK_EQ(mt_shown_pages_of(&all).count, mt_shown_pages_all().count);
	MT_CHECK_EQ(take_all(mt_shown_pages_of(&all)), 3);
	teardown();
}

MT_TEST(what_comes_after_some_was_taken_is_given_in_its_turn)
{
	struct mt_shown_pages pages;

	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	for (uint64_t i = 0; i < 4; i++)
		SHOW(map, false, {at(HERE, READ, i), 32}, {at(HERE, FAR, i), 64});
	MT_CHECK_EQ(mt_shown_calls_total(shown), 4);
	pages = pages_of(FAR);
	for (uint64_t i = 0; i < 2; i++)
		MT_CHECK(gives(&pages, vaddr(FAR, i), vaddr(READ, i), 0, 0, 0));
	MT_CHECK_EQ(mt_shown_calls_waiting(shown), 2);
	for (uint64_t i = 4; i < 8; i++)
		SHOW(map, false, {at(HERE, READ, i), 32}, {at(HERE, FAR, i), 64});
	SHOW(map, false, {at(HERE, READ, 9), 32}, {at(HERE, LOOP, 9), 64}); /* of another page */
	pages = pages_of(FAR);
	for (uint64_t i = 2; i < 8; i++)
		MT_CHECK(gives(&pages, vaddr(FAR, i), vaddr(READ, i), 0, 0, 0));
	MT_CHECK_EQ(take_all(pages), 0);
	MT_CHECK_EQ(mt_shown_calls_waiting(shown), 1);
	SHOW(map, false, {at(HERE, READ, 8), 32}, {at(HERE, FAR, 8), 64});
	pages = pages_of(FAR);
	MT_CHECK(gives(&pages, vaddr(FAR, 8), vaddr(READ, 8), 0, 0, 0));
	pages = pages_of(LOOP);
	MT_CHECK(gives(&pages, vaddr(LOOP, 9), vaddr(READ, 9), 0, 0, 0));
	MT_CHECK_EQ(mt_shown_calls_waiting(shown), 0);
	teardown();
}

/* As many different calls as one likes: every byte of LONG calls every one of READ. */
static void show_nth(const struct mt_image_map *map, uint64_t i)
{
	SHOW(map, false, {at(HERE, READ, i % 0x100), 32}, {at(HERE, LONG, i / 0x100 % 0x2100), 64});
}

MT_TEST(what_was_taken_makes_room_for_what_comes)
{
	enum {
		CALLS = 20000
	};
	size_t before, taken = 0;

	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	show_nth(map, CALLS);
	before = memory_in_use();
	for (uint64_t i = 0; i < CALLS; i++) {
		show_nth(map, i);
		if (i % 10 == 9)
			taken += take_all(pages_of(LONG));
	}
	MT_CHECK_EQ(taken, CALLS + 1);
	MT_CHECK(memory_in_use() - before < (size_t)CALLS * 8);
	teardown();
}

MT_TEST(of_many_calls_none_is_lost_or_given_twice)
{
	enum {
		CALLS = 300000,
		AGAIN = 100000 /* more than are remembered at first */
	};
	struct mt_shown_pages pages;
	struct mt_shown_call call;
	unsigned int wrong = 0;
	static bool was[CALLS];

	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	for (uint64_t i = 0; i < CALLS; i++)
		show_nth(map, i);
	MT_CHECK_EQ(mt_shown_calls_total(shown), CALLS);
	MT_CHECK_EQ(mt_shown_calls_waiting(shown), CALLS);
	pages = pages_of(LONG);
	while (mt_shown_calls_take(shown, &pages, &call)) {
		uint64_t i = (call.outer.vaddr - vaddr(LONG, 0)) * 0x100 +
			     (call.inner.vaddr - vaddr(READ, 0));

		wrong += i >= CALLS || was[i];
		was[i < CALLS ? i : 0] = true;
	}
	for (size_t i = 0; i < CALLS; i++)
		wrong += !was[i];
	MT_CHECK_EQ(wrong, 0);
	/* most of what was shown last is remembered, as there is more room for it by now */
	for (uint64_t i = CALLS - AGAIN; i < CALLS; i++)
		show_nth(map, i);
	MT_CHECK(mt_shown_calls_total(shown) < CALLS + AGAIN / 10);
	teardown();
}

MT_TEST(all_frames_of_a_deep_stack_are_shown)
{
	static struct code_frame frames[CODE_FRAMES];
	struct mt_shown_pages pages;

	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	for (uint64_t i = 0; i < CODE_FRAMES; i++)
		frames[i] = (struct code_frame){at(HERE, FAR, i), 16 + i};
	MT_CHECK(mt_shown_calls_learn(shown, map, code_lay(made, true, frames, CODE_FRAMES)));
	pages = pages_of(FAR);
	MT_CHECK(gives(&pages, vaddr(FAR, 1), vaddr(FAR, 0), 0, 0, 0));
	MT_CHECK(gives(&pages, vaddr(FAR, 2), vaddr(FAR, 1), 17, 0, 0));
	for (uint64_t i = 3; i < CODE_FRAMES; i++)
		MT_CHECK(gives(&pages, vaddr(FAR, i), vaddr(FAR, i - 1), 15 + i, vaddr(FAR, i - 2),
			       29 + 2 * i));
	MT_CHECK_EQ(take_all(pages), 0);
	teardown();
}

MT_TEST(what_a_stack_shows_is_known_once_it_was_settled)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	SHOW(map, false, {at(HERE, READ, 2), 32}, {at(HERE, FAR, 0), 64});
	MT_CHECK(mt_shown_calls_settle(shown));
	MT_CHECK_EQ(mt_shown_calls_waiting(shown), 1);
	SHOW(map, false, {at(HERE, READ, 3), 32}, {at(HERE, FAR, 0), 64});
	SHOW(map, false,
	     {at(HERE, READ, 4), 32}); /* of one frame, the one before is settled, too */
	memset(made, 0, sizeof(made));
	MT_CHECK(mt_shown_calls_settle(shown));
	MT_CHECK_EQ(mt_shown_calls_waiting(shown), 2);
	MT_CHECK_EQ(take_all(pages_of(FAR)), 2);
	teardown();
}

MT_TEST(a_stack_is_known_by_its_hash_until_other_images_come)
{
	uint64_t hash;

	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	LAY(made, true, {at(HERE, READ, 2), 32}, {at(HERE, MAIN, 4), 16});
	hash = made->stack.hash;
	mt_shown_calls_prefetch(shown, hash); /* changes nothing */
	MT_CHECK(!mt_shown_calls_know(shown, hash));
	MT_CHECK(mt_shown_calls_learn(shown, map, &made->stack));
	MT_CHECK(mt_shown_calls_know(shown, hash));
	MT_CHECK(!mt_shown_calls_know(shown, hash + 1));
	mt_shown_calls_begin(shown);
	MT_CHECK(!mt_shown_calls_know(shown, hash));
	teardown();
}

MT_TEST(nothing_was_shown_when_other_images_come)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	for (int round = 0; round < 3; round++) {
		SHOW(map, true, {at(HERE, READ, 2), 32}, {at(HERE, MAIN, 4), 16});
		MT_CHECK_EQ(mt_shown_calls_total(shown), 2);
		MT_CHECK_EQ(take_all(pages_of(MAIN)), 1);
		mt_shown_calls_begin(shown);
		MT_CHECK_EQ(mt_shown_calls_total(shown), 0);
		MT_CHECK_EQ(mt_shown_calls_waiting(shown), 0);
		MT_CHECK_EQ(mt_shown_calls_count(shown, mt_shown_pages_all()), 0);
		MT_CHECK_EQ(take_all(mt_shown_pages_all()), 0);
	}
	teardown();
}

MT_TEST_MAIN
