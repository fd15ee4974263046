/*
 * record/carry/sampled_places: places in code that words point to, in any order of mappings and
 * words.
 */
#include "record/carry/sampled_places.h"

#include <stdlib.h>

#include "formats/records/record.h"
#include "tests/unit/unit.h"

#define START UINT64_C(0x7f0000400000)
#define OFFSET 0x2000

static uint32_t image_of(struct mt_sampled_places *seen, const char *id)
{
	const struct mt_image_record image = {.size = UINT64_C(1) << 30,
					      .build_id = {.bytes = id, .size = strlen(id)}};

	return mt_sampled_places_image(seen, &image);
}

static void map(struct mt_sampled_places *seen, uint32_t image, uint64_t start, uint64_t time)
{
	mt_sampled_places_map(seen, &(struct mt_code_mapping){.start = start,
							      .end = start + 0x4000,
							      .offset = OFFSET,
							      .time = time,
							      .image = image});
}

static void deliver(struct mt_sampled_places *seen, uint64_t word, uint64_t time)
{
	mt_sampled_places_words(seen, &word, 1, time);
}

/* Delivers `count` distinct words that point nowhere. */
static void report_many(struct mt_sampled_places *seen, size_t count, uint64_t time)
{
	for (size_t i = 0; i < count; i++)
		deliver(seen, UINT64_C(0x550000000000) + 8 * i, time);
}

/* Checks that the image's new offsets are these. */
static void check(struct mt_sampled_places *seen, uint32_t image, const uint64_t *wanted,
		  size_t count)
{
	struct mt_code_news news = {0};

	MT_CHECK(mt_sampled_places_take(seen, image, &news));
	MT_CHECK(!news.whole);
	if (MT_CHECK_EQ(news.count, count)) {
		for (size_t i = 0; i < count; i++)
			MT_CHECK_EQ(news.offsets[i], wanted[i]);
	}
	free(news.offsets);
}

static bool is_whole(struct mt_sampled_places *seen, uint32_t image)
{
	struct mt_code_news news = {0};

	MT_CHECK(mt_sampled_places_take(seen, image, &news));
	free(news.offsets);
	return news.whole;
}

MT_TEST(a_word_shows_the_place_it_points_to)
{
	struct mt_sampled_places *seen = mt_sampled_places_create();
	uint32_t image = image_of(seen, "one");

	map(seen, image, START, 5);
	deliver(seen, START + 0x1234, 10);
	deliver(seen, START + 0x1238, 10); /* the same place */
	deliver(seen, START + 0x4000 + 8, 10);
	deliver(seen, START - 8, 10);
	deliver(seen, 12, 10);
	deliver(seen, UINT64_MAX, 10);
	mt_sampled_places_settle_all(seen);
	check(seen, image, (uint64_t[]){OFFSET + 0x1230}, 1);
	check(seen, image, NULL, 0);
	mt_sampled_places_destroy(seen);
}

MT_TEST(what_ends_before_the_word_is_shown_too)
{
	struct mt_sampled_places *seen = mt_sampled_places_create();
	uint32_t image = image_of(seen, "one");

	map(seen, image, START, 5);
	deliver(seen, START + 0x1000, 10);
	deliver(seen, START + 0x4000, 10); /* one past the last byte */
	mt_sampled_places_settle_all(seen);
	check(seen, image, (uint64_t[]){OFFSET + 0xff0, OFFSET + 0x1000, OFFSET + 0x3ff0}, 3);
	mt_sampled_places_destroy(seen);
}

MT_TEST(a_mapping_may_come_late)
{
	struct mt_sampled_places *seen = mt_sampled_places_create();
	uint32_t image = image_of(seen, "one");

	deliver(seen, START + 0x108, 10);
	mt_sampled_places_settle(seen, 10); /* the word's time is not below 10, so it waits */
	mt_sampled_places_settle(seen, 10);
	deliver(seen, START + 0x208, 20);
	map(seen, image, START, 5);
	mt_sampled_places_settle(seen, 15);
	check(seen, image, (uint64_t[]){OFFSET + 0x100}, 1);
	mt_sampled_places_settle(seen, 21);
	check(seen, image, (uint64_t[]){OFFSET + 0x200}, 1);
	mt_sampled_places_destroy(seen);
}

MT_TEST(what_was_taken_is_no_news)
{
	struct mt_sampled_places *seen = mt_sampled_places_create();
	uint32_t image = image_of(seen, "one");

	map(seen, image, START, 5);
	deliver(seen, START + 0x208, 10);
	deliver(seen, START + 0x3108, 10);
	mt_sampled_places_settle_all(seen);
	check(seen, image, (uint64_t[]){OFFSET + 0x200, OFFSET + 0x3100}, 2);
	deliver(seen, START + 0x108, 20);
	deliver(seen, START + 0x208, 20);
	mt_sampled_places_settle_all(seen);
	check(seen, image, (uint64_t[]){OFFSET + 0x100}, 1);
	mt_sampled_places_destroy(seen);
}

MT_TEST(what_comes_too_late_is_seen_as_a_whole)
{
	struct mt_sampled_places *seen = mt_sampled_places_create();
	uint32_t early = image_of(seen, "early"), late = image_of(seen, "late"),
		 after = image_of(seen, "behind"), timeless = image_of(seen, "timeless");

	map(seen, early, START, 5);
	deliver(seen, START + 0x108, 10);
	report_many(seen, 200000, 20);
	map(seen, late, START + 0x100000, 15);
	map(seen, after, START + 0x200000, 25);
	map(seen, timeless, START + 0x300000, 0);
	mt_sampled_places_settle_all(seen);
	check(seen, early, (uint64_t[]){OFFSET + 0x100}, 1);
	MT_CHECK(is_whole(seen, late));
	MT_CHECK(!is_whole(seen, after));
	MT_CHECK(is_whole(seen, timeless));
	mt_sampled_places_destroy(seen);
}

MT_TEST(all_mappings_of_an_address_count)
{
	struct mt_sampled_places *seen = mt_sampled_places_create();
	uint32_t one = image_of(seen, "one"), two = image_of(seen, "two");

	map(seen, one, START, 5);
	map(seen, two, START + 0x1000, 5);
	map(seen, one, START + 0x40000000, 5); /* another process */
	deliver(seen, START + 0x1108, 10);
	deliver(seen, START + 0x40000000 + 0x208, 10);
	mt_sampled_places_settle_all(seen);
	check(seen, one, (uint64_t[]){OFFSET + 0x200, OFFSET + 0x1100}, 2);
	check(seen, two, (uint64_t[]){OFFSET + 0x100}, 1);
	mt_sampled_places_destroy(seen);
}

MT_TEST(one_build_id_is_one_image)
{
	struct mt_sampled_places *seen = mt_sampled_places_create();
	const struct mt_image_record file = {.inode = 7}, other = {.inode = 8};

	MT_CHECK_EQ(image_of(seen, "one"), image_of(seen, "one"));
	MT_CHECK(image_of(seen, "one") != image_of(seen, "two"));
	MT_CHECK_EQ(mt_sampled_places_image(seen, &file), mt_sampled_places_image(seen, &file));
	MT_CHECK(mt_sampled_places_image(seen, &file) != mt_sampled_places_image(seen, &other));
	mt_sampled_places_destroy(seen);
}

MT_TEST(too_many_mappings_are_whole_images)
{
	struct mt_sampled_places *seen = mt_sampled_places_create();
	uint32_t many = image_of(seen, "many"), next = image_of(seen, "next");

	for (uint64_t i = 0; i < 65536; i++)
		map(seen, many, START + i * 0x4000, 5);
	map(seen, next, START - 0x4000, 5);
	MT_CHECK(!is_whole(seen, many));
	MT_CHECK(is_whole(seen, next));
	mt_sampled_places_destroy(seen);
}

MT_TEST(whole_images_leave_room_for_the_mappings_of_others)
{
	struct mt_sampled_places *seen = mt_sampled_places_create();
	uint32_t many = image_of(seen, "many"), next = image_of(seen, "next");

	for (uint64_t i = 0; i < 65537; i++)
		map(seen, many, START + i * 0x4000, 5);
	MT_CHECK(is_whole(seen, many));
	map(seen, next, START, 5);
	deliver(seen, START + 0x108, 10);
	mt_sampled_places_settle_all(seen);
	check(seen, next, (uint64_t[]){OFFSET + 0x100}, 1);
	mt_sampled_places_destroy(seen);
}

MT_TEST(an_image_that_is_mapped_over_and_over_is_a_whole_one)
{
	struct mt_sampled_places *seen = mt_sampled_places_create();
	uint32_t one = image_of(seen, "one"), many = image_of(seen, "many"),
		 wide = image_of(seen, "wide");

	map(seen, one, START, 5);
	mt_sampled_places_map(seen, &(struct mt_code_mapping){.start = START - 0x10000000,
							      .end = START + 0x10000000,
							      .time = 5,
							      .image = wide});
	for (uint64_t i = 1; i <= 2000; i++)
		map(seen, many, START - i * 0x1000, 5);
	deliver(seen, START + 0x3108, 10); /* only the first ones of many are near */
	mt_sampled_places_settle_all(seen);
	check(seen, one, (uint64_t[]){OFFSET + 0x3100}, 1);
	MT_CHECK(is_whole(seen, wide));
	MT_CHECK(!is_whole(seen, many));
	for (uint64_t i = 1; i <= 2000; i++)
		mt_sampled_places_map(seen, &(struct mt_code_mapping){.start = START,
								      .end = START + 0x4000,
								      .offset = i * 0x1000,
								      .time = 5,
								      .image = many});
	deliver(seen, START + 0x208, 10);
	mt_sampled_places_settle_all(seen);
	check(seen, one, (uint64_t[]){OFFSET + 0x200}, 1);
	MT_CHECK(is_whole(seen, many));
	mt_sampled_places_destroy(seen);
}

/* The same program is started over and over at the same addresses. */
MT_TEST(the_same_mapping_takes_no_room_again)
{
	struct mt_sampled_places *seen = mt_sampled_places_create();
	uint32_t one = image_of(seen, "one"), next = image_of(seen, "next");

	for (uint64_t i = 0; i < 200000; i++)
		map(seen, one, START + i % 50000 * 0x4000, 5);
	map(seen, next, START - 0x4000, 5);
	deliver(seen, START - 0x4000 + 0x108, 10);
	deliver(seen, START + 49999 * 0x4000 + 0x108, 10);
	mt_sampled_places_settle_all(seen);
	check(seen, one, (uint64_t[]){OFFSET + 0x100}, 1);
	check(seen, next, (uint64_t[]){OFFSET + 0x100}, 1);
	mt_sampled_places_destroy(seen);
}

/* The process that maps a file chooses the offset: the kernel accepts up to 2^63. */
MT_TEST(what_is_mapped_past_the_end_of_a_file_shows_nothing)
{
	const struct mt_image_record record = {.size = 0x9000, .build_id = {"small", 5}};
	struct mt_sampled_places *seen = mt_sampled_places_create();
	uint32_t one = image_of(seen, "one"), small = mt_sampled_places_image(seen, &record);
	static const uint64_t offsets[] = {UINT64_C(1) << 58, (UINT64_C(1) << 58) + OFFSET,
					   UINT64_C(3) << 62, 0x8000};

	map(seen, one, START, 5);
	for (size_t i = 0; i < 4; i++)
		mt_sampled_places_map(
			seen, &(struct mt_code_mapping){.start = START + (i + 1) * 0x10000,
							.end = START + (i + 1) * 0x10000 + 0x4000,
							.offset = offsets[i],
							.time = 5,
							.image = i == 3 ? small : one});
	for (uint64_t i = 0; i < 16; i++)
		deliver(seen, START + 8 + 0x1000 * i, 10);
	for (size_t i = 1; i <= 4; i++) {
		for (uint64_t k = 0; k < 16; k++)
			deliver(seen, START + i * 0x10000 + 0x400 * k + 8, 10);
	}
	mt_sampled_places_settle_all(seen);
	check(seen, one, (uint64_t[]){0x2000, 0x3000, 0x4000, 0x5000, 0x5ff0}, 4);
	check(seen, small, (uint64_t[]){0x8000, 0x8400, 0x8800, 0x8c00}, 4);
	mt_sampled_places_destroy(seen);
}

MT_TEST(too_many_places_are_a_whole_image)
{
	struct mt_sampled_places *seen = mt_sampled_places_create();
	uint32_t image = image_of(seen, "one");

	mt_sampled_places_map(seen, &(struct mt_code_mapping){.start = START,
							      .end = START + (UINT64_C(1) << 29),
							      .time = 5,
							      .image = image});
	for (uint64_t i = 0; i < 270000; i++)
		deliver(seen, START + i * 1024 + 8, 10);
	mt_sampled_places_settle_all(seen);
	MT_CHECK(is_whole(seen, image));
	mt_sampled_places_destroy(seen);
}

MT_TEST_MAIN
