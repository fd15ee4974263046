/* report/session/match and report/session/timespan: selectors of the command line. */
#include "report/session/match.h"
#include "report/session/timespan.h"
#include "tests/unit/unit.h"

MT_TEST(words_match_whole_texts)
{
	struct mt_match *match = NULL;

	MT_CHECK(mt_match_text(NULL, "anything"));
	MT_CHECK_OK(mt_match_add("--comm", "bash,python3", &match));
	MT_CHECK(mt_match_text(match, "bash"));
	MT_CHECK(mt_match_text(match, "python3"));
	MT_CHECK(!mt_match_text(match, "python"));
	MT_CHECK(!mt_match_text(match, "bash,python3"));
	MT_CHECK_EQ(mt_match_words(match), 2);
	mt_match_destroy(match);
}

MT_TEST(expressions_are_between_slashes_and_may_have_commas)
{
	struct mt_match *match = NULL;

	MT_CHECK_OK(mt_match_add("--comm", "/^kworker.{2,5}$/", &match));
	MT_CHECK(mt_match_text(match, "kworker/0:1"));
	MT_CHECK(!mt_match_text(match, "kworker"));
	MT_CHECK_OK(mt_match_add("--comm", "bash", &match));
	MT_CHECK(mt_match_text(match, "bash"));
	MT_CHECK(mt_match_text(match, "kworker/0:1"));
	mt_match_destroy(match);
}

MT_TEST(an_option_that_takes_expressions_alone_needs_no_slashes)
{
	struct mt_match *match = NULL;

	MT_CHECK_OK(mt_match_add_expression("--ours", "^libcache\\.so", &match));
	MT_CHECK_OK(mt_match_add_expression("--ours", "/a,b/", &match));
	MT_CHECK(mt_match_text(match, "libcache.so.1"));
	MT_CHECK(mt_match_text(match, "a,b"));
	MT_CHECK(!mt_match_text(match, "libcached"));
	mt_match_destroy(match);
}

MT_TEST(bad_selectors_are_usage_errors)
{
	struct mt_match *match = NULL;
	struct mt_numbers numbers = {0};

	MT_CHECK_ERR(mt_match_add("--comm", "/(/", &match), MT_ERR_USAGE);
	MT_CHECK_ERR(mt_match_add_expression("--ours", "(", &match), MT_ERR_USAGE);
	MT_CHECK_ERR(mt_match_add_expression("--ours", "", &match), MT_ERR_USAGE);
	MT_CHECK_ERR(mt_match_add("--comm", "", &match), MT_ERR_USAGE);
	MT_CHECK_ERR(mt_match_add("--comm", ",,", &match), MT_ERR_USAGE);
	MT_CHECK_ERR(mt_numbers_add("--pid", "12a", &numbers), MT_ERR_USAGE);
	MT_CHECK_ERR(mt_numbers_add("--pid", "", &numbers), MT_ERR_USAGE);
	MT_CHECK_ERR(mt_numbers_add("--pid", "-1", &numbers), MT_ERR_USAGE);
	MT_CHECK_ERR(mt_numbers_add("--pid", "99999999999999999999", &numbers), MT_ERR_USAGE);
	mt_numbers_deinit(&numbers);
	mt_match_destroy(match);
}

MT_TEST(number_lists_select)
{
	struct mt_numbers numbers = {0};

	MT_CHECK(mt_numbers_match(&numbers, 5));
	MT_CHECK_OK(mt_numbers_add("--pid", "5,77", &numbers));
	MT_CHECK(mt_numbers_match(&numbers, 77));
	MT_CHECK(!mt_numbers_match(&numbers, 7));
	mt_numbers_deinit(&numbers);
}

/* The span as moments of a recording from 1000 s to 1010 s, in ns after its start. */
static bool spans(const char *text, long long want_from, long long want_to)
{
	const uint64_t start = 1000000000000, end = 1010000000000;
	struct mt_timespan span = {0};
	uint64_t from, to;

	if (!MT_CHECK_OK(mt_timespan_parse("--time", text, &span)))
		return false;
	mt_timespan_apply(&span, start, end, &from, &to);
	return MT_CHECK_EQ(from ? from - start : 0, want_from) &&
	       MT_CHECK_EQ(to == UINT64_MAX ? -1 : (long long)(to - start), want_to);
}

MT_TEST(spans_are_seconds_since_the_start)
{
	spans("1.5,4", 1500000000, 4000000000);
	spans(",4", 0, 4000000000);
	spans("2,", 2000000000, -1);
	spans("500ms,2s", 500000000, 2000000000);
	spans(",", 0, -1);
}

MT_TEST(spans_may_be_parts_of_the_whole)
{
	spans("10%-20%", 1000000000, 2000000000);
	spans("50%-", 5000000000, -1);
	spans("-50%", 0, 5000000000);
	spans("10%/2", 1000000000, 2000000000);
	spans("50%/2", 5000000000, -1);
	spans("0%-100%", 0, -1);
}

MT_TEST(bad_spans_are_usage_errors)
{
	static const char *const bad[] = {"",	   "5",		"a,b",	 "5,1",	 "1,1",
					  "1,2,3", "20%-10%",	"10%",	 "-5,3", "10%/0",
					  "60%/3", "110%-120%", "nan,5", "1,inf"};
	struct mt_timespan span = {0};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		MT_CHECK_ERR(mt_timespan_parse("--time", bad[i], &span), MT_ERR_USAGE);
	MT_CHECK(!span.given);
}

MT_TEST_MAIN
