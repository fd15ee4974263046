/* formats/base/tag_set: what was put in is told, as long as there is room where it may stand. */
#include "formats/base/tag_set.h"

#include "formats/base/map64.h"
#include "tests/unit/unit.h"

#define SIZE 1024

/* Hashes that may stand in the same place all have the same upper half. */
static uint64_t hash_in(uint32_t place, uint32_t tag)
{
	return (uint64_t)place << 32 | tag;
}

MT_TEST(what_was_put_in_is_there_and_nothing_else)
{
	struct mt_tag_set set = {0};
	unsigned int missing = 0, wrong = 0;

	MT_REQUIRE(mt_tag_set_resize(&set, SIZE));
	for (uint64_t i = 0; i < SIZE / 4; i++) {
		wrong += mt_tag_set_has(&set, mt_hash64(i));
		mt_tag_set_put(&set, mt_hash64(i));
	}
	for (uint64_t i = 0; i < SIZE / 4; i++)
		missing += !mt_tag_set_has(&set, mt_hash64(i));
	for (uint64_t i = SIZE / 4; i < 100 * SIZE; i++)
		wrong += mt_tag_set_has(&set, mt_hash64(i));
	MT_CHECK_EQ(missing, 0);
	MT_CHECK_EQ(wrong, 0);
	MT_CHECK_EQ(set.count, SIZE / 4);
	mt_tag_set_deinit(&set);
}

MT_TEST(an_empty_set_has_not_even_zero)
{
	struct mt_tag_set set = {0};

	MT_REQUIRE(mt_tag_set_resize(&set, MT_TAG_WAYS));
	MT_CHECK(!mt_tag_set_has(&set, 0));
	MT_CHECK(!mt_tag_set_has(&set, hash_in(7, 0)));
	mt_tag_set_put(&set, hash_in(7, 0));
	MT_CHECK(mt_tag_set_has(&set, hash_in(7, 0)));
	MT_CHECK(!mt_tag_set_has(&set, hash_in(7, 2)));
	mt_tag_set_deinit(&set);
}

MT_TEST(both_halves_of_a_hash_count)
{
	struct mt_tag_set set = {0};

	MT_REQUIRE(mt_tag_set_resize(&set, SIZE));
	mt_tag_set_put(&set, hash_in(3, 0x10));
	MT_CHECK(!mt_tag_set_has(&set, hash_in(4, 0x10)));
	MT_CHECK(!mt_tag_set_has(&set, hash_in(3 + SIZE / MT_TAG_WAYS / 2, 0x10)));
	MT_CHECK(!mt_tag_set_has(&set, hash_in(3, 0x80000010)));
	mt_tag_set_deinit(&set);
}

/* How many of the tags 0x10, 0x20, ... of a place are there, of those with number in [from, to). */
static unsigned int there(const struct mt_tag_set *set, uint32_t place, uint32_t from, uint32_t to)
{
	unsigned int n = 0;

	for (uint32_t i = from; i < to; i++)
		n += mt_tag_set_has(set, hash_in(place, i << 4));
	return n;
}

MT_TEST(where_a_place_is_full_the_others_take_turns_to_be_forgotten)
{
	struct mt_tag_set set = {0};

	MT_REQUIRE(mt_tag_set_resize(&set, SIZE));
	for (uint32_t i = 1; i <= MT_TAG_WAYS; i++)
		mt_tag_set_put(&set, hash_in(5, i << 4));
	MT_CHECK_EQ(there(&set, 5, 1, 1 + MT_TAG_WAYS), MT_TAG_WAYS);
	for (uint32_t i = 1; i <= MT_TAG_WAYS; i++) {
		mt_tag_set_put(&set, hash_in(5, (100 + i) << 4));
		MT_CHECK_EQ(there(&set, 5, 1, 1 + MT_TAG_WAYS), MT_TAG_WAYS - i);
		MT_CHECK_EQ(there(&set, 5, 101, 101 + i), i);
	}
	MT_CHECK_EQ(there(&set, 4, 1, 200) + there(&set, 6, 1, 200), 0);
	MT_CHECK_EQ(set.count, 2 * MT_TAG_WAYS); /* forgotten ones, too */
	mt_tag_set_deinit(&set);
}

MT_TEST(another_size_begins_empty)
{
	struct mt_tag_set set = {0};

	MT_REQUIRE(mt_tag_set_resize(&set, SIZE));
	mt_tag_set_put(&set, hash_in(1, 0x10));
	MT_REQUIRE(mt_tag_set_resize(&set, 2 * SIZE));
	MT_CHECK(!mt_tag_set_has(&set, hash_in(1, 0x10)));
	MT_CHECK_EQ(set.count, 0);
	for (uint32_t place = 0; place < 2 * SIZE / MT_TAG_WAYS; place++) {
		for (uint32_t i = 1; i <= MT_TAG_WAYS; i++)
			mt_tag_set_put(&set, hash_in(place, i << 4));
	}
	for (uint32_t place = 0; place < 2 * SIZE / MT_TAG_WAYS; place++)
		MT_CHECK_EQ(there(&set, place, 1, 1 + MT_TAG_WAYS), MT_TAG_WAYS);
	mt_tag_set_deinit(&set);
	MT_CHECK(!set.tags && !set.count);
	mt_tag_set_deinit(&set);
}

MT_TEST(one_that_cannot_have_more_room_stays_as_it_is)
{
	struct mt_tag_set set = {0};
	size_t too_much = SIZE_MAX / 8;

#if defined(__SANITIZE_ADDRESS__)
	MT_SKIP("the sanitizer ends the program where memory runs out");
#endif
	MT_REQUIRE(mt_tag_set_resize(&set, SIZE));
	mt_tag_set_put(&set, hash_in(1, 0x10));
	__asm__("" : "+r"(too_much)); /* or the compiler warns of it */
	MT_CHECK(!mt_tag_set_resize(&set, too_much));
	MT_CHECK(mt_tag_set_has(&set, hash_in(1, 0x10)));
	mt_tag_set_deinit(&set);
}

MT_TEST_MAIN
