/* Verdicts on histories of memory: shapes over hours, the same shapes cut short, and noise. */
#include "report/verdicts/verdict.h"

#include <math.h>
#include <string.h>

#include "report/verdicts/history.h"
#include "tests/unit/unit.h"

#define SECOND 1000000000ull
#define HOUR (3600 * SECOND)
#define START (1000 * SECOND)

struct program {
	struct mt_history history;
	struct mt_history_scale scale;
	uint64_t times[4096]; /* of pieces, oldest first */
	size_t from, to;
};

enum {
	PIECE = 1 << 20,
};

static void reserve(struct program *p, uint64_t time)
{
	p->times[p->to++ % 4096] = time;
	mt_history_reserve(&p->history, &p->scale, time, PIECE);
}

static void give_back(struct program *p, uint64_t time)
{
	mt_history_return(&p->history, &p->scale, time, p->times[p->from++ % 4096], PIECE);
}

static struct mt_verdict judge(struct program *p, uint64_t end)
{
	struct mt_verdict verdict;

	mt_history_scale_reach(&p->scale, end);
	mt_verdict_judge(&p->history, &p->scale, end, &verdict);
	mt_history_deinit(&p->history);
	return verdict;
}

/* A shape of 600 steps that take `length` in all; only the first `part` is observed. */
static struct mt_verdict observe(void (*step)(struct program *, int, uint64_t), uint64_t length,
				 double part)
{
	static struct program program;

	program = (struct program){0};
	for (int i = 0; i < (int)(600 * part); i++)
		step(&program, i, START + length / 600 * (uint64_t)i);
	return judge(&program, START + (uint64_t)((double)length * part));
}

static void leak(struct program *p, int i, uint64_t time)
{
	(void)i;
	reserve(p, time);
}

/* Two of three pieces are freed. */
static void leak_among_others(struct program *p, int i, uint64_t time)
{
	reserve(p, time);
	if (i % 3) {
		p->to--;
		mt_history_return(&p->history, &p->scale, time + 1000, time, PIECE);
	}
}

static void leak_after_a_start(struct program *p, int i, uint64_t time)
{
	for (int k = 0; k < (i ? 1 : 500); k++)
		reserve(p, time);
}

static void sawtooth(struct program *p, int i, uint64_t time)
{
	reserve(p, time);
	while (i % 50 == 49 && p->from < p->to)
		give_back(p, time);
}

static void leak_below_teeth(struct program *p, int i, uint64_t time)
{
	reserve(p, time);
	while (i % 46 == 45 && p->to - p->from > (size_t)i / 10)
		mt_history_return(&p->history, &p->scale, time, p->times[--p->to % 4096], PIECE);
}

static void plateau(struct program *p, int i, uint64_t time)
{
	if (i < 150)
		reserve(p, time);
}

/* A full cache replaces its oldest piece. */
static void full_cache(struct program *p, int i, uint64_t time)
{
	reserve(p, time);
	if (i >= 150)
		give_back(p, time);
}

/* Full after half of the time; then random pieces are freed, old and young alike. */
static void used_cache(struct program *p, int i, uint64_t time)
{
	uint64_t *any, given;

	reserve(p, time);
	if (i < 300)
		return;
	any = &p->times[p->from + p->to * 7919 % (p->to - p->from)];
	given = *any;
	*any = p->times[p->from];
	p->times[p->from] = given;
	give_back(p, time);
}

static void warming(struct program *p, int i, uint64_t time)
{
	while ((double)p->to < 400 * (1 - exp(-(i + 1) / 150.0)))
		reserve(p, time);
}

static void one_off(struct program *p, int i, uint64_t time)
{
	if (i < 3)
		reserve(p, time);
}

static void once(struct program *p, int i, uint64_t time)
{
	if (!i)
		reserve(p, time);
}

static const struct shape {
	void (*step)(struct program *, int, uint64_t);
	const char *name;
	const char *in_seconds; /* verdict in the first 5 minutes; NULL: the same */
} shapes[] = {
	{.step = leak, .name = "leak", .in_seconds = "grows steadily"},
	{.step = leak_among_others, .name = "leak"},
	{.step = leak_after_a_start, .name = "leak", .in_seconds = "grows steadily"},
	{.step = leak_below_teeth, .name = "leak"},
	{.step = sawtooth, .name = "sawtooth"},
	{.step = plateau, .name = "plateau"},
	{.step = full_cache, .name = "plateau"},
	{.step = used_cache, .name = "plateau"},
	{.step = warming, .name = "plateau"},
	{.step = one_off, .name = "one-off"},
	{.step = once, .name = "one-off"},
};

MT_TEST(shapes_are_distinguished_whatever_their_scale)
{
	static const uint64_t lengths[] = {12 * SECOND, 60 * SECOND, 6 * HOUR, 1000 * HOUR};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		for (size_t k = 0; k < 4; k++) {
			struct mt_verdict verdict = observe(shapes[i].step, lengths[k], 1);

			MT_CHECK_STR(mt_verdict_name(verdict.kind), k < 2 && shapes[i].in_seconds
									    ? shapes[i].in_seconds
									    : shapes[i].name);
			MT_CHECK(verdict.confidence > 0.4 && verdict.confidence < 1);
			MT_CHECK(verdict.low <= verdict.per_second &&
				 verdict.per_second <= verdict.high);
		}
	}
}

MT_TEST(seconds_are_too_little_data)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		struct mt_verdict verdict = observe(shapes[i].step, 60 * SECOND, 0.1);
		char grounds[300];

		MT_CHECK_EQ(verdict.kind, MT_VERDICT_TOO_LITTLE);
		MT_CHECK(isnan(verdict.per_second));
		MT_CHECK_EQ(verdict.confidence, 0);
		mt_verdict_grounds(&verdict, grounds, sizeof(grounds));
		MT_CHECK(strstr(grounds, "; too short; record 5 minutes"));
		mt_verdict_consider_end(&verdict);
		mt_verdict_grounds(&verdict, grounds, sizeof(grounds));
		MT_CHECK(strstr(grounds, "; too short; the process ended (mtrec -e malloc "));
	}
}

/* Keys are overwritten while a cache of 600 fills: older pieces are freed more often. */
static void overwritten_cache(struct program *p, int i, uint64_t time)
{
	size_t held = p->to - p->from, key = (size_t)i * 7919 % 600;
	uint64_t given;

	reserve(p, time);
	if (key >= held)
		return;
	given = p->times[p->from + key];
	p->times[p->from + key] = p->times[p->from];
	p->times[p->from] = given;
	give_back(p, time);
}

MT_TEST(a_cache_that_still_fills_is_not_called_a_leak)
{
	static const double parts[] = {0.2, 0.4, 0.6, 0.8, 1};
	char grounds[300];
	struct mt_verdict verdict = observe(plateau, 60 * SECOND, 0.24);

	MT_CHECK_STR(mt_verdict_name(verdict.kind), "grows steadily");
	mt_verdict_grounds(&verdict, grounds, sizeof(grounds));
	MT_CHECK(strstr(grounds, ", nothing given back so far; record 5 minutes"));
	mt_verdict_consider_end(&verdict);
	mt_verdict_grounds(&verdict, grounds, sizeof(grounds));
	MT_CHECK_STR(grounds + strlen(grounds) - 20, ", nothing given back");
	mt_verdict_consider_heap(&verdict, false, 0);
	mt_verdict_grounds(&verdict, grounds, sizeof(grounds));
	MT_CHECK(strstr(grounds, "not seen: mtrec -e malloc"));
	MT_CHECK(!strstr(grounds, "older memory"));
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		MT_CHECK(observe(overwritten_cache, 120 * SECOND, parts[i]).kind !=
			 MT_VERDICT_LEAK);
}

MT_TEST(five_minutes_are_long_enough_to_say_so)
{
	struct mt_verdict verdict = observe(leak, 299 * SECOND, 1);
	char grounds[300];

	MT_CHECK_STR(mt_verdict_name(verdict.kind), "leak");
	mt_verdict_grounds(&verdict, grounds, sizeof(grounds));
	MT_CHECK_STR(grounds + strlen(grounds) - 20, ", nothing given back");
}

MT_TEST(few_reservations_are_too_little_however_long_it_takes)
{
	struct program program = {0};
	struct mt_verdict verdict;

	for (uint64_t i = 0; i < 6; i++)
		reserve(&program, START + i * HOUR);
	verdict = judge(&program, START + 6 * HOUR);
	MT_CHECK_EQ(verdict.kind, MT_VERDICT_TOO_LITTLE);
	MT_CHECK_STR(verdict.why, "fewer than 12 reservations");
}

MT_TEST(a_cache_that_has_not_stopped_is_no_leak)
{
	struct mt_verdict verdict = observe(warming, 6 * HOUR, 0.3);

	MT_CHECK_EQ(verdict.kind, MT_VERDICT_TOO_LITTLE);
	MT_CHECK(strstr(verdict.why, "slows down"));
}

static void burst(struct program *p, int i, uint64_t time)
{
	for (int k = 0; k < (i == 300 ? 600 : 1); k++)
		reserve(p, time);
}

MT_TEST(a_burst_in_the_middle_of_a_leak_is_no_plateau)
{
	struct mt_verdict verdict = observe(burst, 60 * SECOND, 1);

	MT_CHECK_EQ(verdict.kind, MT_VERDICT_TOO_LITTLE);
	MT_CHECK(strstr(verdict.why, "not steady"));
}

MT_TEST(slopes_are_bytes_a_second)
{
	struct mt_verdict verdict = observe(leak, 6 * HOUR, 1);
	double want = 100.0 * PIECE / 3600;

	MT_CHECK(fabs(verdict.per_second - want) < 0.02 * want);
	MT_CHECK(verdict.low > 0.9 * want && verdict.high < 1.1 * want);
	MT_CHECK_EQ(verdict.survival[0], 1);
	verdict = observe(leak_among_others, 6 * HOUR, 1);
	MT_CHECK(fabs(verdict.per_second - want / 3) < 0.05 * want);
	MT_CHECK(fabs(verdict.survival[0] - 1.0 / 3) < 0.02);
}

MT_TEST(every_tooth_counts_once)
{
	struct mt_verdict verdict = observe(sawtooth, 6 * HOUR, 1);

	MT_CHECK_EQ(verdict.falls, 12);
	MT_CHECK_EQ(verdict.bytes, 0);
}

MT_TEST(memory_is_bounded_and_sums_hold)
{
	struct program program = {0}, other = {0};
	double reserved = 0, change = 0;
	uint32_t count = 0;

	for (uint64_t i = 0; i < 4000; i++)
		reserve(i % 2 ? &program : &other, START + i * i * 1000000);
	other.scale = program.scale;
	mt_history_add(&program.history, &program.scale, &other.history);
	MT_CHECK(program.history.slices.count <= MT_HISTORY_SLICES);
	for (size_t i = 0; i < program.history.slices.count; i++) {
		const struct mt_history_slice *slice = &program.history.slices.items[i];

		MT_CHECK(slice->at < MT_HISTORY_SLICES);
		MT_CHECK(!i || slice[-1].at < slice->at);
		reserved += slice->reserved;
		change += slice->change;
		count += slice->count;
	}
	MT_CHECK_EQ(reserved, 4000.0 * PIECE);
	MT_CHECK_EQ(change, program.history.held);
	MT_CHECK_EQ(count, 4000);
	mt_history_deinit(&program.history);
	mt_history_deinit(&other.history);
}

MT_TEST(a_time_that_is_damaged_puts_all_before_it_into_the_first_slice)
{
	struct program program = {0};

	reserve(&program, START);
	reserve(&program, START + SECOND / 10);
	reserve(&program, START + (1ull << 62));
	MT_REQUIRE(program.history.slices.count == 2);
	MT_CHECK_EQ(program.history.slices.items[0].at, 0);
	MT_CHECK_EQ(program.history.slices.items[0].count, 2);
	mt_history_deinit(&program.history);
}

MT_TEST(pages_that_nobody_touches_are_retained)
{
	struct mt_verdict verdict = observe(plateau, 6 * HOUR, 1);

	mt_verdict_consider_pages(&verdict, 0.9 * verdict.bytes);
	MT_CHECK_EQ(verdict.kind, MT_VERDICT_PLATEAU);
	mt_verdict_consider_pages(&verdict, 0.1 * verdict.bytes);
	MT_CHECK_EQ(verdict.kind, MT_VERDICT_RETENTION);
	verdict = observe(leak, 6 * HOUR, 1);
	mt_verdict_consider_pages(&verdict, 0);
	MT_CHECK_EQ(verdict.kind, MT_VERDICT_LEAK);
	MT_CHECK_EQ(verdict.untouched, 1);
	mt_verdict_consider_heap(&verdict, false, 0);
	mt_verdict_consider_pages(&verdict, 0.5 * verdict.bytes);
	MT_CHECK_EQ(verdict.kind, MT_VERDICT_HEAP);
	mt_verdict_consider_pages(&verdict, 0.05 * verdict.bytes);
	MT_CHECK_EQ(verdict.kind, MT_VERDICT_RETENTION);
}

MT_TEST_MAIN
