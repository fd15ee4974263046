/*
 * report/outputs: folded lines in the format of stackcollapse-perf.pl, and a summary that fits a
 * terminal.
 */
#include "report/outputs/outputs.h"
#include "tests/unit/report_fake.h"
#include "tests/unit/unit.h"

MT_TEST(one_event_has_no_event_frame)
{
	struct report_fake fake;

	report_fake_init(&fake);
	report_fake_add(&fake, "brk", "bash", "main;malloc;brk", 3);
	report_fake_add(&fake, "brk", "bash", "main;fork", 1);
	MT_CHECK_STR(report_fake_write(&fake, &mt_output_folded, 0),
		     "bash;main;fork 1\nbash;main;malloc;brk 3\n");
	report_fake_deinit(&fake);
}

MT_TEST(several_events_come_first)
{
	struct report_fake fake;

	report_fake_init(&fake);
	report_fake_add(&fake, "page-faults", "bash", "main", 2);
	report_fake_add(&fake, "brk", "bash", "main", 1);
	MT_CHECK_STR(report_fake_write(&fake, &mt_output_folded, 0),
		     "brk;bash;main 1\npage-faults;bash;main 2\n");
	report_fake_deinit(&fake);
}

MT_TEST(what_would_break_a_line_is_replaced_and_lines_stay_unique)
{
	struct report_fake fake;

	report_fake_init(&fake);
	report_fake_add(&fake, "brk", "two words;x", "f\ng;operator new", 1);
	report_fake_add(&fake, "brk", "two_words:x", "f?g;operator new", 1);
	MT_CHECK_STR(report_fake_write(&fake, &mt_output_folded, 0),
		     "two_words:x;f?g;operator new 2\n");
	report_fake_deinit(&fake);
}

MT_TEST(lines_are_sorted_bytewise)
{
	struct report_fake fake;

	report_fake_init(&fake);
	report_fake_add(&fake, "brk", "b", "x", 1);
	report_fake_add(&fake, "brk", "B", "x", 1);
	report_fake_add(&fake, "brk", "\xc3\xa4", "x", 1);
	report_fake_add(&fake, "brk", "a", "x;y", 1);
	report_fake_add(&fake, "brk", "a", "x", 1);
	report_fake_add(&fake, "brk", "a", "", 1);
	MT_CHECK_STR(report_fake_write(&fake, &mt_output_folded, 0),
		     "B;x 1\na 1\na;x 1\na;x;y 1\nb;x 1\n\xc3\xa4;x 1\n");
	report_fake_deinit(&fake);
}

MT_TEST(stacks_that_have_outer_frames_in_common_keep_their_names)
{
	struct report_fake fake;

	report_fake_init(&fake);
	report_fake_add(&fake, "brk", "a", "0;1;2;3;4;5;6;7;8;9;x;y", 1);
	report_fake_add(&fake, "brk", "a", "0;1;2;3;4;5;6;7;8;9", 2);
	report_fake_add(&fake, "brk", "b", "0;1;2;3;4;5;6;7;8;9;x;z", 3);
	report_fake_add(&fake, "brk", "a", "0;f|g|h;1;x", 4);
	report_fake_add(&fake, "brk", "a", "0;f|g|h;1;y;f|g|h", 5);
	report_fake_add(&fake, "brk", "a", "0;f|g|h;1;y;f|g", 6);
	report_fake_add(&fake, "brk", "a", "", 7);
	report_fake_add(&fake, "brk", "a", "0;f|g|h;1;y;f|g;x", 8);
	MT_CHECK_STR(report_fake_write(&fake, &mt_output_folded, 0),
		     "a 7\n"
		     "a;0;1;2;3;4;5;6;7;8;9 2\n"
		     "a;0;1;2;3;4;5;6;7;8;9;x;y 1\n"
		     "a;0;h;g;f;1;x 4\n"
		     "a;0;h;g;f;1;y;g;f 6\n"
		     "a;0;h;g;f;1;y;g;f;x 8\n"
		     "a;0;h;g;f;1;y;h;g;f 5\n"
		     "b;0;1;2;3;4;5;6;7;8;9;x;z 3\n");
	report_fake_deinit(&fake);
}

MT_TEST(another_value_column_may_weigh)
{
	struct report_fake fake;

	report_fake_init(&fake);
	report_fake_add(&fake, "brk", "a", "x", 3);
	MT_CHECK_STR(report_fake_write(&fake, &mt_output_folded, 1), "a;x 30\n");
	report_fake_deinit(&fake);
}

MT_TEST(rows_of_no_weight_are_left_out_and_weights_rounded)
{
	struct report_fake fake;

	report_fake_init(&fake);
	report_fake_add(&fake, "brk", "a", "x", 0);
	report_fake_add(&fake, "brk", "a", "z", -5);
	report_fake_add(&fake, "brk", "a", "y", 2.5);
	report_fake_add(&fake, "brk", "a", "y", 0.25);
	MT_CHECK_STR(report_fake_write(&fake, &mt_output_folded, 0), "a;y 3\n");
	report_fake_deinit(&fake);
}

MT_TEST(each_frame_is_named_once)
{
	struct report_fake fake;

	report_fake_init(&fake);
	for (int i = 0; i < 10; i++)
		report_fake_add(&fake, i % 2 ? "brk" : "mmap", "a", "main;malloc", 1);
	report_fake_write(&fake, &mt_output_folded, 0);
	report_fake_write(&fake, &mt_output_summary, 0);
	MT_CHECK_EQ(fake.asked, 2);
	report_fake_deinit(&fake);
}

/*
 * The longest line of a text, in bytes. Lines from "NEXT" on are commands to copy and do not count.
 */
static size_t widest(const char *text)
{
	size_t most = 0;

	while (*text && strncmp(text, "NEXT", 4) != 0) {
		size_t length = strcspn(text, "\n");

		most = length > most ? length : most;
		text += length + (text[length] == '\n');
	}
	return most;
}

MT_TEST(a_summary_is_ascii_80_columns_wide_and_one_screen_long)
{
	struct report_fake fake;
	const char *text;
	char path[2000];
	size_t lines = 0;

	report_fake_init(&fake);
	fake.facts.samples = 1000;
	fake.recording.damage.cut_short = true;
	fake.recording.damage.skipped_bytes = 1 << 20;
	for (int i = 0; i < 40; i++) {
		int used = snprintf(path, sizeof(path), "_start;main");

		for (int k = 0; k < 30; k++)
			used += snprintf(path + used, sizeof(path) - (size_t)used,
					 ";std::vector<unsigned long>::level%d_%d", k,
					 k % 10 ? i : 0);
		report_fake_add(&fake, i % 3 ? "page-faults" : "brk", i % 4 ? "a long name" : "b",
				path, 40 - i);
	}
	text = report_fake_write(&fake, &mt_output_summary, 0);
	MT_REQUIRE(text);
	MT_CHECK(widest(text) <= 80);
	for (const char *at = text; *at; at++) {
		lines += *at == '\n';
		MT_CHECK(*at == '\n' || (*at >= ' ' && *at < 0x7f));
	}
	MT_CHECK(lines <= 50);
	MT_CHECK(strstr(text, "cut short") != NULL);
	report_fake_deinit(&fake);
}

MT_TEST(an_output_of_stacks_refuses_a_table_without)
{
	static const struct mt_key_column key = {"event", MT_KEY_STRING};
	struct mt_table shape = {.name = "listless", .keys = &key, .key_count = 1};
	struct mt_table *table = mt_sum_table_table(mt_sum_table_create(&shape));
	struct mt_view view = {.width = 80};

	MT_CHECK_ERR(mt_output_write(&mt_output_folded, &view, table, stdout), MT_ERR_USAGE);
	MT_CHECK_ERR(mt_output_write(&mt_output_script, &view, table, stdout), MT_ERR_USAGE);
	mt_table_destroy(table);
}

MT_TEST_MAIN
