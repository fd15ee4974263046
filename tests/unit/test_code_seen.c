/* record/code_seen: which places of code words point to, whatever comes first. */
#include "record/code_seen.h"

#include <stdlib.h>

#include "formats/record.h"
#include "tests/unit/unit.h"

#define START UINT64_C(0x7f0000400000)
#define OFFSET 0x2000

static uint32_t image_of(struct mt_code_seen *seen, const char *id)
{
	const struct mt_image_record image = {.build_id = {.bytes = id, .size = strlen(id)}};

	return mt_code_seen_image(seen, &image);
}

static void map(struct mt_code_seen *seen, uint32_t image, uint64_t start, uint64_t time)
{
	mt_code_seen_map(seen, &(struct mt_code_mapping){.start = start,
							 .end = start + 0x4000,
							 .offset = OFFSET,
							 .time = time,
							 .image = image});
}

static void tell(struct mt_code_seen *seen, uint64_t word, uint64_t time)
{
	mt_code_seen_words(seen, &word, 1, time);
}

/* Words that point nowhere, as many as make room for. */
static void tell_many(struct mt_code_seen *seen, size_t count, uint64_t time)
{
	for (size_t i = 0; i < count; i++)
		tell(seen, UINT64_C(0x550000000000) + 8 * i, time);
}

/* Checks that the image's news are these offsets. */
static void check(struct mt_code_seen *seen, uint32_t image, const uint64_t *wanted, size_t count)
{
	struct mt_code_news news = {0};

	MT_CHECK(mt_code_seen_take(seen, image, &news));
	MT_CHECK(!news.whole);
	if (MT_CHECK_EQ(news.count, count)) {
		for (size_t i = 0; i < count; i++)
			MT_CHECK_EQ(news.offsets[i], wanted[i]);
	}
	free(news.offsets);
}

static bool is_whole(struct mt_code_seen *seen, uint32_t image)
{
	struct mt_code_news news = {0};

	MT_CHECK(mt_code_seen_take(seen, image, &news));
	free(news.offsets);
	return news.whole;
}

MT_TEST(a_word_shows_the_place_it_points_to)
{
	struct mt_code_seen *seen = mt_code_seen_create();
	uint32_t image = image_of(seen, "one");

	map(seen, image, START, 5);
	tell(seen, START + 0x1234, 10);
	tell(seen, START + 0x1238, 10); /* the same place */
	tell(seen, START + 0x4000 + 8, 10);
	tell(seen, START - 8, 10);
	tell(seen, 12, 10);
	tell(seen, UINT64_MAX, 10);
	mt_code_seen_settle_all(seen);
	check(seen, image, (uint64_t[]){OFFSET + 0x1230}, 1);
	check(seen, image, NULL, 0);
	mt_code_seen_destroy(seen);
}

MT_TEST(what_ends_before_the_word_is_shown_too)
{
	struct mt_code_seen *seen = mt_code_seen_create();
	uint32_t image = image_of(seen, "one");

	map(seen, image, START, 5);
	tell(seen, START + 0x1000, 10);
	tell(seen, START + 0x4000, 10); /* behind the last byte */
	mt_code_seen_settle_all(seen);
	check(seen, image, (uint64_t[]){OFFSET + 0xff0, OFFSET + 0x1000, OFFSET + 0x3ff0}, 3);
	mt_code_seen_destroy(seen);
}

MT_TEST(a_mapping_may_come_late)
{
	struct mt_code_seen *seen = mt_code_seen_create();
	uint32_t image = image_of(seen, "one");

	tell(seen, START + 0x108, 10);
	mt_code_seen_settle(seen, 10); /* the word's time is not below that: it waits */
	mt_code_seen_settle(seen, 10);
	tell(seen, START + 0x208, 20);
	map(seen, image, START, 5);
	mt_code_seen_settle(seen, 15);
	check(seen, image, (uint64_t[]){OFFSET + 0x100}, 1);
	mt_code_seen_settle(seen, 21);
	check(seen, image, (uint64_t[]){OFFSET + 0x200}, 1);
	mt_code_seen_destroy(seen);
}

MT_TEST(what_was_taken_before_stands_behind_the_news)
{
	struct mt_code_seen *seen = mt_code_seen_create();
	uint32_t image = image_of(seen, "one");
	struct mt_code_news news;

	map(seen, image, START, 5);
	tell(seen, START + 0x208, 10);
	tell(seen, START + 0x3108, 10);
	mt_code_seen_settle_all(seen);
	check(seen, image, (uint64_t[]){OFFSET + 0x200, OFFSET + 0x3100}, 2);
	tell(seen, START + 0x108, 20);
	tell(seen, START + 0x208, 20);
	mt_code_seen_settle_all(seen);
	MT_CHECK(mt_code_seen_take(seen, image, &news));
	MT_CHECK_EQ(news.count, 1);
	MT_REQUIRE(news.before == 2);
	MT_CHECK_EQ(news.offsets[0], OFFSET + 0x100);
	MT_CHECK_EQ(news.offsets[1], OFFSET + 0x200);
	MT_CHECK_EQ(news.offsets[2], OFFSET + 0x3100);
	free(news.offsets);
	mt_code_seen_destroy(seen);
}

MT_TEST(what_comes_too_late_is_seen_as_a_whole)
{
	struct mt_code_seen *seen = mt_code_seen_create();
	uint32_t early = image_of(seen, "early"), late = image_of(seen, "late"),
		 behind = image_of(seen, "behind"), timeless = image_of(seen, "timeless");

	map(seen, early, START, 5);
	tell(seen, START + 0x108, 10);
	tell_many(seen, 200000, 20);
	map(seen, late, START + 0x100000, 15);
	map(seen, behind, START + 0x200000, 25);
	map(seen, timeless, START + 0x300000, 0);
	mt_code_seen_settle_all(seen);
	check(seen, early, (uint64_t[]){OFFSET + 0x100}, 1);
	MT_CHECK(is_whole(seen, late));
	MT_CHECK(!is_whole(seen, behind));
	MT_CHECK(is_whole(seen, timeless));
	mt_code_seen_destroy(seen);
}

MT_TEST(all_mappings_of_an_address_count)
{
	struct mt_code_seen *seen = mt_code_seen_create();
	uint32_t one = image_of(seen, "one"), two = image_of(seen, "two");

	map(seen, one, START, 5);
	map(seen, two, START + 0x1000, 5);
	map(seen, one, START + 0x40000000, 5); /* another process */
	tell(seen, START + 0x1108, 10);
	tell(seen, START + 0x40000000 + 0x208, 10);
	mt_code_seen_settle_all(seen);
	check(seen, one, (uint64_t[]){OFFSET + 0x200, OFFSET + 0x1100}, 2);
	check(seen, two, (uint64_t[]){OFFSET + 0x100}, 1);
	mt_code_seen_destroy(seen);
}

MT_TEST(one_build_id_is_one_image)
{
	struct mt_code_seen *seen = mt_code_seen_create();
	const struct mt_image_record file = {.inode = 7}, other = {.inode = 8};

	MT_CHECK_EQ(image_of(seen, "one"), image_of(seen, "one"));
	MT_CHECK(image_of(seen, "one") != image_of(seen, "two"));
	MT_CHECK_EQ(mt_code_seen_image(seen, &file), mt_code_seen_image(seen, &file));
	MT_CHECK(mt_code_seen_image(seen, &file) != mt_code_seen_image(seen, &other));
	mt_code_seen_destroy(seen);
}

MT_TEST(too_many_mappings_are_whole_images)
{
	struct mt_code_seen *seen = mt_code_seen_create();
	uint32_t many = image_of(seen, "many"), next = image_of(seen, "next");

	for (uint64_t i = 0; i < 65536; i++)
		map(seen, many, START + i * 0x4000, 5);
	map(seen, next, START - 0x4000, 5);
	MT_CHECK(!is_whole(seen, many));
	MT_CHECK(is_whole(seen, next));
	mt_code_seen_destroy(seen);
}

MT_TEST(whole_images_leave_room_for_the_mappings_of_others)
{
	struct mt_code_seen *seen = mt_code_seen_create();
	uint32_t many = image_of(seen, "many"), next = image_of(seen, "next");

	for (uint64_t i = 0; i < 65537; i++)
		map(seen, many, START + i * 0x4000, 5);
	MT_CHECK(is_whole(seen, many));
	map(seen, next, START, 5);
	tell(seen, START + 0x108, 10);
	mt_code_seen_settle_all(seen);
	check(seen, next, (uint64_t[]){OFFSET + 0x100}, 1);
	mt_code_seen_destroy(seen);
}

MT_TEST(an_image_that_is_mapped_over_and_over_is_a_whole_one)
{
	struct mt_code_seen *seen = mt_code_seen_create();
	uint32_t one = image_of(seen, "one"), many = image_of(seen, "many"),
		 wide = image_of(seen, "wide");

	map(seen, one, START, 5);
	mt_code_seen_map(seen, &(struct mt_code_mapping){.start = START - 0x10000000,
							 .end = START + 0x10000000,
							 .time = 5,
							 .image = wide});
	for (uint64_t i = 1; i <= 2000; i++)
		map(seen, many, START - i * 0x1000, 5);
	tell(seen, START + 0x3108, 10); /* only the first of many are near */
	mt_code_seen_settle_all(seen);
	check(seen, one, (uint64_t[]){OFFSET + 0x3100}, 1);
	MT_CHECK(is_whole(seen, wide));
	MT_CHECK(!is_whole(seen, many));
	for (uint64_t i = 1; i <= 2000; i++)
		mt_code_seen_map(seen, &(struct mt_code_mapping){.start = START,
								 .end = START + 0x4000,
								 .offset = i * 0x1000,
								 .time = 5,
								 .image = many});
	tell(seen, START + 0x208, 10);
	mt_code_seen_settle_all(seen);
	check(seen, one, (uint64_t[]){OFFSET + 0x200}, 1);
	MT_CHECK(is_whole(seen, many));
	mt_code_seen_destroy(seen);
}

#define SECOND UINT64_C(1000000000)

/* All that is told below ten seconds behind `from`, second by second. */
static void pass(struct mt_code_seen *seen, uint64_t from)
{
	for (uint64_t i = 1; i <= 11; i++)
		mt_code_seen_settle(seen, from + i * SECOND);
}

/* Mappings of that image, the first at START, until there are many; each is a process' own. */
static struct mt_code_seen *make_crowd(uint32_t *image)
{
	struct mt_code_seen *seen = mt_code_seen_create();

	*image = image_of(seen, "crowd");
	for (uint64_t i = 0; !mt_code_seen_is_crowded(seen) && i < 65536; i++)
		mt_code_seen_map(seen,
				 &(struct mt_code_mapping){.start = START + i * 0x10000,
							   .end = START + i * 0x10000 + 0x4000,
							   .offset = i * 0x4000,
							   .time = 5,
							   .pid = (int32_t)(100 + i),
							   .image = *image});
	mt_code_seen_settle(seen, SECOND);
	return seen;
}

/* A word into the n-th of them. */
static void tell_nth(struct mt_code_seen *seen, uint64_t n, uint64_t time)
{
	tell(seen, START + n * 0x10000 + 0x108, time);
}

MT_TEST(mappings_that_ended_are_forgotten_when_their_time_is_over)
{
	static const struct mt_code_range there[] = {{START - 0x1000, START + 0x1000},
						     {START + 0x24000, START + 0x38000}};
	uint32_t image;
	struct mt_code_seen *seen = make_crowd(&image);

	MT_CHECK(mt_code_seen_is_crowded(seen));
	mt_code_seen_keep(seen, &(struct mt_code_there){there, 2, (int32_t[]){105}, 1});
	MT_CHECK(!mt_code_seen_is_crowded(seen));
	tell_nth(seen, 1, 2 * SECOND); /* it had ended, but that was before */
	mt_code_seen_settle(seen, 3 * SECOND);
	mt_code_seen_settle(seen, 4 * SECOND);
	check(seen, image, (uint64_t[]){0x4100}, 1);
	pass(seen, 4 * SECOND);
	for (uint64_t i = 0; i < 8; i++)
		tell_nth(seen, i, 20 * SECOND);
	mt_code_seen_settle_all(seen);
	/* the second range ends in the fourth, and does not reach the third; the sixth is hidden */
	check(seen, image, (uint64_t[]){0x100, 0xc100, 0x14100}, 3);
	mt_code_seen_destroy(seen);
}

MT_TEST(what_ended_waits_for_words_however_late_they_are)
{
	uint32_t image;
	struct mt_code_seen *seen = make_crowd(&image);

	tell_nth(seen, 7, SECOND);
	mt_code_seen_keep(seen, &(struct mt_code_there){0});
	mt_code_seen_settle(seen, 60 * SECOND); /* nothing was written for a minute: */
	tell_nth(seen, 8, SECOND + 1);		/* that waited before it */
	mt_code_seen_settle(seen, 61 * SECOND);
	mt_code_seen_settle(seen, 62 * SECOND);
	check(seen, image, (uint64_t[]){0x1c100, 0x20100}, 2);
	mt_code_seen_destroy(seen);
}

MT_TEST(what_ended_and_came_again_is_known)
{
	uint32_t image, other;
	struct mt_code_seen *seen = make_crowd(&image);

	other = image_of(seen, "other");
	mt_code_seen_keep(seen, &(struct mt_code_there){0});
	map(seen, other, START, 2 * SECOND);
	mt_code_seen_map(seen, &(struct mt_code_mapping){.start = START + 0x10000,
							 .end = START + 0x14000,
							 .offset = 0x4000,
							 .time = 2 * SECOND,
							 .image = image});
	pass(seen, 2 * SECOND);
	tell_nth(seen, 0, 20 * SECOND);
	tell_nth(seen, 1, 20 * SECOND);
	mt_code_seen_settle_all(seen);
	check(seen, other, (uint64_t[]){OFFSET + 0x100}, 1);
	check(seen, image, (uint64_t[]){0x4100}, 1);
	mt_code_seen_destroy(seen);
}

MT_TEST(too_many_places_are_a_whole_image)
{
	struct mt_code_seen *seen = mt_code_seen_create();
	uint32_t image = image_of(seen, "one");

	mt_code_seen_map(seen, &(struct mt_code_mapping){.start = START,
							 .end = START + (UINT64_C(1) << 29),
							 .time = 5,
							 .image = image});
	for (uint64_t i = 0; i < 270000; i++)
		tell(seen, START + i * 1024 + 8, 10);
	mt_code_seen_settle_all(seen);
	MT_CHECK(is_whole(seen, image));
	mt_code_seen_destroy(seen);
}

MT_TEST_MAIN
