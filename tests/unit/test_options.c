/* report/cli/options: the words of mtreport's command line. */
#include "report/cli/options.h"

#include <stdlib.h>

#include "report/analyses/analyses.h"
#include "report/cli/registry.h"
#include "report/outputs/outputs.h"
#include "tests/unit/unit.h"
#include "unwind/unwind.h"

#define PARSE(options, ...)                                                            \
	mt_report_options_parse(                                                       \
		(int)(sizeof((char *[]){"mtreport", ##__VA_ARGS__}) / sizeof(char *)), \
		(char *[]){"mtreport", ##__VA_ARGS__}, (options))

MT_TEST(without_words_it_summarizes_the_samples_of_mtrec_mtr)
{
	struct mt_report_options o;

	MT_REQUIRE(MT_CHECK_OK(PARSE(&o)));
	MT_CHECK(o.analysis == &mt_analysis_samples);
	MT_CHECK(o.output == &mt_output_summary);
	MT_CHECK_EQ(o.file_count, 1);
	MT_CHECK_STR(o.files[0], "mtrec.mtr");
	MT_CHECK(o.unwind == mt_unwind_methods);
	MT_CHECK(!mt_selection_given(&o.selection));
	mt_report_options_deinit(&o);
}

MT_TEST(values_are_after_an_equals_sign_a_blank_or_the_letter)
{
	struct mt_report_options o;

	MT_REQUIRE(
		MT_CHECK_OK(PARSE(&o, "--comm=a,b", "-ebrk", "-e", "mmap", "--pid", "5", "--tid=6",
				  "-C0,1", "a.mtr", "--folded", "-i", "b.mtr", "--", "-c.mtr")));
	MT_CHECK(mt_match_text(o.selection.comms, "b"));
	MT_CHECK(mt_match_text(o.selection.events, "brk") &&
		 mt_match_text(o.selection.events, "mmap"));
	MT_CHECK(mt_numbers_match(&o.selection.pids, 5) && !mt_numbers_match(&o.selection.pids, 6));
	MT_CHECK(mt_numbers_match(&o.selection.cpus, 1) && !mt_numbers_match(&o.selection.cpus, 2));
	MT_CHECK(o.output == &mt_output_folded);
	MT_CHECK_EQ(o.file_count, 3);
	MT_CHECK_STR(o.files[0], "a.mtr");
	MT_CHECK_STR(o.files[1], "b.mtr");
	MT_CHECK_STR(o.files[2], "-c.mtr");
	mt_report_options_deinit(&o);
}

MT_TEST(long_names_may_be_shortened_and_perfs_names_do)
{
	struct mt_report_options o;

	MT_REQUIRE(MT_CHECK_OK(
		PARSE(&o, "--fold", "--comms", "a", "--dsos=b", "--symbols", "c", "--max=5")));
	MT_CHECK(o.output == &mt_output_folded);
	MT_CHECK(o.selection.comms && o.selection.dsos && o.selection.symbols);
	MT_CHECK_EQ(o.max_stack, 5);
	mt_report_options_deinit(&o);
}

MT_TEST(strict_takes_a_percentage_or_none)
{
	struct mt_report_options o;

	MT_REQUIRE(MT_CHECK_OK(PARSE(&o, "--strict", "x.mtr")));
	MT_CHECK(o.strict && o.strict_percent == 1);
	MT_CHECK_STR(o.files[0], "x.mtr");
	mt_report_options_deinit(&o);
	MT_REQUIRE(MT_CHECK_OK(PARSE(&o, "--strict=0.5%")));
	MT_CHECK(o.strict && o.strict_percent == 0.5);
	mt_report_options_deinit(&o);
}

MT_TEST(help_and_version_ask_for_nothing_else)
{
	struct mt_report_options o;

	MT_REQUIRE(MT_CHECK_OK(PARSE(&o, "--help", "--nonsense")));
	MT_CHECK_EQ(o.help, MT_HELP_BRIEF);
	mt_report_options_deinit(&o);
	MT_REQUIRE(MT_CHECK_OK(PARSE(&o, "-h", "all")));
	MT_CHECK_EQ(o.help, MT_HELP_ALL);
	mt_report_options_deinit(&o);
	MT_REQUIRE(MT_CHECK_OK(PARSE(&o, "--help=all")));
	MT_CHECK_EQ(o.help, MT_HELP_ALL);
	mt_report_options_deinit(&o);
	MT_REQUIRE(MT_CHECK_OK(PARSE(&o, "-V")));
	MT_CHECK(o.version);
	mt_report_options_deinit(&o);
}

MT_TEST(wrong_words_are_usage_errors)
{
	struct mt_report_options o;

	MT_CHECK_ERR(PARSE(&o, "--nonsense"), MT_ERR_USAGE);
	MT_CHECK_ERR(PARSE(&o, "-x"), MT_ERR_USAGE);
	MT_CHECK_ERR(PARSE(&o, "--comm"), MT_ERR_USAGE);
	MT_CHECK_ERR(PARSE(&o, "-e"), MT_ERR_USAGE);
	MT_CHECK_ERR(PARSE(&o, "--folded=yes"), MT_ERR_USAGE);
	MT_CHECK_ERR(PARSE(&o, "--quiet=yes"), MT_ERR_USAGE);
	MT_CHECK_ERR(PARSE(&o, "--folded", "--script"), MT_ERR_USAGE);
	MT_CHECK_ERR(PARSE(&o, "--unwind", "magic"), MT_ERR_USAGE);
	MT_CHECK_ERR(PARSE(&o, "--max-stack", "0"), MT_ERR_USAGE);
	MT_CHECK_ERR(PARSE(&o, "--max-stack", "1e3"), MT_ERR_USAGE);
	MT_CHECK_ERR(PARSE(&o, "--strict=many"), MT_ERR_USAGE);
	MT_CHECK_ERR(PARSE(&o, "--time", "5"), MT_ERR_USAGE);
	MT_CHECK_ERR(PARSE(&o, "--s"), MT_ERR_USAGE);
	MT_CHECK_ERR(PARSE(&o, "-o", ""), MT_ERR_USAGE);
}

MT_TEST(unknown_names_are_answered_with_the_known_ones)
{
	struct mt_report_options o;
	struct mt_error *err = PARSE(&o, "--flaem");

	MT_REQUIRE(err);
	MT_CHECK(err->hint && strstr(err->hint, "--samples") && strstr(err->hint, "--folded"));
	mt_error_destroy(err);
	err = PARSE(&o, "--unwind=x");
	MT_REQUIRE(err);
	MT_CHECK(err->hint && strstr(err->hint, "dwarf"));
	mt_error_destroy(err);
}

/* --help as text. Lines that are too long or end in a blank are printed and fail the test. */
static char *help_text(enum mt_help which, size_t *lines)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	mt_report_options_help(which, to);
	fclose(to);
	*lines = 0;
	for (const char *at = text; *at; at += strcspn(at, "\n") + 1, ++*lines) {
		size_t length = strcspn(at, "\n");

		if (length > 80 || (length && at[length - 1] == ' '))
			printf("# %.*s\n", (int)length, at);
		MT_CHECK(length <= 80);
		MT_CHECK(!length || at[length - 1] != ' ');
	}
	return text;
}

MT_TEST(help_is_two_screens_of_what_is_most_used)
{
	size_t lines;
	char *text = help_text(MT_HELP_BRIEF, &lines);

	MT_CHECK(lines <= 48);
	MT_CHECK(strstr(text, "--growth") && strstr(text, "--folded") && strstr(text, "--top N"));
	MT_CHECK(!strstr(text, "--callgrind") && !strstr(text, "--max-stack"));
	free(text);
}

MT_TEST(help_all_names_everything)
{
	size_t lines;
	char *text = help_text(MT_HELP_ALL, &lines);

	for (size_t i = 0; mt_analyses[i]; i++)
		MT_CHECK(strstr(text, mt_analyses[i]->name));
	for (size_t i = 0; mt_outputs[i]; i++)
		MT_CHECK(strstr(text, mt_outputs[i]->name));
	MT_CHECK(strstr(text, "--max-stack") && strstr(text, "Exit status:"));
	free(text);
}

MT_TEST(perfs_options_are_done_or_accepted)
{
	struct mt_report_options o;

	MT_REQUIRE(MT_CHECK_OK(PARSE(&o, "report", "--sort", "comm,dso,symbol", "--stdio", "-g",
				     "-n", "--no-children", "--header", "--percent-limit", "5",
				     "-i", "a.mtr")));
	MT_CHECK(o.output == &mt_output_paths);
	MT_CHECK(mt_by_has(&o.wishes.by, MT_BY_COMM) && mt_by_has(&o.wishes.by, MT_BY_IMAGE) &&
		 mt_by_has(&o.wishes.by, MT_BY_STACK));
	MT_CHECK(o.wishes.limit.percent == 5);
	mt_report_options_deinit(&o);

	MT_REQUIRE(MT_CHECK_OK(PARSE(&o, "script", "-ggraph,0.5,caller", "-n", "a.mtr")));
	MT_CHECK(o.output == &mt_output_script);
	MT_CHECK_EQ(o.file_count, 1);
	mt_report_options_deinit(&o);

	MT_REQUIRE(MT_CHECK_OK(PARSE(&o, "-s", "pid", "-I")));
	MT_CHECK(o.output == &mt_output_info);
	mt_report_options_deinit(&o);
}

MT_TEST(perfs_options_without_a_meaning_here_say_what_to_use)
{
	struct mt_report_options o;

	MT_CHECK_ERR(PARSE(&o, "-F", "comm,ip"), MT_ERR_USAGE);
	MT_CHECK_ERR(PARSE(&o, "--children"), MT_ERR_USAGE);
	MT_CHECK_ERR(PARSE(&o, "--sort", "comm,srcline"), MT_ERR_USAGE);
	MT_CHECK_ERR(PARSE(&o, "--percent-limit", "101"), MT_ERR_USAGE);
	MT_CHECK_ERR(PARSE(&o, "-I", "--folded"), MT_ERR_USAGE);
}

MT_TEST_MAIN
