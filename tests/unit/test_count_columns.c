/*
 * record/counts/count_columns: a count in the formats of perf stat, in columns and with a
 * separator.
 */
#include "record/counts/count_columns.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "record/plan/plan.h"
#include "tests/unit/unit.h"

/* The line of one count; the caller frees it. */
static char *line_of(const struct mt_count_style *style, const struct mt_planned_event *event,
		     const struct mt_count *count)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	mt_count_print(style, 1.000300361, event, count, out);
	fclose(out);
	return text;
}

/* Checks both formats for an interval: columns, and fields between commas. */
#define CHECK_LINES(event, count, columns, fields)                                             \
	do {                                                                                   \
		char *one = line_of(&(struct mt_count_style){.interval = true}, event, count); \
		char *other = line_of(&(struct mt_count_style){",", true}, event, count);      \
		MT_CHECK_STR(one, columns "\n");                                               \
		MT_CHECK_STR(other, fields "\n");                                              \
		free(one);                                                                     \
		free(other);                                                                   \
	} while (0)

static const struct mt_planned_event faults = {.alias = (char *)"page-faults",
					       .attr = {.type = PERF_TYPE_SOFTWARE,
							.config = PERF_COUNT_SW_PAGE_FAULTS}};

MT_TEST(a_count_is_printed_with_its_time_name_and_how_long_it_ran)
{
	const struct mt_count count = {3203, 601009306, 601009306};

	CHECK_LINES(&faults, &count, "     1.000300361               3203      page-faults",
		    "     1.000300361,3203,,page-faults,601009306,100.00,,");
}

MT_TEST(without_an_interval_there_is_no_time)
{
	const struct mt_count count = {7, 1, 1};
	char *text = line_of(&(struct mt_count_style){.separator = ","}, &faults, &count);

	MT_CHECK_STR(text, "7,,page-faults,1,100.00,,\n");
	free(text);
}

MT_TEST(clocks_are_in_milliseconds)
{
	const struct mt_planned_event clock = {.alias = (char *)"cpu-clock",
					       .attr = {.type = PERF_TYPE_SOFTWARE,
							.config = PERF_COUNT_SW_CPU_CLOCK}};
	const struct mt_count count = {601010007, 601010007, 601010007};

	CHECK_LINES(&clock, &count, "     1.000300361             601.01 msec cpu-clock",
		    "     1.000300361,601.01,msec,cpu-clock,601010007,100.00,,");
}

MT_TEST(a_counter_that_shared_its_register_is_scaled_and_says_so)
{
	const struct mt_count count = {1000, 400, 100};

	CHECK_LINES(&faults, &count,
		    "     1.000300361               4000      page-faults  (25.00%)",
		    "     1.000300361,4000,,page-faults,100,25.00,,");
}

MT_TEST(what_never_ran_is_not_counted_and_what_cannot_be_opened_is_not_supported)
{
	const struct mt_count never = {0, 500, 0}, none = {0};
	struct mt_planned_event cycles = {.alias = (char *)"cycles", .left_out = true};

	CHECK_LINES(&faults, &never, "     1.000300361      <not counted>      page-faults",
		    "     1.000300361,<not counted>,,page-faults,0,0.00,,");
	CHECK_LINES(&cycles, &none, "     1.000300361    <not supported>      cycles",
		    "     1.000300361,<not supported>,,cycles,0,100.00,,");
}

MT_TEST(an_interval_has_what_came_since_the_last_reading)
{
	const struct mt_count before = {10, 100, 90}, now = {15, 160, 120};
	struct mt_count since = mt_count_since(&before, &now);

	MT_CHECK_EQ(since.value, 5);
	MT_CHECK_EQ(since.enabled, 60);
	MT_CHECK_EQ(since.running, 30);
	since = mt_count_since(&now, &before);
	MT_CHECK(!since.value && !since.enabled && !since.running);
}

MT_TEST_MAIN
