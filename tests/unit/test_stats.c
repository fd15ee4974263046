/* record/cli/stats: the summary of a recording, in readable figures. */
#include "record/cli/stats.h"

#include "tests/unit/unit.h"

MT_TEST(the_status_line_has_time_samples_losses_file_and_memory)
{
	struct mt_progress progress = {.seconds = 12.6,
				       .samples = 60412,
				       .lost = 0,
				       .written = 1234567,
				       .memory = 348300000};
	char line[MT_LINE_SIZE];

	mt_status_line(&progress, line);
	MT_CHECK_STR(line, "13 s, 60,412 samples, 0 lost, file 1.2 MB, resident 348.3 MB");
	progress.of_host = true;
	mt_status_line(&progress, line);
	MT_CHECK_STR(line, "13 s, 60,412 samples, 0 lost, file 1.2 MB, host available 348.3 MB");
}

MT_TEST(what_is_unknown_is_left_out)
{
	const struct mt_progress progress = {.samples = 1000000, .lost = 999};
	char line[MT_LINE_SIZE];

	mt_status_line(&progress, line);
	MT_CHECK_STR(line, "0 s, 1,000,000 samples, 999 lost");
}

MT_TEST(the_closing_line_says_what_became_of_the_stacks)
{
	const struct mt_progress progress = {.seconds = 12.634,
					     .samples = 60412,
					     .lost = 3,
					     .raw_bytes = 12511100000,
					     .written = 113000000};
	char line[MT_LINE_SIZE];

	mt_closing_line(&progress, line);
	MT_CHECK_STR(line, "12.63 s, 60,412 samples, stacks 12.5 GB -> file 113.0 MB, 3 lost");
}

MT_TEST(bytes_have_the_unit_that_keeps_them_short)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} all[] = {{999, "file 999 B"},
		   {1000, "file 1.0 kB"},
		   {999949, "file 999.9 kB"},
		   {999950, "file 1.0 MB"},
		   {UINT64_MAX, "file 18.4 EB"}};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const struct mt_progress progress = {.written = all[i].bytes};
		char line[MT_LINE_SIZE];

		mt_status_line(&progress, line);
		MT_CHECK_STR(strstr(line, "file"), all[i].text);
	}
}

MT_TEST_MAIN
