/*
 * code_calls: which functions call which, by the code of made files, and by the sets that carried
 * ones have.
 */
#include "unwind/code_calls.h"

#include "formats/base/cleanup.h"
#include "symbols/call_set.h"
#include "tests/unit/code_builder.h"
#include "tests/unit/unit.h"

MT_DEFINE_CLEANUP(mt_image_map, struct mt_image_map)
#define MT_MAP_GUARD MT_CLEANUP(mt_image_map_destroy_p) struct mt_image_map *

static struct mt_code_places *places;
static struct mt_code_calls *calls;

static void setup(void)
{
	code_setup();
	places = mt_code_places_create();
	calls = mt_code_calls_create(places);
	MT_CHECK(places && calls);
}

static void teardown(void)
{
	mt_code_calls_destroy(calls);
	mt_code_places_destroy(places);
	code_teardown();
}

/* Something is found in the file, as before any question about it. */
static uint32_t seen(const char *path)
{
	MT_MAP_GUARD map = code_process(HERE, path);
	struct mt_code_function found;

	MT_CHECK(mt_code_function_of(places, map, at(HERE, MAIN, 0), &found));
	return found.image;
}

static bool has(uint32_t image, enum function from, enum function to)
{
	const struct mt_code_function outer = function_of(from, image),
				      inner = function_of(to, image);

	return mt_code_calls_has(calls, &outer, &inner);
}

/* How many pairs of functions call. */
static unsigned int pairs(uint32_t image)
{
	unsigned int n = 0;

	for (enum function f = MAIN; f < FUNCTIONS; f++) {
		for (enum function g = MAIN; g < FUNCTIONS; g++)
			n += has(image, f, g);
	}
	return n;
}

MT_TEST(a_function_calls_what_its_code_says)
{
	uint32_t image;

	setup();
	CODE_FILE("/a", {MAIN, 0x10, LOOP}, {LOOP, 0xfb, READ}, {LONG, 0x2000, MAIN},
		  {FAR, 0, FAR});
	image = seen("/a");
	for (int round = 0; round < 2; round++) {
		MT_CHECK(has(image, MAIN, LOOP));
		MT_CHECK(has(image, LOOP, READ)); /* its last five bytes */
		MT_CHECK(has(image, LONG, MAIN));
		MT_CHECK(has(image, FAR, FAR));
		MT_CHECK(!has(image, LOOP, MAIN));
		MT_CHECK_EQ(pairs(image), 4);
	}
	teardown();
}

/* More pairs than are kept, of which each asks about one call alone. */
MT_TEST(many_pairs_are_told_apart)
{
	const uint64_t site = vaddr(LOOP, 0x10);
	unsigned int wrong = 0;
	uint32_t image;

	setup();
	CODE_FILE("/a", {LOOP, 0x10, READ});
	image = seen("/a");
	for (int round = 0; round < 2; round++) {
		for (uint64_t start = site - 0x100; start < vaddr(LONG, 0); start++) {
			const struct mt_code_function outer = {start, start + 0x100, image},
						      inner = function_of(READ, image),
						      other = function_of(WRITE, image);

			wrong += mt_code_calls_has(calls, &outer, &inner) !=
				 (start <= site && site + 5 <= start + 0x100);
			wrong += mt_code_calls_has(calls, &outer, &other);
		}
	}
	MT_CHECK_EQ(wrong, 0);
	teardown();
}

MT_TEST(of_functions_in_two_images_nothing_is_said)
{
	struct mt_code_function outer, inner;

	setup();
	CODE_FILE("/a", {MAIN, 0x10, LOOP});
	CODE_FILE("/b", {MAIN, 0x10, LOOP});
	outer = function_of(MAIN, seen("/a"));
	inner = function_of(LOOP, seen("/b"));
	MT_CHECK(outer.image != inner.image);
	MT_CHECK(!mt_code_calls_has(calls, &outer, &inner));
	inner.image = outer.image;
	MT_CHECK(mt_code_calls_has(calls, &outer, &inner));
	teardown();
}

MT_TEST(the_same_addresses_of_two_images_are_told_apart)
{
	uint32_t a, b;

	setup();
	CODE_FILE("/a", {MAIN, 0x10, LOOP});
	CODE_FILE("/b", {MAIN, 0x10, READ});
	a = seen("/a");
	b = seen("/b");
	for (int round = 0; round < 2; round++) {
		MT_CHECK(has(a, MAIN, LOOP) && !has(a, MAIN, READ));
		MT_CHECK(has(b, MAIN, READ) && !has(b, MAIN, LOOP));
	}
	teardown();
}

/* The set of a file with these calls, as a skeleton's section in another. */
static void add_set(struct elf_builder *b, const struct code_call *listed, size_t count)
{
	struct code_file *like = code_begin_file("/like", code_pieces, FUNCTIONS, listed, count);
	struct mt_elf *elf = NULL;
	uint8_t *bytes = NULL;
	size_t size = 0;

	builder_finish(&like->elf);
	MT_CHECK_OK(mt_elf_open_memory(like->elf.bytes, like->elf.size, "like", &elf));
	MT_CHECK(mt_call_set_make(elf, NULL, NULL, &bytes, &size) && size);
	builder_add_section(b, MT_CALL_SET_SECTION, SHT_PROGBITS, CALL_SET, bytes, size);
	builder_finish(b);
	free(bytes);
	mt_elf_destroy(elf);
}

/* What an image carries counts alone, so that it says the same where there is no code. */
MT_TEST(of_an_image_with_a_set_the_set_says_what_calls_what)
{
	static const struct code_call in_code[] = {{MAIN, 0x10, LOOP}},
				      in_set[] = {{MAIN, 0x10, READ}, {FAR, 0x10, LONG}};
	struct code_file *file;
	uint32_t image;

	setup();
	file = code_begin_file("/a", code_pieces, FUNCTIONS, in_code, 1);
	file->carried = true;
	add_set(&file->elf, in_set, 2);
	image = seen("/a");
	for (int round = 0; round < 2; round++) {
		MT_CHECK(has(image, MAIN, READ) && has(image, FAR, LONG));
		MT_CHECK(!has(image, MAIN, LOOP));
		MT_CHECK_EQ(pairs(image), 2);
	}
	teardown();
}

MT_TEST(of_a_carried_image_without_a_set_nothing_is_said)
{
	uint32_t image;

	setup();
	CODE_FILE("/a", {MAIN, 0x10, LOOP});
	w.files[0].carried = true;
	image = seen("/a");
	MT_CHECK_EQ(pairs(image), 0);
	teardown();
}

/* The new images have the ids of the old ones, which had a set or none. */
MT_TEST(nothing_is_kept_when_other_images_come)
{
	static const struct code_call first[] = {{MAIN, 0x10, LOOP}};
	struct code_file *file;

	setup();
	file = code_begin_file("/a", code_pieces, FUNCTIONS, NULL, 0);
	add_set(&file->elf, first, 1);
	MT_CHECK_EQ(seen("/a"), 0);
	MT_CHECK(has(0, MAIN, LOOP) && !has(0, MAIN, READ));
	for (int round = 0; round < 4; round++) {
		enum function callee = round % 2 ? READ : WRITE;

		code_teardown();
		mt_code_calls_begin(calls);
		mt_code_places_begin(places);
		code_setup();
		CODE_FILE("/a", {MAIN, 0x10, callee});
		MT_CHECK_EQ(seen("/a"), 0);
		MT_CHECK(has(0, MAIN, callee));
		MT_CHECK_EQ(pairs(0), 1);
	}
	teardown();
}

/* A build id that is told late may show that the file at hand is another. */
MT_TEST(an_image_whose_file_turns_out_to_be_another_says_nothing)
{
	const struct mt_image_identity told = {.path = "/a", .build_id = {7}, .build_id_size = 20};
	uint32_t image;

	setup();
	CODE_FILE("/a", {MAIN, 0x10, LOOP});
	image = seen("/a");
	mt_image_set_learn_build_id(w.images, &told);
	MT_REQUIRE(!mt_image_elf(code_image("/a")));
	MT_CHECK_EQ(pairs(image), 0);
	teardown();
}

MT_TEST_MAIN
