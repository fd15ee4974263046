/*
 * record/carry/kernel_seen and symbols/names/kernel_lines: the lines of /proc/kallsyms that are
 * carried.
 */
#include "record/carry/kernel_seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "symbols/names/kernel_lines.h"
#include "tests/unit/unit.h"

static const char text[] = "ffffffff81000000 T _text\n"
			   "ffffffff81000000 T startup\n"
			   "ffffffff81000100 t one\n"
			   "ffffffff81000180 d data\n"
			   "ffffffff81000200 T two\n"
			   "ffffffff81000300 W three\n"
			   "ffffffffc0002000 t mod_b\t[other]\n"
			   "ffffffffc0001000 t mod_a\t[some]\n";

static void check(const uint64_t *addresses, size_t count, const char *wanted)
{
	char chosen[sizeof(text)];
	size_t size;

	memcpy(chosen, text, sizeof(text));
	size = mt_kernel_lines_choose(chosen, sizeof(text) - 1, addresses, count);
	chosen[size] = '\0';
	MT_CHECK_STR(chosen, wanted);
}

MT_TEST(the_lines_around_an_address)
{
	check((uint64_t[]){0xffffffff81000110}, 1,
	      "ffffffff81000100 t one\nffffffff81000200 - two\n");
	check((uint64_t[]){0xffffffff81000010}, 1,
	      "ffffffff81000000 T _text\nffffffff81000000 T startup\nffffffff81000100 - one\n");
	check((uint64_t[]){0xffffffff81000200, 0xffffffffc0001008}, 2,
	      "ffffffff81000200 T two\nffffffff81000300 - three\n"
	      "ffffffffc0002000 - mod_b\t[other]\nffffffffc0001000 t mod_a\t[some]\n");
}

MT_TEST(padding_belongs_to_the_function_before_it)
{
	static const char padded[] = "ffffffff81000100 T one\n"
				     "ffffffff81000150 T __pfx_two\n"
				     "ffffffff81000160 T two\n"
				     "ffffffff81000200 T __pfx_three\n"
				     "ffffffff81000210 T three\n";
	static const uint64_t after_a_call[] = {0xffffffff81000150};
	char chosen[sizeof(padded)];
	size_t size;

	memcpy(chosen, padded, sizeof(padded));
	size = mt_kernel_lines_choose(chosen, sizeof(padded) - 1, after_a_call, 1);
	chosen[size] = '\0';
	MT_CHECK_STR(chosen, "ffffffff81000100 T one\nffffffff81000160 - two\n");
}

MT_TEST(what_lies_before_all_is_nobodys)
{
	check((uint64_t[]){0x1000}, 1, "");
	check(NULL, 0, "");
}

MT_TEST(lines_may_be_shown_a_few_at_a_time)
{
	const uint64_t addresses[] = {0xffffffff81000010, 0xffffffff81000210, 0xffffffff81000220,
				      0xffffffffc0001008};
	struct mt_kernel_lines *lines = mt_kernel_lines_create(addresses, 4);
	char whole[sizeof(text)], parts[sizeof(text)] = "";
	size_t size, used = 0;

	memcpy(whole, text, sizeof(text));
	size = mt_kernel_lines_choose(whole, sizeof(text) - 1, addresses, 4);
	MT_REQUIRE(lines && size);
	for (const char *at = text; *at; at = strchr(at, '\n') + 1)
		mt_kernel_lines_see(lines, at, (size_t)(strchr(at, '\n') + 1 - at));
	for (const char *at = text; *at; at = strchr(at, '\n') + 1) {
		size_t length = (size_t)(strchr(at, '\n') + 1 - at);

		memcpy(parts + used, at, length);
		used += mt_kernel_lines_keep(lines, parts + used, length);
	}
	MT_CHECK_EQ(used, size);
	MT_CHECK(!memcmp(parts, whole, size));
	mt_kernel_lines_destroy(lines);
}

/*
 * Each byte value at each place of an address: the line has that address, or is not a line of a
 * function.
 */
MT_TEST(only_digits_make_an_address)
{
	for (unsigned int at = 0; at < 16; at++) {
		for (unsigned int c = 1; c < 256; c++) {
			char line[] = "0123456789abcdef t some\n";
			const char *found = memchr("0123456789abcdef", (int)c, 16);
			uint64_t address;
			size_t kept;

			line[at] = (char)c;
			address = found ? strtoull(line, NULL, 16) : 0;
			kept = mt_kernel_lines_choose(line, sizeof(line) - 1, &address, 1);
			MT_CHECK_EQ(kept, found ? sizeof(line) - 1 : 0);
			MT_CHECK(!found || line[17] == 't');
		}
	}
}

MT_TEST(no_addresses_no_lines)
{
	char zeros[] = "0000000000000000 T _text\n0000000000000000 T startup\n";

	MT_CHECK_EQ(mt_kernel_lines_choose(zeros, sizeof(zeros) - 1,
					   (uint64_t[]){0xffffffff81000110}, 1),
		    0);
}

MT_TEST(words_of_samples)
{
	static const uint64_t words[] = {0xffffffff81000110, 0x7fff00001000, UINT64_MAX - 127,
					 0xffffffff81000010, 0xffffffff81000110};
	uint8_t bytes[sizeof(words) + 4] = {0};
	struct mt_kernel_seen *seen = mt_kernel_seen_create();
	uint64_t *addresses;
	size_t count;
	bool all;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		mt_put_le64(bytes + 8 * i, words[i]);
	mt_kernel_seen_add(seen, bytes, sizeof(bytes));
	addresses = mt_kernel_seen_take(seen, &count, &all);
	MT_CHECK_EQ(count, 2);
	MT_CHECK(!all);
	MT_CHECK_EQ(addresses[0], 0xffffffff81000010);
	MT_CHECK_EQ(addresses[1], 0xffffffff81000110);
	free(addresses);
	mt_kernel_seen_destroy(seen);
}

MT_TEST(what_was_taken_is_no_news)
{
	uint64_t word = 0xffffffff81000110;
	struct mt_kernel_seen *seen = mt_kernel_seen_create();
	uint64_t *addresses;
	size_t count;
	uint8_t bytes[8];
	bool all;

	MT_REQUIRE(seen);
	MT_CHECK(!mt_kernel_seen_has_news(seen));
	for (; word < 0xffffffff81000110 + 64; word++) {
		mt_put_le64(bytes, word);
		mt_kernel_seen_add(seen, bytes, sizeof(bytes));
	}
	MT_CHECK(mt_kernel_seen_has_news(seen));
	addresses = mt_kernel_seen_take(seen, &count, &all);
	MT_CHECK_EQ(count, 64);
	free(addresses);
	mt_kernel_seen_add(seen, bytes, sizeof(bytes));
	MT_CHECK(!mt_kernel_seen_has_news(seen) && !mt_kernel_seen_take(seen, &count, &all));
	mt_put_le64(bytes, word);
	mt_kernel_seen_add(seen, bytes, sizeof(bytes));
	MT_CHECK(!mt_kernel_seen_has_news(seen)); /* one of 65 */
	addresses = mt_kernel_seen_take(seen, &count, &all);
	MT_REQUIRE(count == 1);
	MT_CHECK_EQ(addresses[0], word);
	free(addresses);
	mt_kernel_seen_destroy(seen);
}

MT_TEST_MAIN
