/*
 * Carried data of a recording: parts are joined, the first of two equal ones is used, and damaged
 * ones are left out.
 */
#include "formats/reading/carried.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/chunks/chunk.h"
#include "formats/reader.h"
#include "formats/records/record.h"
#include "formats/writer.h"
#include "tests/unit/unit.h"

MT_DEFINE_CLEANUP(mt_reader, struct mt_reader)
MT_DEFINE_CLEANUP(mt_writer, struct mt_writer)

static struct mt_text text_of(const char *string)
{
	return (struct mt_text){.bytes = string, .size = strlen(string)};
}

/* A FILE record of one part. */
static struct mt_file_record file_of(const char *build_id, const char *bytes)
{
	return (struct mt_file_record){.kind = MT_FILE_SKELETON,
				       .parts = 1,
				       .size = strlen(bytes),
				       .path = text_of("/bin/a"),
				       .build_id = text_of(build_id),
				       .bytes = text_of(bytes)};
}

static bool has_time(const struct mt_file_record *file)
{
	return file->kind == MT_FILE_PERF_MAP || file->kind == MT_FILE_JITDUMP ||
	       file->kept & MT_KEPT_SEEN;
}

/* A perf map of a process, or a piece of one. */
static struct mt_file_record map_of(int32_t pid, const char *bytes, bool continued)
{
	return (struct mt_file_record){.kind = MT_FILE_PERF_MAP,
				       .kept = continued ? MT_KEPT_CONTINUED : 0,
				       .pid = pid,
				       .parts = 1,
				       .size = strlen(bytes),
				       .path = text_of("/tmp/perf-1.map"),
				       .bytes = text_of(bytes)};
}

/* Writes HEAD and one chunk for each record to a file without a name; path is /dev/fd/N. */
static int write_files(const struct mt_file_record *files, size_t count, char path[32])
{
	char name[] = "/tmp/mt-carried.XXXXXX";
	int fd = mkstemp(name);
	uint8_t bytes[4096];
	struct mt_block block = {.bytes = bytes, .capacity = sizeof(bytes)};
	const struct mt_header_record header = {.major = MT_FORMAT_MAJOR};
	MT_CLEANUP(mt_writer_destroy_p) struct mt_writer *writer = NULL;

	MT_CHECK(fd >= 0 && !mt_writer_create(fd, sizeof(bytes), &writer));
	unlink(name);
	mt_block_reset(&block, MT_CHUNK_HEAD, 0);
	MT_CHECK(mt_header_put(&block, &header) && !mt_writer_write(writer, &block, 0));
	for (size_t i = 0; i < count; i++) {
		mt_block_reset(&block, MT_CHUNK_FILE, 0);
		MT_CHECK(mt_file_put(&block, has_time(&files[i]) ? i + 1 : 0, &files[i]));
		MT_CHECK(!mt_writer_write(writer, &block, 9));
	}
	snprintf(path, 32, "/dev/fd/%d", fd);
	return fd;
}

static bool holds(struct mt_carried *carried, size_t i, const char *bytes)
{
	const uint8_t *there = mt_carried_bytes(carried, i);

	return there && mt_carried_get(carried, i)->size == strlen(bytes) &&
	       !memcmp(there, bytes, strlen(bytes));
}

MT_TEST(parts_are_put_together_and_the_first_of_two_counts)
{
	struct mt_file_record files[] = {
		file_of("one", "first"),     file_of("two", "front"),	file_of("one", "other"),
		file_of("two", " and back"), file_of("three", "alone"),
	};
	MT_CLEANUP(mt_reader_destroy_p) struct mt_reader *reader = NULL;
	struct mt_carried *carried;
	char path[32];
	MT_CLEANUP_CLOSE int fd = -1;

	files[1].parts = files[3].parts = files[4].parts = 2;
	files[1].size = files[3].size = strlen("front and back");
	files[3].part = 1;
	fd = write_files(files, 5, path);
	MT_REQUIRE(!mt_reader_open(path, NULL, &reader));
	carried = mt_reader_carried(reader, 0);
	MT_REQUIRE(carried);
	MT_CHECK_EQ(mt_carried_count(carried), 3);
	MT_CHECK(holds(carried, 0, "first"));
	MT_CHECK(holds(carried, 1, "front and back"));
	mt_carried_drop(carried, 1);
	MT_CHECK(holds(carried, 1, "front and back"));
	MT_CHECK(!mt_carried_bytes(carried, 2)); /* its second part is missing */
}

MT_TEST(images_of_what_was_seen_are_distinguished_by_time_and_from_whole_ones)
{
	struct mt_file_record files[] = {
		file_of("one", "first"), file_of("one", "second"), file_of("one", "whole"),
		file_of("one", "other"), file_of("one", "third"),
	};
	MT_CLEANUP(mt_reader_destroy_p) struct mt_reader *reader = NULL;
	struct mt_carried *carried;
	char path[32];
	MT_CLEANUP_CLOSE int fd = -1;

	files[0].kept = files[1].kept = files[4].kept = MT_KEPT_NAMES | MT_KEPT_SEEN;
	fd = write_files(files, 5, path);
	MT_REQUIRE(!mt_reader_open(path, NULL, &reader));
	carried = mt_reader_carried(reader, 0);
	MT_REQUIRE(carried);
	MT_REQUIRE(mt_carried_count(carried) == 4);
	MT_CHECK(holds(carried, 0, "first"));
	MT_CHECK(holds(carried, 1, "second"));
	MT_CHECK(holds(carried, 2, "whole"));
	MT_CHECK(holds(carried, 3, "third"));
	MT_CHECK_EQ(mt_carried_time(carried, 3), 5);
}

MT_TEST(lies_and_damage_are_left_out)
{
	struct mt_file_record files[] = {
		file_of("kind", "x"), file_of("coding", "x"),  file_of("part", "x"),
		file_of("size", "x"), file_of("good", "good"), file_of("damaged", "0123456789"),
	};
	MT_CLEANUP(mt_reader_destroy_p) struct mt_reader *reader = NULL;
	struct mt_carried *carried;
	char path[32];
	MT_CLEANUP_CLOSE int fd = -1;

	files[0].kind = 77;
	files[1].coding = 77;
	files[2].part = 1;
	files[3].size = 0;
	fd = write_files(files, 6, path);
	MT_REQUIRE(pwrite(fd, "!", 1, lseek(fd, 0, SEEK_END) - 2) == 1);
	MT_REQUIRE(!mt_reader_open(path, NULL, &reader));
	carried = mt_reader_carried(reader, 0);
	MT_REQUIRE(carried);
	MT_REQUIRE(mt_carried_count(carried) >= 1 && mt_carried_count(carried) <= 2);
	MT_CHECK(holds(carried, 0, "good"));
	if (mt_carried_count(carried) == 2) /* the damage is in the contents, not in the fields */
		MT_CHECK(!mt_carried_bytes(carried, 1) && !mt_carried_bytes(carried, 1));
}

MT_TEST(pieces_are_put_together)
{
	struct mt_file_record files[] = {
		map_of(1, "a\n", true), map_of(2, "x\n", true),	  map_of(1, "b\n", true),
		map_of(1, "c\n", true), map_of(1, "d\n", false),  map_of(1, "other\n", false),
		map_of(2, "y\n", true), map_of(3, "cut\n", true),
	};
	MT_CLEANUP(mt_reader_destroy_p) struct mt_reader *reader = NULL;
	struct mt_carried *carried;
	char path[32];
	MT_CLEANUP_CLOSE int fd = -1;

	files[3].parts = 2; /* its second part is missing, so the piece is left out */
	files[7].parts = 2;
	fd = write_files(files, 8, path);
	MT_REQUIRE(!mt_reader_open(path, NULL, &reader));
	carried = mt_reader_carried(reader, 0);
	MT_REQUIRE(carried);
	MT_REQUIRE(mt_carried_count(carried) == 4);
	MT_CHECK(holds(carried, 0, "a\nb\nd\n"));
	MT_CHECK_EQ(mt_carried_time(carried, 0), 5);
	MT_CHECK(holds(carried, 1, "x\ny\n"));
	MT_CHECK_EQ(mt_carried_time(carried, 1), UINT64_MAX); /* its last piece is missing */
	MT_CHECK(holds(carried, 2, "other\n"));
	MT_CHECK_EQ(mt_carried_time(carried, 2), 6);
	MT_CHECK(!mt_carried_bytes(carried, 3));
}

MT_TEST(two_jitdumps_of_a_process_are_two)
{
	struct mt_file_record files[] = {
		map_of(1, "one, ", true),
		map_of(1, "two, ", true),
		map_of(1, "end", false),
		map_of(1, "last", true),
	};
	MT_CLEANUP(mt_reader_destroy_p) struct mt_reader *reader = NULL;
	struct mt_carried *carried;
	char path[32];
	MT_CLEANUP_CLOSE int fd = -1;

	for (size_t i = 0; i < 4; i++) {
		files[i].kind = MT_FILE_JITDUMP;
		files[i].inode = i % 2;
	}
	fd = write_files(files, 4, path);
	MT_REQUIRE(!mt_reader_open(path, NULL, &reader));
	carried = mt_reader_carried(reader, 0);
	MT_REQUIRE(carried);
	MT_CHECK_EQ(mt_carried_count(carried), 2);
	MT_CHECK(holds(carried, 0, "one, end"));
	MT_CHECK_EQ(mt_carried_time(carried, 0), 3);
	MT_CHECK(holds(carried, 1, "two, last"));
	MT_CHECK_EQ(mt_carried_time(carried, 1), UINT64_MAX);
}

MT_TEST(a_piece_takes_the_place_of_those_before)
{
	struct mt_file_record files[] = {
		map_of(1, "a\n", true),	 map_of(1, "b\n", true),  map_of(1, "c\n", true),
		map_of(1, "d\n", false), map_of(2, "x\n", false),
	};
	MT_CLEANUP(mt_reader_destroy_p) struct mt_reader *reader = NULL;
	struct mt_carried *carried;
	char path[32];
	MT_CLEANUP_CLOSE int fd = -1;

	files[2].kept |= MT_KEPT_ANEW;
	files[4].kept |= MT_KEPT_ANEW; /* no earlier data */
	fd = write_files(files, 5, path);
	MT_REQUIRE(!mt_reader_open(path, NULL, &reader));
	carried = mt_reader_carried(reader, 0);
	MT_REQUIRE(carried);
	MT_REQUIRE(mt_carried_count(carried) == 2);
	MT_CHECK(holds(carried, 0, "c\nd\n"));
	MT_CHECK(holds(carried, 1, "x\n"));
}

MT_TEST_MAIN
