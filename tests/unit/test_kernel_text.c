/*
 * record/kernel_text: a kernel's text is copied once and read from there, unless it is another
 * kernel, an address is where code comes and goes, or the copy is not as it was written.
 */
#include "record/kernel_text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define CORE 0xffffffff81000100
#define IN_MODULE 0xffffffffc0000010
#define ELSEWHERE 0xffffffffc0100000

static const char usual[] = "ffffffff81000000 T _stext\nffffffff81000100 t does\n"
			    "ffffffff81200000 T _etext\nffffffffc0000000 t begin\t[drv]\n";

static char folder[512], symbols[600], modules[600], boot[600], copy[600];
static const struct mt_kernel_files files = {symbols, modules, boot};
static int dir = -1;

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	MT_CHECK(file);
	fputs(text, file);
	fclose(file);
}

/* A kernel of its own, and no copy. */
static void begin(void)
{
	const char *parent = getenv("TMPDIR");

	if (dir < 0) {
		snprintf(folder, sizeof(folder), "%s/mt-kernel-text-XXXXXX",
			 parent ? parent : "/tmp");
		MT_CHECK(mkdtemp(folder));
		snprintf(symbols, sizeof(symbols), "%s/symbols", folder);
		snprintf(modules, sizeof(modules), "%s/modules", folder);
		snprintf(boot, sizeof(boot), "%s/boot", folder);
		snprintf(copy, sizeof(copy), "%s/kernel.symbols", folder);
		dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	(void)unlink(copy);
	write_file(symbols, usual);
	write_file(modules, "drv 4096 2 - Live 0xffffffffc0000000\n");
	write_file(boot, "0b7d1a5c\n");
}

static void end(void)
{
	unlink(symbols);
	unlink(modules);
	unlink(boot);
	unlink(copy);
	close(dir);
	rmdir(folder);
}

/* What is read for an address: of a copy that is given, else it is read, and read again. */
static bool reads_in(int in, uint64_t address, const char *wanted)
{
	size_t count = 1;
	struct mt_kernel_text text = mt_kernel_text_open(&files, in, &address, &count);
	char got[2][1024] = {"", ""};

	MT_CHECK(text.fd >= 0);
	MT_CHECK_EQ(count, 1);
	for (int i = 0; i < 2; i++) {
		MT_CHECK(text.bytes || read(text.fd, got[i], sizeof(got[i]) - 1) >= 0);
		MT_CHECK(text.bytes || !lseek(text.fd, 0, SEEK_SET));
		if (text.bytes)
			memcpy(got[i], text.bytes, text.size);
	}
	close(text.fd);
	free(text.bytes);
	return !strcmp(got[0], wanted) && !strcmp(got[1], wanted);
}

static bool reads(uint64_t address, const char *wanted)
{
	return reads_in(dir, address, wanted);
}

/* The same boot would not change it; so it is seen which of the two was read. */
static const char changed[] = "ffffffff81000100 t other\n";

static void begin_with_copy(void)
{
	begin();
	MT_CHECK(reads(CORE, usual));
	write_file(symbols, changed);
}

MT_TEST(a_copy_is_read)
{
	struct stat status;

	begin_with_copy();
	MT_CHECK(!stat(copy, &status));
	MT_CHECK_EQ(status.st_mode & 0777, 0600);
	MT_CHECK(reads(CORE, usual));
	MT_CHECK(reads(IN_MODULE, usual));
}

/* Nobody looks at others, nor at what pads functions. */
MT_TEST(a_copy_has_the_lines_of_functions)
{
	uint64_t address = CORE;
	size_t count = 1;
	struct mt_kernel_text text;
	FILE *file;

	begin();
	file = fopen(symbols, "ae");
	fputs("ffffffff82000000 D data\nffffffffc0000010 t __pfx_more\t[drv]\n", file);
	for (int i = 0; i < 100000; i++)
		fprintf(file, "ffffffff82%06x %c symbol%d\n", i, i % 2 ? 'b' : 'r', i);
	fputs("ffffffffc0000020 W more\t[drv]\n", file);
	fclose(file);
	text = mt_kernel_text_open(&files, dir, &address, &count);
	close(text.fd);
	free(text.bytes);
	text = mt_kernel_text_open(&files, dir, &address, &count);
	MT_CHECK_EQ(text.size, strlen(usual) + strlen("ffffffffc0000020 W more\t[drv]\n"));
	MT_CHECK(text.bytes && !memcmp(text.bytes, usual, strlen(usual)));
	close(text.fd);
	free(text.bytes);
}

MT_TEST(of_a_long_copy_few_lines_are_read)
{
	static const char wanted[] = "ffffffff81012340 t symbol4660\n";
	uint64_t address = 0xffffffff81012344;
	struct mt_kernel_text text;
	size_t count = 1;
	FILE *file;

	begin();
	file = fopen(symbols, "we");
	fputs("ffffffff81000000 T _stext\n", file);
	for (int i = 1; i < 100000; i++)
		fprintf(file, "ffffffff81%06x t symbol%d\n", i * 16, i);
	fputs("ffffffff81200000 T _etext\n", file);
	fclose(file);
	for (int i = 0; i < 2; i++) {
		text = mt_kernel_text_open(&files, dir, &address, &count);
		MT_CHECK(text.bytes);
		MT_CHECK(text.size < 32768);
		MT_CHECK(memmem(text.bytes, text.size, wanted, strlen(wanted)));
		close(text.fd);
		free(text.bytes);
	}
}

MT_TEST(of_what_comes_and_goes_it_does_not_tell)
{
	uint64_t addresses[] = {CORE, 0xffffffffbfff0000, IN_MODULE, ELSEWHERE};
	struct mt_kernel_text text;
	size_t count = 4;

	begin_with_copy();
	text = mt_kernel_text_open(&files, dir, addresses, &count);
	close(text.fd);
	free(text.bytes);
	MT_CHECK_EQ(count, 2);
	MT_CHECK_EQ(addresses[0], CORE);
	MT_CHECK_EQ(addresses[1], IN_MODULE);
	MT_CHECK_EQ(addresses[2], 0xffffffffbfff0000);
	MT_CHECK_EQ(addresses[3], ELSEWHERE);
}

MT_TEST(of_what_is_no_address_there_is_nothing_to_tell)
{
#ifdef __x86_64__
	begin_with_copy();
	MT_CHECK(reads(0xffffffff80001234, usual));
	MT_CHECK(reads(0xffffffff87ffbeff, usual));
	MT_CHECK(reads(0xfffffffffffe7960, usual));
#endif
}

MT_TEST(one_made_just_now_tells_of_all)
{
	begin();
	MT_CHECK(reads(ELSEWHERE, usual));
}

MT_TEST(without_a_folder_the_kernel_is_asked)
{
	begin_with_copy();
	MT_CHECK(reads_in(-1, ELSEWHERE, changed));
}

MT_TEST(how_often_a_module_is_used_does_not_matter)
{
	begin_with_copy();
	write_file(modules, "drv 4096 3 other, Live 0xffffffffc0000000\n");
	MT_CHECK(reads(CORE, usual));
}

MT_TEST(other_modules_are_another_kernel)
{
	begin_with_copy();
	write_file(modules, "drv 4096 2 - Live 0xffffffffc0004000\n");
	MT_CHECK(reads(CORE, changed));
	begin_with_copy();
	write_file(modules, "");
	MT_CHECK(reads(CORE, changed));
}

MT_TEST(another_boot_is_another_kernel)
{
	begin_with_copy();
	write_file(boot, "99ae0f13\n");
	MT_CHECK(reads(CORE, changed));
}

MT_TEST(without_modules)
{
	begin();
	unlink(modules);
	MT_CHECK(reads(CORE, usual));
	write_file(symbols, changed);
	MT_CHECK(reads(CORE, usual));
}

MT_TEST(nothing_is_kept_without_addresses)
{
	struct stat status;

	begin();
	write_file(symbols, "0000000000000000 T _stext\n0000000000000000 T _etext\n");
	MT_CHECK(reads(CORE, "0000000000000000 T _stext\n0000000000000000 T _etext\n"));
	MT_CHECK(stat(copy, &status));
	MT_CHECK(reads_in(-1, CORE, "0000000000000000 T _stext\n0000000000000000 T _etext\n"));
}

MT_TEST(a_damaged_copy_is_made_again)
{
	struct stat status;
	FILE *file;
	int byte;

	begin_with_copy();
	MT_CHECK(!stat(copy, &status));
	for (long at = 0; at < status.st_size; at += at < 64 ? 1 : 7) {
		begin_with_copy();
		file = fopen(copy, "r+e");
		fseek(file, at, SEEK_SET);
		byte = fgetc(file);
		fseek(file, at, SEEK_SET);
		fputc(byte ^ 4, file);
		fclose(file);
		MT_CHECK(reads(CORE, changed));
	}
	begin_with_copy();
	MT_CHECK(!truncate(copy, status.st_size - 1));
	MT_CHECK(reads(CORE, changed));
}

MT_TEST(a_link_is_not_followed)
{
	begin_with_copy();
	unlink(copy);
	MT_CHECK(!symlink(symbols, copy));
	MT_CHECK(reads(CORE, changed));
	unlink(copy);
	end();
}

MT_TEST_MAIN
