/*
 * record/carry/embed_names: the kernel's lines are read once, and again when its modules have
 * changed.
 */
#include "record/carry/embed_names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define FUNCTIONS                    \
	"ffffffff81000000 T start\n" \
	"ffffffff81000100 t next\t[module]\n"

static struct mt_kernel_files files;
static char symbols[64], modules[64];

static bool write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (file)
		fputs(text, file);
	return file && !fclose(file);
}

static bool set_up(const char *symbol_lines, const char *module_lines)
{
	snprintf(symbols, sizeof(symbols), "/tmp/kernel-symbols-%d", (int)getpid());
	snprintf(modules, sizeof(modules), "/tmp/kernel-modules-%d", (int)getpid());
	files = (struct mt_kernel_files){symbols, modules};
	return write_file(symbols, symbol_lines) && write_file(modules, module_lines);
}

static void clean_up(struct mt_kernel_text *text)
{
	mt_kernel_text_deinit(text);
	unlink(symbols);
	unlink(modules);
}

static bool has(const struct mt_kernel_text *text, const char *lines)
{
	return text->size == strlen(lines) && !memcmp(text->lines, lines, text->size);
}

MT_TEST(lines_of_functions_are_left)
{
	struct mt_kernel_text text = {0};

	MT_REQUIRE(set_up("0000000000000000 A fixed\n"
			  "ffffffff81000000 T start\n"
			  "ffffffff81000010 D data\n"
			  "ffffffff81000100 t next\t[module]\n",
			  "module 1 0 - Live 0x0\n"));
	MT_CHECK(mt_kernel_text_update(&text, &files));
	MT_CHECK(has(&text, FUNCTIONS));
	clean_up(&text);
}

MT_TEST(they_are_read_again_for_other_modules_alone)
{
	struct mt_kernel_text text = {0};

	MT_REQUIRE(set_up(FUNCTIONS, "module 1 0 - Live 0x0\n"));
	MT_CHECK(mt_kernel_text_update(&text, &files));
	MT_REQUIRE(write_file(symbols, "ffffffff81000000 T other\n"));
	MT_CHECK(mt_kernel_text_update(&text, &files));
	MT_CHECK(has(&text, FUNCTIONS));
	MT_REQUIRE(write_file(modules, ""));
	MT_CHECK(mt_kernel_text_update(&text, &files));
	MT_CHECK(has(&text, "ffffffff81000000 T other\n"));
	unlink(modules); /* a kernel without modules */
	MT_CHECK(mt_kernel_text_update(&text, &files));
	MT_REQUIRE(write_file(symbols, FUNCTIONS));
	MT_CHECK(mt_kernel_text_update(&text, &files));
	MT_CHECK(has(&text, "ffffffff81000000 T other\n"));
	clean_up(&text);
}

MT_TEST(hidden_addresses_are_no_lines)
{
	struct mt_kernel_text text = {0};

	MT_REQUIRE(set_up("0000000000000000 T start\n", ""));
	MT_CHECK(mt_kernel_text_update(&text, &files));
	MT_CHECK_EQ(text.size, 0);
	unlink(symbols);
	MT_CHECK(mt_kernel_text_update(&text, &files)); /* and are not read again */
	clean_up(&text);
}

MT_TEST(what_cannot_be_read_says_why)
{
	struct mt_kernel_text text = {0};

	MT_REQUIRE(set_up("", ""));
	unlink(symbols);
	errno = 0;
	MT_CHECK(!mt_kernel_text_update(&text, &files));
	MT_CHECK_EQ(errno, ENOENT);
	clean_up(&text);
}

MT_TEST_MAIN
