/* formats/reading/recording: a recording that is read while it is written. */
#include "formats/reader.h"
#include "formats/reading/input.h"
#include "tests/unit/mt_builder.h"
#include "tests/unit/unit.h"

#define TIMES(...) ((const uint64_t[]){__VA_ARGS__, 0})

/* A recording in a file, and its reader. */
struct growing {
	struct mt_builder b;
	struct mt_input input;
	struct mt_reader *reader;
	struct mt_reader_news news;
};

static void growing_init(struct growing *g)
{
	struct mt_reader_options options = {.growing = &g->input};

	*g = (struct growing){0};
	mt_builder_init(&g->b);
	mt_builder_head_begin(&g->b);
	mt_builder_add(&g->b, MT_CODEC_STORED);
	MT_REQUIRE(!mt_input_open_growing(mt_builder_file(&g->b), &g->input));
	MT_REQUIRE(!mt_reader_open("growing", &options, &g->reader));
}

static void growing_deinit(struct growing *g)
{
	mt_reader_destroy(g->reader);
	mt_input_deinit(&g->input);
	mt_builder_deinit(&g->b);
}

/* Lets the reader see the bytes that the builder has added. */
static struct mt_error *advance(struct growing *g)
{
	const char *path = mt_builder_file(&g->b);
	bool ended;
	struct mt_error *err = mt_input_grow(&g->input, path, &ended);

	return err ? err : mt_reader_advance(g->reader, &g->news);
}

/* The times of the complete records, without HEAD. */
static const char *times(struct growing *g, char out[256])
{
	struct mt_record record;
	bool more = true;

	*out = '\0';
	while (!mt_reader_next(g->reader, &record, &more) && more) {
		if (record.type == MT_RECORD_KERNEL)
			snprintf(out + strlen(out), 32, "%llu ", (unsigned long long)record.time);
	}
	return out;
}

MT_TEST(records_below_the_last_mark_are_given)
{
	struct growing g;
	char text[256];

	growing_init(&g);
	MT_CHECK_STR(times(&g, text), "");
	mt_builder_data(&g.b, 0, TIMES(10, 30));
	MT_CHECK_OK(advance(&g));
	MT_CHECK(g.news.whole && !g.news.earlier && !g.news.complete);
	MT_CHECK_STR(times(&g, text), "");
	mt_builder_data(&g.b, 1, TIMES(20, 40));
	mt_builder_mark(&g.b, 40);
	MT_CHECK_OK(advance(&g));
	MT_CHECK_STR(times(&g, text), "10 20 30 ");
	MT_CHECK_OK(advance(&g));
	MT_CHECK(!g.news.whole);
	mt_builder_data(&g.b, 0, TIMES(50));
	MT_CHECK_OK(advance(&g));
	MT_CHECK_STR(times(&g, text), "");
	mt_reader_finish(g.reader);
	MT_CHECK_STR(times(&g, text), "40 50 ");
	growing_deinit(&g);
}

MT_TEST(a_late_chunk_says_so)
{
	struct growing g;
	char text[256];

	growing_init(&g);
	mt_builder_data(&g.b, 0, TIMES(10, 30));
	mt_builder_mark(&g.b, 40);
	MT_CHECK_OK(advance(&g));
	MT_CHECK_STR(times(&g, text), "10 30 ");
	mt_builder_data(&g.b, 1, TIMES(20));
	MT_CHECK_OK(advance(&g));
	MT_CHECK(g.news.earlier);
	growing_deinit(&g);
}

MT_TEST(half_a_chunk_is_waited_for)
{
	struct growing g;
	size_t whole;

	growing_init(&g);
	mt_builder_end(&g.b);
	whole = g.b.size--;
	MT_CHECK_OK(advance(&g));
	MT_CHECK(!g.news.whole && !g.news.complete);
	g.b.size = whole;
	MT_CHECK_OK(advance(&g));
	MT_CHECK(g.news.whole && g.news.complete);
	growing_deinit(&g);
}

MT_TEST(what_is_no_chunk_and_a_shorter_file_are_errors)
{
	struct growing g;
	struct mt_error *err;

	growing_init(&g);
	mt_builder_mark(&g.b, 40);
	g.b.bytes[g.b.size - 100] ^= 1;
	err = advance(&g);
	MT_REQUIRE(err);
	MT_CHECK(!strncmp(err->message, "growing: no chunk begins at byte ", 33));
	mt_error_destroy(err);
	g.b.size = 10;
	err = advance(&g);
	MT_REQUIRE(err);
	MT_CHECK_STR(err->message, "was truncated while it was read");
	mt_error_destroy(err);
	growing_deinit(&g);
}

MT_TEST_MAIN
