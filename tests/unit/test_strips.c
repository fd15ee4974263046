/*
 * Strips of address ranges: no range crosses from one into the next, and what may hold an address
 * is all in one.
 */
#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "symbols/tables/strips.h"
#include "tests/unit/unit.h"

MT_DEFINE_CLEANUP(mt_strips, struct mt_strips)

enum {
	RANGES = 400
};

struct range {
	uint64_t start, end;
};

static struct mt_strips *make(uint64_t low, uint64_t high, const struct range *ranges,
			      uint32_t count)
{
	struct mt_strips *strips = mt_strips_create(low, high, count);

	for (uint32_t i = 0; strips && i < count; i++)
		mt_strips_add(strips, i, ranges[i].start, ranges[i].end);
	if (strips)
		mt_strips_finish(strips);
	return strips;
}

static bool lists(const struct mt_strip *strip, uint32_t number)
{
	for (size_t i = 0; i < strip->count; i++) {
		if (strip->numbers[i] == number)
			return true;
	}
	return false;
}

/* Every range that holds the address is in its strip, and none of the strip reaches beyond it. */
static void check_at(const struct mt_strips *strips, const struct range *ranges, uint32_t count,
		     uint64_t address)
{
	MT_CLEANUP(mt_strip_deinit) struct mt_strip strip = {0};
	uint32_t id = mt_strips_find(strips, address);
	uint64_t next = UINT64_MAX;

	MT_REQUIRE(mt_strips_list(strips, id, &strip));
	for (uint32_t i = 0; i < count; i++) {
		const struct range *range = &ranges[i];
		bool in = lists(&strip, i);

		if (range->start <= address && address < range->end)
			MT_REQUIRE(in);
		if (in)
			MT_REQUIRE(strip.last ||
				   (range->start < strip.next && range->end <= strip.next));
		else if (range->start > address && range->start < next)
			next = range->start;
		MT_REQUIRE(!in || mt_strips_find(strips, range->start) == id);
	}
	MT_REQUIRE(strip.last == (next == UINT64_MAX));
	MT_REQUIRE(strip.last || strip.next == next);
}

MT_TEST(ranges_apart_are_in_strips_of_their_own)
{
	struct range ranges[RANGES];
	MT_CLEANUP(mt_strips_destroy_p) struct mt_strips *strips = NULL;
	MT_CLEANUP(mt_strip_deinit) struct mt_strip strip = {0};

	for (uint32_t i = 0; i < RANGES; i++)
		ranges[i] = (struct range){0x1000 + i * 0x100, 0x1000 + i * 0x100 + 0x100};
	strips = make(0x1000, 0x1000 + RANGES * 0x100, ranges, RANGES);
	for (uint32_t i = 0; i < RANGES; i++)
		check_at(strips, ranges, RANGES, ranges[i].start + 0x80);
	MT_REQUIRE(mt_strips_list(strips, mt_strips_find(strips, 0x1000), &strip));
	MT_CHECK(strip.count && strip.count < RANGES / 4);
}

MT_TEST(a_range_over_all_makes_one_strip)
{
	struct range ranges[RANGES];
	MT_CLEANUP(mt_strips_destroy_p) struct mt_strips *strips = NULL;
	MT_CLEANUP(mt_strip_deinit) struct mt_strip strip = {0};

	for (uint32_t i = 0; i < RANGES; i++)
		ranges[i] = (struct range){0x1000 + i * 0x100, 0x1000 + i * 0x100 + 0x10};
	ranges[0].end = UINT64_MAX;
	strips = make(0x1000, 0x1000 + RANGES * 0x100, ranges, RANGES);
	MT_REQUIRE(mt_strips_list(strips, mt_strips_find(strips, 0x9000), &strip));
	MT_CHECK_EQ(strip.count, RANGES);
	MT_CHECK(strip.last);
}

MT_TEST(what_starts_elsewhere_is_found_too)
{
	struct range ranges[RANGES] = {{0, 0x10}, {0x20, 0}, {UINT64_MAX - 8, UINT64_MAX}};
	MT_CLEANUP(mt_strips_destroy_p) struct mt_strips *strips = NULL;

	for (uint32_t i = 3; i < RANGES; i++)
		ranges[i] = (struct range){0x10000 + i * 0x40, 0};
	strips = make(0x10000, 0x10000 + RANGES * 0x40, ranges, RANGES);
	check_at(strips, ranges, RANGES, 0);
	check_at(strips, ranges, RANGES, 0x25);
	check_at(strips, ranges, RANGES, 0x10100);
	check_at(strips, ranges, RANGES, UINT64_MAX - 1);
}

MT_TEST(no_ranges_make_one_empty_strip)
{
	MT_CLEANUP(mt_strips_destroy_p) struct mt_strips *strips = make(UINT64_MAX, 0, NULL, 0);
	MT_CLEANUP(mt_strip_deinit) struct mt_strip strip = {0};

	MT_REQUIRE(mt_strips_list(strips, mt_strips_find(strips, 0x1234), &strip));
	MT_CHECK_EQ(strip.count, 0);
	MT_CHECK(strip.last);
}

MT_TEST(random_ranges_never_cross)
{
	srand(11);
	for (int round = 0; round < 60; round++) {
		struct range ranges[RANGES];
		MT_CLEANUP(mt_strips_destroy_p) struct mt_strips *strips = NULL;

		for (uint32_t i = 0; i < RANGES; i++) {
			uint64_t start = 0x400 + (uint64_t)rand() % 0x8000;
			uint64_t size = rand() % 20 ? rand() % 0x40 : rand() % 0x800;

			ranges[i] = (struct range){start, start + size};
		}
		strips = make(0x1000, 0x7000, ranges, RANGES);
		for (int i = 0; i < 40; i++)
			check_at(strips, ranges, RANGES, 0x400 + (uint64_t)rand() % 0x9000);
	}
}

MT_TEST_MAIN
