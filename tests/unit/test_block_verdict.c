/* Verdicts on live blocks: shapes over hours, the same shapes cut short, and heaps. */
#include "report/verdicts/block_verdict.h"

#include <math.h>
#include <string.h>

#include "report/verdicts/history.h"
#include "report/verdicts/verdict.h"
#include "tests/unit/unit.h"

#define SECOND 1000000000ull
#define HOUR (3600 * SECOND)
#define START (1000 * SECOND)

enum {
	STEPS = 1000,
	SIZE = 100,
	FOREVER = STEPS,
};

/* The number of steps for which the block of a step lives; 0: the step has no block. */
typedef int (*shape)(int step);

static int leak(int step)
{
	(void)step;
	return FOREVER;
}

static int leaks_every_tenth(int step)
{
	return step % 10 ? 1 : FOREVER;
}

static int leaks_alongside_a_start(int step)
{
	return step < 100 ? FOREVER : leaks_every_tenth(step);
}

static int leaks_alongside_a_cache(int step)
{
	return step % 4 ? 300 : FOREVER;
}

/* Nine of ten sessions end: only old live blocks distinguish the leak from a cache. */
static int leaks_alongside_sessions(int step)
{
	return step % 10 ? 350 : FOREVER;
}

/* Each block is freed at once, until the leak begins. */
static int leaks_later(int step)
{
	return step < 350 ? 2 : FOREVER;
}

/* Every other block stays, but there are ever fewer blocks. */
static int leaks_half_ever_more_slowly(int step)
{
	if (step > 300 && step % (step > 650 ? 4 : 2))
		return 0;
	return step / 4 % 2 ? 3 : FOREVER;
}

static int first_in_first_out(int step)
{
	(void)step;
	return 200;
}

/* Full at the middle; then random blocks are replaced. */
static int replaced_at_random(int step)
{
	return step < 500 ? 500 - step + (step * 7919) % 1000 : 1 + (step * 7919) % 1000;
}

static int request(int step)
{
	return 1 + step % 3;
}

static int start(int step)
{
	return step < 40 ? FOREVER : 0;
}

static int start_among_requests(int step)
{
	return step < 40 ? FOREVER : 2;
}

static int warmed_up(int step)
{
	return step < 300 ? FOREVER : 0;
}

/* No block of the first half is freed, and memory grows in all of the last third: not yet full. */
static int fills_late(int step)
{
	return step < 400 ? 600 : FOREVER;
}

static struct mt_verdict observe(shape life, uint64_t length, double part)
{
	struct mt_history history = {0};
	struct mt_history_scale scale = {0};
	struct mt_verdict verdict;
	uint64_t step = length / STEPS;
	int steps = (int)(STEPS * part);

	mt_history_scale_reach(&scale, START);
	/* In the order of an account: freed blocks first, then live blocks. */
	for (int pass = 0; pass < 2; pass++) {
		for (int i = steps - 1; i >= 0; i--) {
			int end = i + life(i);
			bool lives = end >= steps;
			uint64_t from = START + (uint64_t)i * step;

			if (life(i) && lives == pass)
				mt_history_live(&history, &scale, from,
						lives ? 0 : START + (uint64_t)end * step, SIZE);
		}
	}
	mt_history_scale_reach(&scale, START + (uint64_t)steps * step);
	mt_verdict_judge_blocks(&history, &scale, START, START + (uint64_t)steps * step, &verdict);
	mt_history_deinit(&history);
	return verdict;
}

static const struct {
	shape life;
	const char *name;
	const char *in_seconds; /* verdict in the first 5 minutes; NULL: the same */
} shapes[] = {
	{.life = leak, .name = "leak", .in_seconds = "grows steadily"},
	{.life = leaks_every_tenth, .name = "leak"},
	{.life = leaks_alongside_a_start, .name = "leak"},
	{.life = leaks_alongside_a_cache, .name = "leak"},
	{.life = leaks_half_ever_more_slowly, .name = "leak", .in_seconds = "grows steadily"},
	{.life = first_in_first_out, .name = "bounded"},
	{.life = replaced_at_random, .name = "bounded"},
	{.life = request, .name = "bounded"},
	{.life = start, .name = "one-off"},
	{.life = start_among_requests, .name = "one-off"},
	{.life = warmed_up, .name = "plateau"},
	{.life = leaks_alongside_sessions, .name = "undecided"},
	{.life = leaks_later, .name = "undecided"},
};

MT_TEST(shapes_are_distinguished_whatever_their_scale)
{
	static const uint64_t lengths[] = {12 * SECOND, 60 * SECOND, 6 * HOUR, 1000 * HOUR};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		for (size_t k = 0; k < 4; k++) {
			struct mt_verdict verdict = observe(shapes[i].life, lengths[k], 1);

			MT_CHECK_STR(mt_verdict_name(verdict.kind), k < 2 && shapes[i].in_seconds
									    ? shapes[i].in_seconds
									    : shapes[i].name);
			MT_CHECK(verdict.kind == MT_VERDICT_TOO_LITTLE ||
				 (verdict.confidence > 0.3 && verdict.confidence < 1));
			MT_CHECK(verdict.live * SIZE == verdict.bytes);
		}
	}
}

MT_TEST(seconds_are_too_little_data)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		struct mt_verdict verdict = observe(shapes[i].life, 60 * SECOND, 0.1);

		MT_CHECK_EQ(verdict.kind, MT_VERDICT_TOO_LITTLE);
		MT_CHECK(isnan(verdict.per_second));
	}
}

MT_TEST(old_blocks_that_are_freed_are_no_leak)
{
	struct mt_verdict verdict = observe(fills_late, HOUR, 1);

	MT_CHECK(verdict.kind != MT_VERDICT_LEAK);
}

MT_TEST(a_leak_grows_by_what_stays)
{
	struct mt_verdict verdict = observe(leaks_every_tenth, HOUR, 1);
	double want = STEPS / 10.0 * SIZE / 3600;
	char text[300];

	MT_CHECK(fabs(verdict.per_second - want) < 0.05 * want);
	MT_CHECK(verdict.low <= verdict.per_second && verdict.per_second <= verdict.high);
	mt_verdict_grounds(&verdict, text, sizeof(text));
	MT_CHECK(strstr(text, "1,000 blocks, 101 live, 90 % freed"));
}

/* One block that each step replaces by a larger one; the old block is freed after the copy. */
static struct mt_verdict replace(int steps, int doublings, bool grows, char *text, size_t size)
{
	struct mt_history history = {0};
	struct mt_history_scale scale = {0};
	struct mt_verdict verdict;

	mt_history_scale_reach(&scale, START);
	for (int i = 0; i < steps; i++) {
		uint64_t step = 60 * SECOND / (uint64_t)steps;
		uint64_t from = START + (uint64_t)i * step;
		double bytes = SIZE * (grows ? doublings ? 1 << i : i + 1 : 1);
		bool last = i == steps - 1;

		mt_history_live(&history, &scale, from, last ? 0 : from + step + 1000, bytes);
		history.replaced += grows && !last;
	}
	mt_history_scale_reach(&scale, START + 60 * SECOND);
	mt_verdict_judge_blocks(&history, &scale, START, START + 60 * SECOND, &verdict);
	mt_verdict_grounds(&verdict, text, size);
	mt_history_deinit(&history);
	return verdict;
}

MT_TEST(a_block_that_larger_ones_replace_is_no_cache)
{
	struct mt_verdict verdict;
	char text[300];

	verdict = replace(900, 0, true, text, sizeof(text));
	MT_CHECK_STR(mt_verdict_name(verdict.kind), "grows steadily");
	MT_CHECK(fabs(verdict.per_second - 15.0 * SIZE) < 0.05 * 15.0 * SIZE);
	MT_CHECK_STR(text,
		     "60.00 s, 1 block, replaced 899 times by a larger one; record 5 minutes");
	verdict = replace(8, 1, true, text, sizeof(text));
	MT_CHECK_STR(mt_verdict_name(verdict.kind), "undecided");
	MT_CHECK_STR(text, "60.00 s, 1 block, replaced 7 times by a larger one; record 5 minutes");
	verdict = replace(900, 0, false, text, sizeof(text));
	MT_CHECK_STR(mt_verdict_name(verdict.kind), "bounded");
}

/* Doubles when it is full, after 1, 2, 4 .. and 32 s; flat in between. */
static struct mt_verdict fill(uint64_t seconds)
{
	struct mt_history history = {0};
	struct mt_history_scale scale = {0};
	struct mt_verdict verdict;

	mt_history_scale_reach(&scale, START);
	for (uint64_t part = 1; part <= 1 << 15; part *= 2) {
		uint64_t from = START + 32 * SECOND / (1 << 15) * part;
		bool last = part == 1 << 15;

		mt_history_live(&history, &scale, from, last ? 0 : 2 * from - START + 1000,
				SIZE * (double)part);
		history.replaced += !last;
	}
	mt_history_scale_reach(&scale, START + seconds * SECOND);
	mt_verdict_judge_blocks(&history, &scale, START, START + seconds * SECOND, &verdict);
	mt_history_deinit(&history);
	return verdict;
}

MT_TEST(a_block_that_doubles_is_no_plateau_before_the_next_one_was_due)
{
	MT_CHECK_STR(mt_verdict_name(fill(60).kind), "undecided");
	MT_CHECK_STR(mt_verdict_name(fill(110).kind), "plateau");
}

MT_TEST(a_block_that_is_resized_grows)
{
	struct mt_history history = {.resized = 940, .grown = 31, .grown_live = 31};
	struct mt_history_scale scale = {0};
	struct mt_verdict verdict;
	char text[300];

	mt_history_scale_reach(&scale, START);
	for (uint64_t i = 0; i < 32; i++)
		mt_history_live(&history, &scale, START + i * SECOND, 0, SIZE);
	mt_history_scale_reach(&scale, START + 32 * SECOND);
	mt_verdict_judge_blocks(&history, &scale, START, START + 32 * SECOND, &verdict);
	mt_history_deinit(&history);
	MT_CHECK_STR(mt_verdict_name(verdict.kind), "grows steadily");
	mt_verdict_grounds(&verdict, text, sizeof(text));
	MT_CHECK_STR(text, "32.00 s, 1 block, 1 live, resized 940 times, nothing freed so far; "
			   "record 5 minutes");
}

MT_TEST(less_than_all_is_never_called_100_percent)
{
	struct mt_verdict verdict = {.kind = MT_VERDICT_BOUNDED,
				     .of_blocks = true,
				     .seconds = 60,
				     .reservations = 5000000,
				     .live = 10870,
				     .given_back = 0.9978,
				     .survival = {0.002, 0.0022, 0.0024}};
	char text[300];

	mt_verdict_grounds(&verdict, text, sizeof(text));
	MT_CHECK(strstr(text, "10,870 live, 99.8 % freed"));
	verdict.given_back = 1 - 1e-7;
	mt_verdict_grounds(&verdict, text, sizeof(text));
	MT_CHECK(strstr(text, ", over 99.99 % freed"));
	verdict.survival[0] = verdict.survival[1] = 0;
	verdict.survival[2] = 0.5;
	mt_verdict_grounds(&verdict, text, sizeof(text));
	MT_CHECK(strstr(text, ", 100 % of the oldest third freed, 100 % of the middle, 50 % of"));
}

MT_TEST(a_leak_of_a_part_shows_what_is_freed)
{
	struct mt_verdict verdict = observe(leaks_half_ever_more_slowly, 40 * SECOND, 1);
	char text[300];

	mt_verdict_grounds(&verdict, text, sizeof(text));
	MT_CHECK(strstr(text, " % freed"));
	MT_CHECK(!strstr(text, "slows down"));
	verdict = observe(leaks_alongside_sessions, HOUR, 1); /* undecided */
	mt_verdict_grounds(&verdict, text, sizeof(text));
	MT_CHECK(strstr(text, " % of the oldest third freed"));
}

MT_TEST(few_blocks_are_too_few)
{
	struct mt_history history = {0};
	struct mt_history_scale scale = {0};
	struct mt_verdict verdict;

	mt_history_scale_reach(&scale, START);
	for (uint64_t i = 0; i < 6; i++)
		mt_history_live(&history, &scale, START + i * HOUR, 0, SIZE);
	mt_verdict_judge_blocks(&history, &scale, START, START + 6 * HOUR, &verdict);
	mt_history_deinit(&history);
	MT_CHECK_EQ(verdict.kind, MT_VERDICT_TOO_LITTLE);
	MT_CHECK_STR(verdict.why, "fewer than 12 blocks");
}

MT_TEST(ends_are_taken_back)
{
	struct mt_history history = {0};
	struct mt_history_scale scale = {0};

	mt_history_scale_reach(&scale, START);
	for (uint64_t i = 0; i < 20; i++)
		mt_history_live(&history, &scale, START + i * SECOND, START + 30 * SECOND, SIZE);
	mt_history_level(&history);
	MT_CHECK_EQ(history.held, 0);
	MT_CHECK_EQ(history.peak, 20 * SIZE);
	MT_CHECK_EQ(history.falls, 1);
	for (uint64_t i = 0; i < 20; i++)
		mt_history_undo_end(&history, &scale, START + i * SECOND, START + 30 * SECOND,
				    SIZE);
	mt_history_level(&history);
	MT_CHECK_EQ(history.held, 20 * SIZE);
	MT_CHECK_EQ(history.falls, 0);
	mt_history_deinit(&history);
}

MT_TEST(heaps_are_reported_by_their_parts)
{
	struct mt_heap_parts heap = {.mapped = 10e6, .live = 3e6, .untouched = 1e6, .blocks = 1234};
	struct mt_verdict verdict;
	char text[200];

	MT_CHECK_EQ(mt_heap_free(&heap), 6e6);
	mt_verdict_judge_heap(&heap, &verdict);
	MT_CHECK_STR(mt_verdict_name(verdict.kind), "arena retention");
	mt_heap_grounds(&heap, text, sizeof(text));
	MT_CHECK_STR(text, "10.0 MB mapped by the allocator, of which 3.0 MB hold 1,234 live "
			   "blocks, those of other rows included; 6.0 MB free, 1.0 MB untouched");
	heap.live = 7e6;
	heap.untouched = NAN;
	MT_CHECK_EQ(mt_heap_free(&heap), 3e6);
	mt_verdict_judge_heap(&heap, &verdict);
	MT_CHECK_STR(mt_verdict_name(verdict.kind), "in use");
	heap.live = 11e6;
	MT_CHECK_EQ(mt_heap_free(&heap), 0);
	heap = (struct mt_heap_parts){.mapped = 9e6, .live = 4e6, .older = 4.5e6, .blocks = 200};
	mt_verdict_judge_heap(&heap, &verdict);
	MT_CHECK_STR(mt_verdict_name(verdict.kind), "in use"); /* as older blocks may be */
	mt_heap_grounds(&heap, text, sizeof(text));
	MT_CHECK_STR(
		text,
		"9.0 MB mapped by the allocator, of which 4.0 MB hold 200 live blocks, "
		"those of other rows included; 5.0 MB free or allocated before, 0 B untouched");
	heap = (struct mt_heap_parts){.mapped = 200e3, .live = 80e3};
	mt_verdict_judge_heap(&heap, &verdict);
	MT_CHECK_STR(mt_verdict_name(verdict.kind), "in use"); /* glibc keeps this on purpose */
}

MT_TEST_MAIN
