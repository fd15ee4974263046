/* Bounds on the cost of crafted debug information, and on the memory it may reach. */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define BUILDER_BYTES (16 << 20)
#include "formats/base/bytes.h"
#include "symbols/elf/elf.h"
#include "symbols/lines/lines.h"
#include "tests/unit/elf_builder.h"
#include "tests/unit/unit.h"

enum {
	CODE = 0x1000, /* start of the only segment */
	CODE_SIZE = 0x1000,
	MEGABYTE = 1 << 20,
};

static struct elf_builder builder;

/* The bytes of a section under construction. */
struct bytes {
	uint8_t at[12 * MEGABYTE];
	size_t size;
};

static struct bytes abbrev, info, line;

static void put(struct bytes *b, uint64_t value, size_t size)
{
	memcpy(b->at + b->size, &value, size);
	b->size += size;
}

static void put_all(struct bytes *b, const void *bytes, size_t size)
{
	memcpy(b->at + b->size, bytes, size);
	b->size += size;
}

static void begin(void)
{
	builder_init(&builder, ET_DYN);
	builder_add_segment(&builder, PT_LOAD, PF_R | PF_X, 0, CODE, CODE_SIZE);
	abbrev.size = info.size = line.size = 0;
}

/*
 * Adds one unit of version 4 without children: its code and its line program. directory_form is the
 * form of comp_dir.
 */
static void put_unit(uint16_t directory_form)
{
	static const uint8_t root[] = {0x11, 0, 0x11, 0x01, 0x12, 0x07, 0x10, 0x17};
	size_t start = info.size;

	if (!abbrev.size) {
		put(&abbrev, 1, 1);
		put_all(&abbrev, root, sizeof(root));
		if (directory_form)
			put_all(&abbrev, (uint8_t[]){0x1b, 0xa1, 0x3e},
				3); /* DW_FORM_GNU_strp_alt */
		put(&abbrev, 0, 3);
	}
	put(&info, 0, 4);
	put(&info, 4, 2);
	put(&info, 0, 4);
	put(&info, 8, 1);
	put(&info, 1, 1);
	put(&info, CODE, 8);
	put(&info, CODE_SIZE, 8);
	put(&info, 0, 4);
	if (directory_form)
		put(&info, 0, 4);
	mt_put_le32(info.at + start, (uint32_t)(info.size - start - 4));
}

/*
 * Adds the header of a line program of version 4; the names of its directory and files have the
 * given lengths.
 */
static size_t begin_line(size_t directory, size_t files)
{
	size_t start = line.size;

	put(&line, 0, 4);
	put(&line, 4, 2);
	put(&line, 0, 4);
	put_all(&line, (uint8_t[]){1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}, 18);
	memset(line.at + line.size, 'd', directory);
	line.size += directory;
	put(&line, 0, directory ? 2 : 1);
	for (size_t i = 0; i < files; i++)
		put_all(&line, (uint8_t[]){'f', 0, directory > 0, 0, 0}, 5);
	put(&line, 0, 1);
	mt_put_le32(line.at + start + 6, (uint32_t)(line.size - start - 10));
	put_all(&line, (uint8_t[]){0, 9, 2}, 3); /* DW_LNE_set_address */
	put(&line, CODE, 8);
	return start;
}

static void end_line(size_t start)
{
	put_all(&line, (uint8_t[]){2, 0x80, 0x10, 0, 1, 1}, 6); /* advance, end of the sequence */
	mt_put_le32(line.at + start, (uint32_t)(line.size - start - 4));
}

static struct mt_lines *open_lines(const char *path, struct mt_elf **elf)
{
	struct mt_lines *lines = NULL;

	builder_add_section(&builder, ".debug_abbrev", SHT_PROGBITS, 0, abbrev.at, abbrev.size);
	builder_add_section(&builder, ".debug_info", SHT_PROGBITS, 0, info.at, info.size);
	builder_add_section(&builder, ".debug_line", SHT_PROGBITS, 0, line.at, line.size);
	builder_finish(&builder);
	if (path) {
		FILE *file = fopen(path, "wb");

		MT_CHECK(file && fwrite(builder.bytes, builder.size, 1, file) == 1);
		if (file)
			fclose(file);
	}
	MT_CHECK(!mt_elf_open_memory(builder.bytes, builder.size, "crafted", elf));
	MT_CHECK(!mt_lines_create(*elf, *elf, path, &lines));
	MT_CHECK(lines);
	return lines;
}

static void close_lines(struct mt_lines *lines, struct mt_elf *elf)
{
	mt_lines_destroy(lines);
	mt_elf_destroy(elf);
}

static long megabytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024;
}

/* The program is ended after that many seconds of processor time. */
static void limit_seconds(unsigned int seconds)
{
	struct rusage usage;
	struct rlimit limit;

	getrusage(RUSAGE_SELF, &usage);
	getrlimit(RLIMIT_CPU, &limit);
	limit.rlim_cur = (rlim_t)usage.ru_utime.tv_sec + (rlim_t)usage.ru_stime.tv_sec + seconds;
	setrlimit(RLIMIT_CPU, &limit);
}

static bool reports(const struct mt_lines *lines, const char *what)
{
	const char *problem = mt_lines_problem(lines);

	return problem && strstr(problem, what);
}

MT_TEST(a_row_is_found)
{
	struct mt_lines_frame frames[MT_LINES_DEPTH];
	struct mt_lines *lines;
	struct mt_elf *elf;
	size_t start;

	begin();
	put_unit(0);
	start = begin_line(3, 1);
	put(&line, 1, 1); /* one row */
	end_line(start);
	lines = open_lines(NULL, &elf);
	MT_CHECK_EQ(mt_lines_find(lines, CODE + 5, frames), 1);
	MT_CHECK(frames[0].file && !strcmp(frames[0].file, "ddd/f"));
	MT_CHECK_EQ(frames[0].line, 1);
	MT_CHECK_EQ(mt_lines_find(lines, CODE + CODE_SIZE, frames), 0);
	close_lines(lines, elf);
}

MT_TEST(a_file_that_names_itself_as_its_supplement_has_none)
{
	const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	struct mt_lines_frame frames[MT_LINES_DEPTH];
	struct mt_lines *lines;
	struct mt_elf *elf;
	char path[4096], link[4096 + 20];
	size_t start, length;

	length = (size_t)snprintf(path, sizeof(path), "%s/mt-itself-%d", folder, getpid());
	memcpy(link, path, length + 1);
	for (uint8_t i = 0; i < 20; i++)
		link[length + 1 + i] = (char)(i + 1);
	begin();
	builder_add_build_id(&builder, 20);
	builder_add_section(&builder, ".gnu_debugaltlink", SHT_PROGBITS, 0, link, length + 21);
	put_unit(0x1f21);
	start = begin_line(0, 1);
	put(&line, 1, 1);
	end_line(start);
	lines = open_lines(path, &elf);
	MT_CHECK_EQ(mt_lines_find(lines, CODE + 5, frames), 1);
	MT_CHECK_EQ(frames[0].line, 1);
	close_lines(lines, elf);
	unlink(path);
}

MT_TEST(opcodes_without_rows_cost_once)
{
	struct mt_lines_frame frames[MT_LINES_DEPTH];
	struct mt_lines *lines;
	struct mt_elf *elf;
	size_t start, found = 0;

	begin();
	put_unit(0);
	start = begin_line(0, 1);
	put(&line, 1, 1);
	memset(line.at + line.size, 6, 400000); /* negate_stmt */
	line.size += 400000;
	put_all(&line, (uint8_t[]){2, 0xff, 0x1f, 1}, 4); /* another row far away */
	end_line(start);
	lines = open_lines(NULL, &elf);
	limit_seconds(MT_SANITIZED ? 60 : 10);
	for (uint64_t i = 0; i < 100000; i++)
		found += mt_lines_find(lines, CODE + i % 0xff0, frames);
	MT_CHECK(found);
	close_lines(lines, elf);
}

MT_TEST(a_line_program_of_8_megabytes_is_not_unpacked)
{
	long before = megabytes();
	struct mt_lines_frame frames[MT_LINES_DEPTH];
	struct mt_lines *lines;
	struct mt_elf *elf;
	size_t start;

	begin();
	put_unit(0);
	start = begin_line(0, 1);
	memset(line.at + line.size, 1, 8 * MEGABYTE); /* each byte is a row */
	line.size += 8 * (size_t)MEGABYTE;
	end_line(start);
	lines = open_lines(NULL, &elf);
	MT_CHECK_EQ(mt_lines_find(lines, CODE + 5, frames), 0);
	MT_CHECK(reports(lines, "larger than is read"));
	MT_CHECK(megabytes() - before < 100);
	close_lines(lines, elf);
}

MT_TEST(paths_are_not_joined_without_bound)
{
	long before = megabytes();
	struct mt_lines_frame frames[MT_LINES_DEPTH];
	struct mt_lines *lines;
	struct mt_elf *elf;
	size_t start;

	begin();
	put_unit(0);
	start = begin_line(100000, 20000); /* 2 GB of names */
	put(&line, 1, 1);
	end_line(start);
	lines = open_lines(NULL, &elf);
	MT_CHECK_EQ(mt_lines_find(lines, CODE + 5, frames), 0);
	MT_CHECK(reports(lines, "larger than is read"));
	MT_CHECK(megabytes() - before < 100);
	close_lines(lines, elf);
}

MT_TEST(abbreviations_are_not_read_for_each_unit_without_bound)
{
	long before = megabytes();
	struct mt_lines *lines;
	struct mt_elf *elf;

	begin();
	for (unsigned int i = 0; i < 50000; i++) /* none of them is the root's */
		put_all(&abbrev,
			(uint8_t[]){0x80 | (i & 0x7f), 0x80 | (i >> 7 & 0x7f),
				    (uint8_t)(4 + (i >> 14)), 0x34, 0, 0, 0},
			7);
	put_all(&abbrev, (uint8_t[]){1, 0x11, 0, 0x11, 0x01, 0x12, 0x07, 0x10, 0x17, 0, 0, 0}, 12);
	for (int i = 0; i < 4000; i++)
		put_unit(0);
	lines = open_lines(NULL, &elf);
	MT_CHECK(reports(lines, ".debug_abbrev: more than is read"));
	MT_CHECK(megabytes() - before < 300);
	close_lines(lines, elf);
}

MT_TEST_MAIN
