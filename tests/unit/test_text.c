/* report/tables/text: readable numbers, and names from outside that cannot harm a terminal. */
#include "report/tables/text.h"

#include <locale.h>

#include "tests/unit/unit.h"

MT_TEST(counts_have_separators)
{
	MT_CHECK_STR(mt_text_count(0).text, "0");
	MT_CHECK_STR(mt_text_count(999).text, "999");
	MT_CHECK_STR(mt_text_count(1000).text, "1,000");
	MT_CHECK_STR(mt_text_count(1234567).text, "1,234,567");
	MT_CHECK_STR(mt_text_count(-1234567).text, "-1,234,567");
	MT_CHECK_STR(mt_text_count(-123).text, "-123");
}

MT_TEST(durations_have_the_unit_that_fits)
{
	MT_CHECK_STR(mt_text_duration(0).text, "0 us");
	MT_CHECK_STR(mt_text_duration(0.0005).text, "500 us");
	MT_CHECK_STR(mt_text_duration(0.25).text, "250 ms");
	MT_CHECK_STR(mt_text_duration(3.214).text, "3.21 s");
	MT_CHECK_STR(mt_text_duration(252).text, "4 min 12 s");
	MT_CHECK_STR(mt_text_duration(7500).text, "2 h 05 min");
	MT_CHECK_STR(mt_text_duration(-1).text, "0 us");
}

MT_TEST(bytes_are_decimal)
{
	MT_CHECK_STR(mt_text_bytes(812).text, "812 B");
	MT_CHECK_STR(mt_text_bytes(11200000).text, "11.2 MB");
	MT_CHECK_STR(mt_text_bytes(999960).text, "1.0 MB");
}

MT_TEST(a_part_is_never_rounded_to_all_or_nothing)
{
	MT_CHECK_STR(mt_text_percent(1, 100000).text, "<0.1 %");
	MT_CHECK_STR(mt_text_percent(99999, 100000).text, ">99.9 %");
	MT_CHECK_STR(mt_text_percent(100, 100).text, "100 %");
	MT_CHECK_STR(mt_text_percent(0, 100).text, "0 %");
	MT_CHECK_STR(mt_text_percent(1, 0).text, "-");
	MT_CHECK_STR(mt_text_percent(1, 3).text, "33.3 %");
}

static const char *fit(const char *text, size_t width)
{
	static char out[64];

	mt_text_fit(text, width, out, sizeof(out));
	return out;
}

MT_TEST(names_are_cut_and_cleaned)
{
	MT_CHECK_STR(fit("short", 10), "short");
	MT_CHECK_STR(fit("exactly-10", 10), "exactly-10");
	MT_CHECK_STR(fit("longer than ten", 10), "longer t..");
	MT_CHECK_STR(fit("\x1b[31mred", 10), "?[31mred");
	MT_CHECK_STR(fit("tab\tnew\nline", 20), "tab?new?line");
	MT_CHECK_STR(fit("b\xff\xfe", 10), "b??");
	MT_CHECK_STR(fit("\xe6\xbc\xa2\xe5\xad\x97", 10), "\xe6\xbc\xa2\xe5\xad\x97");
	MT_CHECK_STR(fit("\xc2\x9b"
			 "31m",
			 10),
		     "??31m"); /* a C1 control character */
	MT_CHECK_STR(fit("\xe2\x80\xae"
			 "x",
			 10),
		     "???x"); /* right to left from here on */
	MT_CHECK_STR(fit("\xed\xa0\x80\xe0\x80\xaf", 10),
		     "??????"); /* a surrogate; an overlong / */
}

MT_TEST(a_quoted_name_is_one_word_of_a_shell)
{
	char out[64] = "";
	FILE *to = fmemopen(out, sizeof(out), "w");

	mt_text_print_quoted("it's $(z)\\", to);
	fputc(' ', to);
	mt_text_print_quoted("it's $(z)\x1b\\", to);
	fclose(to);
	MT_CHECK_STR(out, "'it'\\''s $(z)\\' $'it\\'s $(z)\\x1b\\\\'");
}

MT_TEST(a_name_longer_than_its_room_is_cut_in_whole_characters)
{
	char out[8];

	mt_text_fit("\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", 80, out, sizeof(out));
	MT_CHECK_STR(out, "\xe6\xbc\xa2");
}

MT_TEST(a_width_is_that_on_a_terminal)
{
	static const char wide[] = "\xe6\xbc\xa2\xe5\xad\x97", combined[] = "e\xcc\x81t\xcc\x81";
	char out[64];

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return;
	MT_CHECK_EQ(mt_text_columns(wide), 4);
	MT_CHECK_EQ(mt_text_columns(combined), 2);
	MT_CHECK_EQ(mt_text_fit(wide, 4, out, sizeof(out)), 4);
	MT_CHECK_STR(out, wide);
	MT_CHECK_EQ(mt_text_fit("\xe6\xbc\xa2xy\xe5\xad\x97", 5, out, sizeof(out)), 5);
	MT_CHECK_STR(out, "\xe6\xbc\xa2x..");
	MT_CHECK_EQ(mt_text_fit(combined, 2, out, sizeof(out)), 2);
	MT_CHECK_STR(out, combined);
}

MT_TEST(text_is_wrapped_between_words)
{
	char out[64] = "";
	FILE *to = fmemopen(out, sizeof(out), "w");

	setlocale(LC_CTYPE, "C.UTF-8");
	mt_text_print_wrapped("! ", "  ", "one two \xe6\xbc\xa2 four fivesixseven", 10, to);
	fclose(to);
	MT_CHECK_STR(out, "! one two\n  \xe6\xbc\xa2 four\n  fivesixs\n  even\n");
}

MT_TEST(dates_are_utc)
{
	MT_CHECK_STR(mt_text_date(1700000000000000000).text, "2023-11-14 22:13:20 UTC");
}

MT_TEST_MAIN
