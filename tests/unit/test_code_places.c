/*
 * code_places: where addresses are in images, held against maps that change, and the functions
 * around them.
 */
#include "unwind/code_places.h"

#include "formats/base/cleanup.h"
#include "tests/unit/code_builder.h"
#include "tests/unit/unit.h"

MT_DEFINE_CLEANUP(mt_image_map, struct mt_image_map)
#define MT_MAP_GUARD MT_CLEANUP(mt_image_map_destroy_p) struct mt_image_map *

#define NOWHERE UINT64_MAX
#define OTHER_VADDR ((uint64_t)0x900000)

static struct mt_code_places *places;

static void setup(void)
{
	code_setup();
	code_add_file("/a");
	code_add_file("/b");
	places = mt_code_places_create();
	MT_CHECK(places);
}

static void teardown(void)
{
	mt_code_places_destroy(places);
	code_teardown();
}

/* Whether an address is at that link-time address of the file, or nowhere. */
static bool is_at(const struct mt_image_map *map, uint64_t address, const char *path, uint64_t link)
{
	struct mt_code_place place = {NOWHERE, MT_NO_IMAGE};
	bool lasting = true;

	if (!mt_code_place_find(places, map, address, &place, &lasting))
		return link == NOWHERE && place.image == MT_NO_IMAGE;
	return place.vaddr == link && place.image == code_image(path)->id;
}

static bool is_nowhere(const struct mt_image_map *map, uint64_t address)
{
	return is_at(map, address, "", NOWHERE);
}

static bool lasts(const struct mt_image_map *map, uint64_t address)
{
	struct mt_code_place place;
	bool lasting = true;

	mt_code_place_find(places, map, address, &place, &lasting);
	return lasting;
}

MT_TEST(a_place_is_the_same_wherever_the_image_is_mapped)
{
	setup();
	MT_MAP_GUARD here = code_process(HERE, "/a");
	MT_MAP_GUARD there = code_process(THERE, "/a");

	for (int round = 0; round < 2; round++) {
		for (enum function f = MAIN; f < FUNCTIONS; f++) {
			MT_CHECK(is_at(here, at(HERE, f, 7), "/a", vaddr(f, 7)));
			MT_CHECK(is_at(there, at(THERE, f, 7), "/a", vaddr(f, 7)));
			MT_CHECK(is_nowhere(here, at(THERE, f, 7)));
			MT_CHECK(is_nowhere(there, at(HERE, f, 7)));
		}
	}
	teardown();
}

MT_TEST(images_at_the_same_addresses_of_two_processes_are_told_apart)
{
	setup();
	MT_MAP_GUARD one = code_process(HERE, "/a");
	MT_MAP_GUARD other = code_process(HERE, "/b");

	for (int round = 0; round < 2; round++) {
		MT_CHECK(is_at(one, at(HERE, LOOP, 1), "/a", vaddr(LOOP, 1)));
		MT_CHECK(is_at(other, at(HERE, LOOP, 1), "/b", vaddr(LOOP, 1)));
	}
	MT_CHECK(mt_code_places_image(places, code_image("/a")->id) == code_image("/a"));
	MT_CHECK(mt_code_places_image(places, code_image("/b")->id) == code_image("/b"));
	teardown();
}

MT_TEST(what_is_in_no_file_is_nowhere)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	code_map_file(map, THERE, "//anon");
	code_map_file(map, 2 * THERE, "/gone");
	for (int round = 0; round < 2; round++) {
		MT_CHECK(is_at(map, HERE + CODE_START, "/a", CODE_VADDR + CODE_START));
		MT_CHECK(is_nowhere(map, HERE + CODE_START - 1));
		MT_CHECK(is_at(map, HERE + CODE_END - 1, "/a", CODE_VADDR + CODE_END - 1));
		MT_CHECK(is_nowhere(map, HERE + CODE_END));
		MT_CHECK(is_nowhere(map, at(THERE, MAIN, 0)));
		MT_CHECK(is_nowhere(map, at(2 * THERE, MAIN, 0)));
		MT_CHECK(is_nowhere(map, 0));
		MT_CHECK(is_nowhere(map, UINT64_MAX));
	}
	teardown();
}

/* One mapping of all of the file, as if it were one segment. */
MT_TEST(each_segment_has_its_own_addresses_and_ends_with_its_bytes)
{
	setup();
	MT_MAP_GUARD map = mt_image_map_create();
	const uint64_t end = DATA_END + 0x800;

	code_map_part(map, HERE, "/a", RX, 0, end);
	for (int round = 0; round < 2; round++) {
		MT_CHECK(is_nowhere(map, HERE));
		MT_CHECK(is_nowhere(map, HERE + CODE_START - 1));
		MT_CHECK(is_at(map, HERE + CODE_END - 1, "/a", CODE_VADDR + CODE_END - 1));
		MT_CHECK(is_at(map, HERE + CODE_START, "/a", CODE_VADDR + CODE_START));
		MT_CHECK(is_at(map, HERE + CODE_END, "/a", DATA_VADDR));
		MT_CHECK(is_at(map, HERE + DATA_END - 1, "/a",
			       DATA_VADDR + DATA_END - CODE_END - 1));
		MT_CHECK(is_nowhere(map, HERE + DATA_END));
		MT_CHECK(is_nowhere(map, HERE + end - 1));
	}
	teardown();
}

/* Of those that have an address the one with code counts, else the first one. */
MT_TEST(where_segments_overlap_it_does_not_matter_what_was_found_before)
{
	const struct {
		uint64_t offset, link;
	} parts[] = {
		{0x4fff, CODE_VADDR + 0x4fff},	{0x5000, CODE_VADDR + 0x5000},
		{0x5fff, CODE_VADDR + 0x5fff},	{0x6000, DATA_VADDR},
		{0x61ff, DATA_VADDR + 0x1ff},	{0x6200, OTHER_VADDR + 0x1200},
		{0x67ff, OTHER_VADDR + 0x17ff}, {0x6800, NOWHERE},
	};
	const size_t count = sizeof(parts) / sizeof(*parts);
	struct code_file *file;

	setup();
	file = code_begin_file("/odd", code_pieces, FUNCTIONS, NULL, 0);
	builder_add_segment(&file->elf, PT_LOAD, PF_R, 0x5000, OTHER_VADDR, 0x1800);
	builder_finish(&file->elf);
	for (size_t first = 0; first < count; first++) {
		MT_MAP_GUARD map = mt_image_map_create();

		code_map_part(map, HERE, "/odd", RX, 0, 0x7000);
		for (size_t i = 0; i < count; i++) {
			size_t k = (first + i) % count;

			MT_CHECK(is_at(map, HERE + parts[k].offset, "/odd", parts[k].link));
		}
	}
	teardown();
}

MT_TEST(what_was_found_ends_where_its_mapping_does)
{
	setup();
	MT_MAP_GUARD map = mt_image_map_create();

	code_map_part(map, HERE, "/b", RX, 0x1000, 0x2000);
	code_map_part(map, HERE, "/a", RX, 0x2000, 0x4000);
	code_map_part(map, HERE, "//anon", RX, 0x4000, 0x5000);
	code_map_part(map, HERE - 0x1000, "/a", RX, 0x6000, 0x7000); /* data, at HERE + 0x5000 */
	for (int round = 0; round < 2; round++) {
		MT_CHECK(is_at(map, HERE + 0x3000, "/a", CODE_VADDR + 0x3000));
		MT_CHECK(is_at(map, HERE + 0x2000, "/a", CODE_VADDR + 0x2000));
		MT_CHECK(is_at(map, HERE + 0x1fff, "/b", CODE_VADDR + 0x1fff));
		MT_CHECK(is_at(map, HERE + 0x3fff, "/a", CODE_VADDR + 0x3fff));
		MT_CHECK(is_nowhere(map, HERE + 0x4000));
		MT_CHECK(is_at(map, HERE + 0x5010, "/a", DATA_VADDR + 0x10));
	}
	teardown();
}

MT_TEST(many_mappings_are_told_apart)
{
	enum {
		MAPPINGS = 100 /* more than are kept */
	};

	setup();
	MT_MAP_GUARD map = mt_image_map_create();

	for (uint64_t i = 0; i < MAPPINGS; i++)
		code_map_file(map, HERE + i * 0x10000, i % 2 ? "/a" : "/b");
	for (int round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < MAPPINGS; i++)
			MT_CHECK(is_at(map, at(HERE, MAIN, i * 0x10000 + i), i % 2 ? "/a" : "/b",
				       vaddr(MAIN, i)));
	}
	teardown();
}

/* New code in empty space is no new generation: what was found must not outlast the version. */
MT_TEST(what_was_found_is_not_kept_over_a_change_of_the_map)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");
	uint32_t generation = mt_image_map_generation(map);

	MT_CHECK(is_nowhere(map, at(THERE, MAIN, 0)));
	code_map_part(map, THERE, "/a", PROT_READ, CODE_START, CODE_END);
	MT_CHECK(is_at(map, at(THERE, MAIN, 0), "/a", vaddr(MAIN, 0)));
	code_map_part(map, THERE, "/b", PROT_READ, CODE_START, CODE_END);
	MT_CHECK_EQ(mt_image_map_generation(map), generation);
	MT_CHECK(is_at(map, at(THERE, MAIN, 0), "/b", vaddr(MAIN, 0)));
	MT_CHECK(is_at(map, at(HERE, MAIN, 0), "/a", vaddr(MAIN, 0)));
	code_map_file(map, HERE, "/b");
	MT_CHECK(is_at(map, at(HERE, MAIN, 0), "/b", vaddr(MAIN, 0)));
	MT_CHECK(mt_image_map_remove(map, HERE, HERE + CODE_END));
	MT_CHECK(is_nowhere(map, at(HERE, MAIN, 0)));
	teardown();
}

MT_TEST(what_code_is_mapped_at_lasts_for_the_generation)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");
	struct mt_code_place place;
	bool lasting = false;

	code_map_file(map, THERE, "//anon");
	code_map_part(map, 2 * THERE, "/a", PROT_READ, CODE_START, CODE_END);
	code_map_part(map, 2 * THERE, "/a", PROT_READ, CODE_END, DATA_END + 0x800);
	for (int round = 0; round < 2; round++) {
		MT_CHECK(lasts(map, at(HERE, MAIN, 0)));
		MT_CHECK(lasts(map, at(THERE, MAIN, 0))); /* that it is nowhere */
		MT_CHECK(!lasts(map, at(2 * THERE, MAIN, 0)));
		MT_CHECK(!lasts(map, 2 * THERE + DATA_END)); /* nowhere, not executable */
		MT_CHECK(!lasts(map, HERE));		     /* nothing is mapped there */
	}
	MT_CHECK(mt_code_place_find(places, map, at(HERE, MAIN, 0), &place, &lasting));
	MT_CHECK(!lasting); /* of all that was asked so */
	teardown();
}

static bool is_in(const char *path, uint64_t link, enum function f)
{
	const struct mt_code_place place = {link, code_image(path)->id};
	struct mt_code_function found;

	return mt_code_function_find(places, &place, &found) && found.image == place.image &&
	       found.start == vaddr(f, 0) && found.end == vaddr(f, code_pieces[f].size);
}

static bool is_in_none(const char *path, uint64_t link)
{
	const struct mt_code_place place = {link, code_image(path)->id};
	struct mt_code_function found;

	return !mt_code_function_find(places, &place, &found);
}

MT_TEST(a_function_is_around_all_of_its_bytes_and_no_others)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");

	MT_CHECK(is_at(map, at(HERE, MAIN, 0), "/a", vaddr(MAIN, 0)));
	for (int round = 0; round < 2; round++) {
		for (enum function f = MAIN; f < FUNCTIONS; f++) {
			MT_CHECK(is_in("/a", vaddr(f, 0), f));
			MT_CHECK(is_in("/a", vaddr(f, code_pieces[f].size) - 1, f));
		}
		MT_CHECK(is_in_none("/a", vaddr(MAIN, 0) - 1));
		MT_CHECK(is_in_none("/a", vaddr(LEAF, code_pieces[LEAF].size)));
		MT_CHECK(is_in_none("/a", CODE_VADDR + CODE_NOTHING));
		MT_CHECK(is_in_none("/a", vaddr(LONG, code_pieces[LONG].size)));
		MT_CHECK(is_in_none("/a", DATA_VADDR));
	}
	teardown();
}

MT_TEST(a_function_is_found_by_an_address_in_a_process)
{
	setup();
	MT_MAP_GUARD map = code_process(HERE, "/a");
	struct mt_code_function found, unchanged = {1, 2, 3};

	MT_CHECK(mt_code_function_of(places, map, at(HERE, LONG, 0x2000), &found));
	MT_CHECK(found.start == vaddr(LONG, 0) && found.end == vaddr(LONG, 0x2100));
	MT_CHECK_EQ(found.image, code_image("/a")->id);
	MT_CHECK(!mt_code_function_of(places, map, HERE + CODE_NOTHING, &found));
	found = unchanged;
	MT_CHECK(!mt_code_function_of(places, map, THERE, &found));
	MT_CHECK_EQ(found.image, unchanged.image);
	teardown();
}

/* Of one address in two images, and of the many more that share what is kept of functions. */
MT_TEST(functions_of_two_images_are_told_apart)
{
	static const struct code_piece all = {CODE_START, CODE_END - CODE_START};
	unsigned int wrong = 0;

	setup();
	builder_finish(&code_begin_file("/one", &all, 1, NULL, 0)->elf);
	MT_MAP_GUARD map = code_process(HERE, "/a");

	code_map_file(map, THERE, "/one");
	MT_CHECK(is_at(map, at(HERE, MAIN, 0), "/a", vaddr(MAIN, 0)));
	MT_CHECK(is_at(map, at(THERE, MAIN, 0), "/one", vaddr(MAIN, 0)));
	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < all.size; i++) {
			const struct mt_code_place place = {CODE_VADDR + CODE_START + i,
							    code_image("/one")->id};
			struct mt_code_function found;

			wrong += !mt_code_function_find(places, &place, &found) ||
				 found.start != CODE_VADDR + CODE_START;
			wrong += is_in("/a", place.vaddr, LONG) !=
				 (place.vaddr - vaddr(LONG, 0) < code_pieces[LONG].size);
		}
	}
	MT_CHECK_EQ(wrong, 0);
	teardown();
}

/* The new images have the ids of the old ones. */
MT_TEST(nothing_is_kept_when_other_images_come)
{
	static const struct code_piece all = {CODE_START, CODE_END - CODE_START};
	struct mt_code_function found;

	setup();
	MT_MAP_GUARD before = code_process(HERE, "/a");

	MT_CHECK(mt_code_function_of(places, before, at(HERE, LOOP, 0), &found));
	MT_CHECK_EQ(found.image, 0);
	MT_CHECK_EQ(found.start, vaddr(LOOP, 0));
	mt_image_map_clear(before);
	code_teardown();
	code_setup();
	mt_code_places_begin(places);
	builder_finish(&code_begin_file("/one", &all, 1, NULL, 0)->elf);
	MT_MAP_GUARD map = code_process(HERE, "/one");

	MT_CHECK(mt_code_function_of(places, map, at(HERE, LOOP, 0), &found));
	MT_CHECK_EQ(found.image, 0);
	MT_CHECK_EQ(found.start, CODE_VADDR + CODE_START);
	MT_CHECK(mt_code_places_image(places, 0) == code_image("/one"));
	teardown();
}

MT_TEST_MAIN
