/*
 * formats/records/jitdump and symbols/jit/jitdump_index: names, lines and unwind tables in a
 * jitdump, and its copy without the code.
 */
#include "formats/records/jitdump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/cursor.h"
#include "symbols/jit/jitdump_index.h"
#include "tests/unit/jitdump_bytes.h"
#include "tests/unit/unit.h"

MT_DEFINE_CLEANUP(mt_jitdump, struct mt_jitdump)
#define DUMP_GUARD MT_CLEANUP(mt_jitdump_destroy_p) struct mt_jitdump *

static const char *name_at(const struct mt_jitdump *dump, uint64_t time, uint64_t address)
{
	uint32_t code = mt_jitdump_find(dump, mt_jitdump_era(dump, time), address);
	struct mt_jitdump_code found;

	if (code == MT_JITDUMP_NONE)
		return "none";
	mt_jitdump_get(dump, code, &found);
	return address - found.start < found.size ? found.name : "outside";
}

static struct mt_jitdump *dump_of(const struct bytes *b, int64_t ahead)
{
	return mt_jitdump_create(b->at, b->size, &ahead);
}

/* ---- Names ---- */

static bool is_jitdump(const char *path, uint32_t wanted)
{
	uint32_t pid = 0;

	return mt_jitdump_path(path, strlen(path), &pid) && pid == wanted;
}

MT_TEST(a_jitdump_is_known_by_its_path)
{
	MT_CHECK(is_jitdump("/tmp/.debug/jit/x/jit-123.dump", 123));
	MT_CHECK(is_jitdump("jit-1.dump", 1));
	MT_CHECK(!is_jitdump("/tmp/jit-.dump", 0));
	MT_CHECK(!is_jitdump("/tmp/jit-0.dump", 0));
	MT_CHECK(!is_jitdump("/tmp/jit-99999999999.dump", 0));
	MT_CHECK(!is_jitdump("/tmp/ajit-12.dump", 12));
	MT_CHECK(!is_jitdump("/tmp/jit-1x.dump", 1));
	MT_CHECK(!is_jitdump("/tmp/jit-12.dump.so", 12));
	MT_CHECK(!is_jitdump(".dump", 0));
	MT_CHECK(!is_jitdump("", 0));
}

MT_TEST(an_address_has_the_name_of_its_time)
{
	struct bytes b = {0};

	header(&b, 0);
	load(&b, 100, 0x1000, 0x20, 1, "first");
	load(&b, 200, 0x2000, 0x10, 2, "apart");
	load(&b, 300, 0x1010, 0x20, 3, "second");
	load(&b, 400, 0x1000, 0x10, 4, "third");

	DUMP_GUARD dump = dump_of(&b, 1000);
	MT_CHECK(dump && mt_jitdump_is_timed(dump));
	MT_CHECK_EQ(mt_jitdump_count(dump), 4);
	/* the record is later than the time of the sample */
	MT_CHECK_STR(name_at(dump, 0, 0x1000), "first");
	MT_CHECK_STR(name_at(dump, 1150, 0x101f), "first");
	MT_CHECK_STR(name_at(dump, 1150, 0x2000), "apart");
	MT_CHECK_STR(name_at(dump, 1150, 0x1020), "second");
	MT_CHECK_STR(name_at(dump, 1299, 0x1010), "first");
	MT_CHECK_STR(name_at(dump, 1300, 0x1010), "second");
	MT_CHECK_STR(name_at(dump, 1300, 0x100f), "first");
	MT_CHECK_STR(name_at(dump, 1400, 0x1000), "third");
	MT_CHECK_STR(name_at(dump, 1400, 0x1010), "second");
	MT_CHECK_STR(name_at(dump, 1400, 0x1030), "none");
	MT_CHECK_STR(name_at(dump, 1400, 0xfff), "none");
	MT_CHECK_STR(name_at(dump, 1400, UINT64_MAX), "none");
	MT_CHECK_EQ(mt_jitdump_era_end(dump, 0), 1300);
	MT_CHECK_EQ(mt_jitdump_era_end(dump, 1), 1400);
	MT_CHECK_EQ(mt_jitdump_era_end(dump, 2), UINT64_MAX);
}

MT_TEST(many_overlapping_pieces_are_as_one_by_one)
{
	struct bytes b = {0};
	uint64_t seed = 1, starts[300], sizes[300];
	char names[300][8];

	header(&b, 0);
	for (uint32_t i = 0; i < 300; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		starts[i] = 0x1000 + (seed >> 40) % 100;
		sizes[i] = 1 + (seed >> 50) % 30;
		snprintf(names[i], sizeof(names[i]), "%u", i);
		load(&b, 10 * (i + 1), starts[i], sizes[i], i, names[i]);
	}
	DUMP_GUARD dump = dump_of(&b, 0);
	for (uint64_t time = 5; time < 3100; time += 35) {
		for (uint64_t address = 0xff0; address < 0x1090; address++) {
			const char *wanted = "none";
			size_t i;

			/* the last load before the time, else the first load after it */
			for (i = 300; i-- && strcmp(wanted, "none") == 0;) {
				if (10 * (i + 1) <= time && address - starts[i] < sizes[i])
					wanted = names[i];
			}
			for (i = 0; i < 300 && strcmp(wanted, "none") == 0; i++) {
				if (address - starts[i] < sizes[i])
					wanted = names[i];
			}
			if (strcmp(name_at(dump, time, address), wanted) != 0)
				MT_CHECK_STR(name_at(dump, time, address), wanted);
		}
	}
}

MT_TEST(moved_code_is_found_where_it_is)
{
	struct bytes b = {0};
	uint32_t line = 0, code;

	header(&b, 0);
	lines(&b, 0x1000, 0x1000, 0x1008);
	load(&b, 100, 0x1000, 0x10, 1, "moved");
	move(&b, 200, 0x1000, 0x3000, 0x10, 1);
	move(&b, 250, 0x1000, 0x5000, 0x10, 1); /* the code is no longer there */
	move(&b, 250, 0x1000, 0x5000, 0x10, 9); /* no such code */
	move(&b, 300, 0x3000, 0x4000, 0x10, 1);

	DUMP_GUARD dump = dump_of(&b, 0);
	MT_CHECK_STR(name_at(dump, 500, 0x3008), "moved");
	MT_CHECK_STR(name_at(dump, 500, 0x4008), "moved");
	MT_CHECK_STR(name_at(dump, 500, 0x5008), "none");
	code = mt_jitdump_find(dump, 0, 0x4008);
	MT_CHECK_STR(mt_jitdump_line(dump, code, 8, &line), "a.js");
	MT_CHECK_EQ(line, 11);
}

MT_TEST(without_its_clock_an_address_means_what_it_meant_last)
{
	struct bytes b = {0}, arch = {0};

	header(&b, 0);
	load(&b, 100, 0x1000, 0x20, 1, "first");
	load(&b, 300, 0x1000, 0x20, 2, "second");
	DUMP_GUARD dump = mt_jitdump_create(b.at, b.size, NULL);
	MT_CHECK(!mt_jitdump_is_timed(dump));
	MT_CHECK_STR(name_at(dump, 150, 0x1000), "second");

	header(&arch, MT_JITDUMP_ARCH_TIME);
	load(&arch, 100, 0x1000, 0x20, 1, "first");
	load(&arch, 300, 0x1000, 0x20, 2, "second");
	DUMP_GUARD other = dump_of(&arch, 0);
	MT_CHECK(!mt_jitdump_is_timed(other));
	MT_CHECK_STR(name_at(other, 150, 0x1000), "second");
}

MT_TEST(places_keep_the_last_bits_of_addresses)
{
	struct bytes b = {0};
	uint64_t offset = 0, place;

	header(&b, 0);
	load(&b, 100, 0x1ff0, 0x40, 1, "a");
	load(&b, 100, 0x5123, 0x40, 2, "b");
	DUMP_GUARD dump = dump_of(&b, 0);
	place = mt_jitdump_place(dump, 1, 0x5140);
	MT_CHECK_EQ(place % 4096, 0x140);
	MT_CHECK_EQ(mt_jitdump_placed(dump, place, &offset), 1);
	MT_CHECK_EQ(offset, 0x1d);
	place = mt_jitdump_place(dump, 0, 0x2010);
	MT_CHECK_EQ(place % 4096, 0x10);
	MT_CHECK_EQ(mt_jitdump_placed(dump, place, &offset), 0);
	MT_CHECK_EQ(offset, 0x20);
}

/* ---- Lines and unwind tables ---- */

MT_TEST(lines_are_of_the_load_that_follows)
{
	struct bytes b = {0};
	uint32_t line = 0;

	header(&b, 0);
	lines(&b, 0x1000, 0x1000, 0x1004);
	load(&b, 100, 0x1000, 0x10, 1, "with");
	load(&b, 110, 0x2000, 0x10, 2, "without");
	lines(&b, 0x9999, 0x3000, 0x3004);
	load(&b, 120, 0x3000, 0x10, 3, "of another");
	DUMP_GUARD dump = dump_of(&b, 0);
	MT_CHECK(mt_jitdump_has_lines(dump) && !mt_jitdump_has_unwind(dump));
	MT_CHECK_STR(mt_jitdump_line(dump, 0, 3, &line), "a.js");
	MT_CHECK_EQ(line, 10);
	MT_CHECK_STR(mt_jitdump_line(dump, 0, 4, &line), "a.js");
	MT_CHECK_EQ(line, 11);
	MT_CHECK(!mt_jitdump_line(dump, 1, 4, &line));
	MT_CHECK(!mt_jitdump_line(dump, 2, 4, &line));
}

MT_TEST(lines_may_count_from_the_elf_header_on_that_perf_writes)
{
	struct bytes b = {0};
	uint32_t line = 0;

	header(&b, 0);
	lines(&b, 0x1000, 0x1040, 0x1048);
	load(&b, 100, 0x1000, 0x10, 1, "f");
	DUMP_GUARD dump = dump_of(&b, 0);
	MT_CHECK(mt_jitdump_line(dump, 0, 7, &line));
	MT_CHECK_EQ(line, 10);
	MT_CHECK(mt_jitdump_line(dump, 0, 8, &line));
	MT_CHECK_EQ(line, 11);
}

MT_TEST(unwind_tables_count_from_after_the_code)
{
	struct bytes b = {0};
	struct mt_span span;

	header(&b, 0);
	unwind(&b, 32, 12);
	load(&b, 100, 0x1000, 0x11, 1, "with");
	load(&b, 110, 0x2000, 0x10, 2, "without");
	unwind(&b, 33, 0); /* larger than the record */
	load(&b, 120, 0x3000, 0x10, 3, "damaged");
	unwind(&b, 12, 32);
	load(&b, 130, 0x4000, 0x10, 4, "absurd");
	DUMP_GUARD dump = dump_of(&b, 0);
	span = mt_jitdump_unwind(dump, 0);
	MT_CHECK(span.bytes && span.bytes[0] == 7);
	MT_CHECK_EQ(span.size, 20);
	MT_CHECK_EQ(span.vaddr, 0x1018);
	for (uint32_t i = 1; i < 4; i++)
		MT_CHECK(!mt_jitdump_unwind(dump, i).bytes);
}

MT_TEST(absurd_records_are_passed_over)
{
	struct bytes b = {0};
	size_t at;

	header(&b, 0);
	load(&b, 100, 0x1000, 0, 1, "empty");
	at = b.size;
	load(&b, 100, 0x1000, 0x10, 1, "too large");
	mt_put_le64(b.at + at + 40, UINT64_MAX);
	at = b.size;
	load(&b, 100, UINT64_MAX - 4, 0x10, 1, "past the end");
	at = begin(&b, MT_JITDUMP_LOAD, 5);
	end(&b, at);
	at = begin(&b, 4711, 5);
	end(&b, at);
	header(&b, 0); /* between records, as in pieces */
	load(&b, 100, 0x2000, 0x10, 1, "good");
	begin(&b, MT_JITDUMP_LOAD, 5); /* without a size */
	load(&b, 100, 0x3000, 0x10, 1, "behind the end");
	DUMP_GUARD dump = dump_of(&b, 0);
	MT_CHECK_EQ(mt_jitdump_count(dump), 1);
	MT_CHECK_STR(name_at(dump, 100, 0x2000), "good");

	DUMP_GUARD nothing = mt_jitdump_create((const uint8_t *)"", 0, NULL);
	MT_CHECK(nothing);
	MT_CHECK_STR(name_at(nothing, 100, 0x2000), "none");
}

/* ---- The copy ---- */

static size_t read_bytes(void *context, uint64_t at, uint8_t *out, size_t size)
{
	const struct bytes *b = context;

	return mt_copy_at(b->at, b->size, at, out, size);
}

MT_TEST(a_copy_is_without_the_code_and_says_the_same)
{
	struct bytes b = {0};
	uint8_t out[65536];
	size_t size;

	header(&b, 0);
	lines(&b, 0x1000, 0x1000, 0x1004);
	unwind(&b, 32, 12);
	load(&b, 100, 0x1000, 0x4000, 1, "first");
	load(&b, 200, 0x1000, 0x4000, 2, "second");
	move(&b, 300, 0x1000, 0x8000, 0x4000, 2);

	struct mt_jitdump_copy copy = {.input = {&b, read_bytes}};
	size = mt_jitdump_copy(&copy, b.size, out, sizeof(out));
	MT_CHECK_EQ(size, 40 + (56 + 6) + (56 + 7) + 64);
	DUMP_GUARD names = mt_jitdump_create(out, size, &(int64_t){0});
	MT_CHECK_STR(name_at(names, 150, 0x1000), "first");
	MT_CHECK_STR(name_at(names, 250, 0x4fff), "second");
	MT_CHECK_STR(name_at(names, 350, 0x8000), "second");
	MT_CHECK(!mt_jitdump_has_lines(names) && !mt_jitdump_has_unwind(names));
	MT_CHECK_EQ(mt_jitdump_copy(&copy, b.size, out, sizeof(out)), 0);

	struct mt_jitdump_copy all = {.input = {&b, read_bytes}, .unwind = true, .lines = true};
	size = mt_jitdump_copy(&all, b.size, out, sizeof(out));
	DUMP_GUARD whole = mt_jitdump_create(out, size, NULL);
	MT_CHECK(mt_jitdump_has_lines(whole) && mt_jitdump_has_unwind(whole));
}

MT_TEST(a_copy_goes_on_where_the_file_has_grown)
{
	struct bytes b = {0};
	uint8_t out[65536];
	size_t size, whole;
	struct mt_jitdump_copy copy = {.input = {&b, read_bytes}};

	MT_CHECK_EQ(mt_jitdump_copy(&copy, 0, out, sizeof(out)), 0);
	header(&b, 0);
	load(&b, 100, 0x1000, 0x10, 1, "first");
	whole = b.size;
	load(&b, 100, 0x2000, 0x1000, 2, "cut");
	size = mt_jitdump_copy(&copy, b.size - 1, out, sizeof(out));
	MT_CHECK_EQ(copy.at, whole);
	size += mt_jitdump_copy(&copy, b.size, out + size, sizeof(out) - size);
	DUMP_GUARD dump = mt_jitdump_create(out, size, NULL); /* each piece has a header */
	MT_CHECK_EQ(size, 40 + 62 + 40 + 60);
	MT_CHECK_STR(name_at(dump, 0, 0x1000), "first");
	MT_CHECK_STR(name_at(dump, 0, 0x2000), "cut");
}

MT_TEST(a_copy_has_no_more_than_there_is_room_for)
{
	struct bytes b = {0};
	uint8_t out[100];
	struct mt_jitdump_copy copy = {.input = {&b, read_bytes}, .unwind = true};
	size_t at;

	header(&b, 0);
	load(&b, 100, 0x1000, 0x10, 1, "a");
	load(&b, 100, 0x2000, 0x10, 2, "b");
	unwind(&b, 32, 0); /* larger than the room, copied unchanged: */
	load(&b, 100, 0x3000, 0x10, 3, "a name without end or measure");
	load(&b, 100, 0x4000, 0x10, 3, "c");
	at = begin(&b, MT_JITDUMP_CLOSE, 0);
	end(&b, at);
	load(&b, 100, 0x5000, 0x10, 3, "closed");
	for (int i = 0; i < 3; i++)
		MT_CHECK_EQ(mt_jitdump_copy(&copy, b.size, out, sizeof(out)), 40 + 58);
	MT_CHECK_EQ(mt_jitdump_copy(&copy, b.size, out, sizeof(out)), 0);
	MT_CHECK_EQ(copy.left_out, 2);
}

MT_TEST(what_is_no_jitdump_is_not_copied)
{
	struct bytes b = {0};
	uint8_t out[200];
	struct mt_jitdump_copy copy = {.input = {&b, read_bytes}};

	header(&b, 0);
	load(&b, 100, 0x1000, 0x10, 1, "a");
	b.at[0] = 'x';
	MT_CHECK_EQ(mt_jitdump_copy(&copy, b.size, out, sizeof(out)), 0);
	b.at[0] = 'D';
	b.at[8] = 3; /* size of the header */
	MT_CHECK_EQ(mt_jitdump_copy(&copy, b.size, out, sizeof(out)), 0);
	b.at[8] = MT_JITDUMP_HEADER_SIZE;
	MT_CHECK(mt_jitdump_copy(&copy, b.size, out, sizeof(out)));
}

MT_TEST_MAIN
