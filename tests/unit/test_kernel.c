/* Kernel symbols from text. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "symbols/names/kernel.h"
#include "tests/unit/unit.h"

MT_DEFINE_CLEANUP(mt_kernel_symbols, struct mt_kernel_symbols)
#define MT_KERNEL_GUARD MT_CLEANUP(mt_kernel_symbols_destroy_p) struct mt_kernel_symbols *

static const char text[] = "ffffffff81000000 T _text\n"
			   "ffffffff81000000 T startup_64\n"
			   "ffffffff81000100 t local_one\n"
			   "ffffffff81000200 d some_data\n"
			   "ffffffff81000300 W weak_one\n"
			   "ffffffff81000300 T strong_one\n"
			   "ffffffff81000400 T _etext\n"
			   "ffffffffc0002000 t mod_b\t[other]\n"
			   "ffffffffc0000010 t mod_a\t[some_module]\n"
			   "ffffffffc0000050 T mod_second\t[some_module]\n"
			   "ffffffffc0003000 t bpf_prog_123_x\t[bpf]\n";

static struct mt_kernel_symbols *parse(const char *from, size_t size)
{
	struct mt_kernel_symbols *symbols = NULL;

	MT_CHECK_OK(mt_kernel_symbols_parse(from, size, &symbols));
	return symbols;
}

static void check(const struct mt_kernel_symbols *symbols, uint64_t address, const char *name,
		  uint64_t offset, const char *module)
{
	const char *found_module = NULL;
	uint64_t found_offset = 0;
	const char *found = mt_kernel_symbols_find(symbols, address, &found_offset, &found_module);

	MT_CHECK_STR(found, name);
	MT_CHECK_EQ(found_offset, offset);
	MT_CHECK_STR(found_module, module);
}

MT_TEST(functions_reach_to_the_next)
{
	MT_KERNEL_GUARD symbols = parse(text, sizeof(text) - 1);

	check(symbols, 0xffffffff80ffffff, NULL, 0, NULL);
	check(symbols, 0xffffffff81000080, "startup_64", 0x80, NULL); /* the last, as in perf */
	check(symbols, 0xffffffff81000250, "local_one", 0x150, NULL); /* data is no function */
	check(symbols, 0xffffffff81000310, "strong_one", 0x10, NULL);
}

MT_TEST(modules_end_where_they_end)
{
	MT_KERNEL_GUARD symbols = parse(text, sizeof(text) - 1);

	check(symbols, 0xffffffffc0000020, "mod_a", 0x10, "some_module");
	check(symbols, 0xffffffffc0000058, "mod_second", 8, "some_module");
	check(symbols, 0xffffffffc0001fff, "mod_second", 0x1faf,
	      "some_module"); /* to the end of the next page */
	check(symbols, 0xffffffffc0002004, "mod_b", 4, "other");
	check(symbols, 0xffffffffc0003001, "bpf_prog_123_x", 1, "bpf");
	check(symbols, 0xffffffffc0009000, NULL, 0, NULL);
	check(symbols, 0xffffffff90000000, NULL, 0, NULL); /* between kernel and modules */
}

MT_TEST(what_pads_a_function_names_nothing)
{
	static const char padded[] = "ffffffff81000100 T caller\n"
				     "ffffffff81000150 T __pfx_next\n"
				     "ffffffff81000160 T next\n";
	MT_KERNEL_GUARD symbols = parse(padded, sizeof(padded) - 1);

	check(symbols, 0xffffffff8100014f, "caller", 0x4f, NULL);
	check(symbols, 0xffffffff81000150, "caller", 0x50, NULL); /* after its last call */
	check(symbols, 0xffffffff81000151, NULL, 0, NULL);
	check(symbols, 0xffffffff81000160, "next", 0, NULL);
	check(symbols, 0xffffffff81000168, "next", 8, NULL);
}

MT_TEST(an_end_names_nothing_until_a_symbol_is_there)
{
	static const char pieces[] = "ffffffff81000100 t one\n"
				     "ffffffff81000200 - two\n"
				     "ffffffff81000300 t three\n"
				     "ffffffff81000400 - four\n"
				     "ffffffff81000400 - alias_of_four\n"
				     "ffffffff81000200 - two\n"
				     "ffffffff81000300 - three\n"
				     "ffffffff81000400 t alias_of_four\n"
				     "ffffffff81000500 - five\n";
	MT_KERNEL_GUARD symbols = parse(pieces, sizeof(pieces) - 1);

	check(symbols, 0xffffffff81000110, "one", 0x10, NULL);
	check(symbols, 0xffffffff81000200, NULL, 0, NULL);
	check(symbols, 0xffffffff81000210, NULL, 0, NULL);
	check(symbols, 0xffffffff81000310, "three", 0x10, NULL);
	check(symbols, 0xffffffff81000410, "alias_of_four", 0x10, NULL);
	check(symbols, 0xffffffff81000500, NULL, 0, NULL);
}

MT_TEST(hidden_addresses_are_an_error)
{
	static const char zeros[] = "0000000000000000 T _text\n0000000000000000 t other\n";
	struct mt_kernel_symbols *symbols = NULL;
	struct mt_error *err = mt_kernel_symbols_parse(zeros, sizeof(zeros) - 1, &symbols);

	MT_REQUIRE(err);
	MT_CHECK(err->hint && strstr(err->hint, "kptr_restrict"));
	MT_CHECK_ERR(err, MT_ERR_PERMISSION);
	MT_CHECK(!symbols);
}

MT_TEST(text_of_another_form_is_refused_or_skipped)
{
	static const char anomaly[] =
		"\n\nhello\nffff\nfffff T\nffffffff81000000 T  \n11111111111111111 T toolong\n"
		"ffffffff81000000 T f\t[unclosed\nffffffff81000010 T g";
	struct mt_kernel_symbols *none = NULL;

	MT_CHECK_ERR(mt_kernel_symbols_parse("", 0, &none), MT_ERR_FORMAT);
	MT_CHECK_ERR(mt_kernel_symbols_parse("<html>", 6, &none), MT_ERR_FORMAT);
	MT_CHECK_ERR(mt_kernel_symbols_read("/nonexistent", &none), MT_ERR_OS);
	MT_CHECK_ERR(mt_kernel_symbols_read("/dev/zero", &none), MT_ERR_FORMAT);
	MT_KERNEL_GUARD symbols = parse(anomaly, sizeof(anomaly) - 1);

	check(symbols, 0xffffffff81000004, "f", 4, NULL);
	check(symbols, 0xffffffff81000014, "g", 4, NULL); /* the last line needs no newline */
}

MT_TEST(a_file_is_read_to_its_end)
{
	char path[] = "/tmp/test_kernel.XXXXXX";
	int fd = mkstemp(path);
	MT_KERNEL_GUARD symbols = NULL;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	MT_REQUIRE(f);
	for (unsigned int i = 0; i < 150000; i++)
		fprintf(f, "ffffffff%08x t function_number_%u\n", 0x81000000u + i * 16, i);
	fclose(f);
	MT_CHECK_OK(mt_kernel_symbols_read(path, &symbols));
	unlink(path);
	MT_REQUIRE(symbols);
	check(symbols, 0xffffffff81000000 + 16 * 149999 + 3, "function_number_149999", 3, NULL);
	check(symbols, 0xffffffff81000000 + 16 * 777, "function_number_777", 0, NULL);
}

MT_TEST_MAIN
