/*
 * Survival by age distinguishes a leak, whose blocks are live at any age, from a cache, which frees
 * old blocks for new ones. Sums of bytes cannot show this if one path does both.
 */
#include "report/verdicts/block_verdict.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "report/tables/text.h"
#include "report/verdicts/history.h"
#include "report/verdicts/verdict.h"

enum {
	AGES = 10,
	OLD = 7,	  /* number of old ages; many younger blocks are live but will be freed */
	LEAST_LIVE = 12,  /* as LEAST_RESERVATIONS in verdict.c: four in each third of the time */
	LEAST_TURNED = 8, /* blocks of a bounded path: four freed and four live */
	THIRD = 3,
	OLDEST = 2, /* number of oldest ages, compared with the later ones up to MIDDLE */
	MIDDLE = 5,
	LEAST_REPLACED = 3, /* blocks replaced by larger ones: two may be chance */
	KEPT = 128 << 10,   /* bytes, glibc's M_TRIM_THRESHOLD: glibc keeps less on purpose */
};

/* tests/unit/test_block_verdict.c checks these figures with programs of known courses. */
#define NEARLY_ALL 0.95	  /* part of the live bytes: in the oldest age, or in young ages */
#define SAME_RATE 0.5	  /* part of the old ages' median rate: no old age of a leak has less */
#define FEWER 0.5	  /* part of the young third's rate: the old third of a cache has less */
#define NO_GROWTH 1.25	  /* times the bytes held after 60 %; a leak from 0 on holds 1.67 times */
#define REPLACES 0.05	  /* part of the bytes that is freed; less is not a turnover */
#define GREW 1.05	  /* times the bytes held after 60 % of the time; less is chance */
#define AS_MANY 0.67	  /* part of the rate up to the middle that the oldest ages have at least */
#define TURNED_OVER 0.5	  /* part freed, as in verdict.c: enough to compare survival by age */
#define SOME_FREED 0.2	  /* part freed: a filling cache frees nothing */
#define AS_OLD 0.9	  /* part of the old blocks' rate: the oldest of a cache have less */
#define IN_TURN 0.9	  /* part of the freed blocks that larger ones replaced */
#define NEXT_DUE 3	  /* times the last block's time; one of twice the size is due at 2 */
#define RETAINED_PART 0.5 /* part of the mapped bytes that is unused */

/* Blocks and bytes by the tenth of the time in which they were allocated, oldest first. */
struct ages {
	double born[AGES], live[AGES], bytes[AGES], all;
	double held[AGES]; /* bytes at the end of each tenth */
};

static void spread(const struct mt_history *history, const struct mt_history_scale *scale,
		   uint64_t begin, uint64_t end, struct ages *out)
{
	uint32_t from = mt_history_scale_slice(scale, begin), to;
	uint32_t slices;

	to = mt_history_scale_slice(scale, end);
	slices = to > from ? to - from + 1 : 1;

	*out = (struct ages){0};
	for (size_t i = 0; i < history->slices.count; i++) {
		const struct mt_history_slice *slice = &history->slices.items[i];
		uint32_t since = slice->at > from ? slice->at - from : 0;
		uint32_t at = since < slices ? since * AGES / slices : AGES - 1;

		out->born[at] += slice->count;
		out->live[at] += slice->count - slice->ended;
		out->bytes[at] += slice->reserved - slice->gone;
		out->all += slice->reserved - slice->gone;
		out->held[at] += slice->change;
	}
	for (size_t i = 1; i < AGES; i++)
		out->held[i] += out->held[i - 1];
}

static double bytes_of(const struct ages *ages, size_t from, size_t to)
{
	double bytes = 0;

	for (size_t i = from; i < to; i++)
		bytes += ages->bytes[i];
	return bytes;
}

/* The median rate of live blocks of the old ages that have blocks; 0: no block is live. */
static double median_rate(const struct ages *ages)
{
	double rates[OLD];
	size_t count = 0;

	for (size_t i = 0; i < OLD; i++) {
		double rate = ages->born[i] ? ages->live[i] / ages->born[i] : -1;
		size_t at = count;

		if (rate < 0)
			continue;
		for (; at && rates[at - 1] > rate; at--)
			rates[at] = rates[at - 1];
		rates[at] = rate;
		count++;
	}
	return count ? rates[count / 2] : 0;
}

/* True if no old age has fewer live blocks than the others by more than two standard errors. */
static bool survive_alike(const struct ages *ages)
{
	double rate = median_rate(ages);

	for (size_t i = 0; i < OLD; i++) {
		double expected = SAME_RATE * rate * ages->born[i];
		double lacks = expected - ages->live[i];

		if (lacks > 0 && lacks * lacks > 4 * expected)
			return false;
	}
	return rate > 0;
}

/* The part of the blocks of some ages that is live. */
static double rate_of(const struct ages *ages, size_t from, size_t to)
{
	double born = 0, live = 0;

	for (size_t i = from; i < to; i++) {
		born += ages->born[i];
		live += ages->live[i];
	}
	return born > 0 ? live / born : 0;
}

/*
 * True if the oldest blocks are live at the same rate as other old blocks, unlike those of a cache.
 */
static bool is_flat(const struct ages *ages)
{
	return rate_of(ages, 0, THIRD) >= AS_OLD * rate_of(ages, OLD - THIRD, OLD);
}

/*
 * True if nearly all live bytes are in young blocks, or if old blocks are freed more often than
 * young ones and the held bytes hardly grow. (If threads share a cache, each holds a varying part.)
 */
static bool looks_bounded(const struct ages *ages, const struct mt_verdict *verdict)
{
	double old = rate_of(ages, 0, THIRD);

	if (verdict->reservations < LEAST_TURNED || ages->born[0] + ages->born[1] <= 0)
		return false;
	return bytes_of(ages, AGES / 2, AGES) >= NEARLY_ALL * ages->all ||
	       (old <= FEWER * rate_of(ages, AGES - THIRD, AGES) &&
		ages->held[AGES - 1] <= NO_GROWTH * ages->held[OLD - 2]);
}

/*
 * True if the held bytes grow, and some blocks of all ages up to the middle are live, with about
 * the same rate for the oldest. This shows a leak alongside blocks that are freed after a time, but
 * not a cache that replaces blocks at random.
 */
static bool keeps_some(const struct ages *ages)
{
	double live = 0;

	for (size_t i = OLDEST; i < MIDDLE; i++)
		live += ages->live[i];
	return live >= LEAST_TURNED &&
	       rate_of(ages, 0, OLDEST) >= AS_MANY * rate_of(ages, OLDEST, MIDDLE) &&
	       ages->held[AGES - 1] > GREW * ages->held[OLD - 2];
}

/* ---- One block, replaced by larger ones ---- */

static bool is_replaced(const struct mt_history *history, const struct ages *ages)
{
	double live = 0, ended = (double)history->count;

	for (size_t i = 0; i < AGES; i++)
		live += ages->live[i];
	ended -= live;
	return history->replaced >= LEAST_REPLACED && (double)history->replaced >= live &&
	       (double)history->replaced >= IN_TURN * ended;
}

/* Removes bytes from the history; the bytes that came last go first. */
static void take_back(struct mt_history_slice *slices, size_t count, double bytes)
{
	for (size_t i = count; i-- && bytes > 0;) {
		double less = bytes < slices[i].reserved ? bytes : slices[i].reserved;

		slices[i].reserved -= less;
		slices[i].count = slices[i].reserved > 0 ? slices[i].count : 0;
		bytes -= less;
	}
}

/* Changes the history to that of one block, which grew by the difference to each next block. */
static void join_blocks(struct mt_history *history)
{
	struct mt_history_slice *slices = history->slices.items;

	for (size_t i = 0; i < history->slices.count; i++) {
		double grew = slices[i].change;

		slices[i].reserved = grew > 0 ? grew : 0;
		slices[i].count = grew > 0 ? slices[i].count : 0;
		slices[i].ended = 0;
		slices[i].gone = 0;
		take_back(slices, i, -grew);
	}
}

static void set_undecided(const char *why, struct mt_verdict *out)
{
	out->why = why;
	out->kind = MT_VERDICT_TOO_LITTLE;
	out->per_second = out->low = out->high = NAN;
	out->confidence = 0;
}

/*
 * True if the verdict is TOO_LITTLE or PLATEAU, and blocks are freed at the same rate at old ages.
 */
static bool leaks_a_part(const struct ages *ages, const struct mt_verdict *out)
{
	return (out->kind == MT_VERDICT_TOO_LITTLE || out->kind == MT_VERDICT_PLATEAU) &&
	       out->live >= LEAST_LIVE && out->given_back >= SOME_FREED && survive_alike(ages) &&
	       is_flat(ages);
}

static void consider_ages(const struct ages *ages, struct mt_verdict *out)
{
	if (out->bytes > 0 && ages->bytes[0] >= NEARLY_ALL * ages->all) {
		out->kind = MT_VERDICT_ONE_OFF;
		out->why = NULL;
		out->per_second = out->low = out->high = 0;
		out->confidence = out->seconds / (out->seconds + 5);
	} else if (mt_verdict_is_growth(out->kind)) {
		if (out->live >= LEAST_LIVE && survive_alike(ages)) {
			if (out->given_back >= TURNED_OVER && is_flat(ages))
				out->kind = MT_VERDICT_LEAK;
			return;
		}
		set_undecided(out->live < LEAST_LIVE ? "fewer than 12 blocks live"
						     : "it grows, but old blocks are freed",
			      out);
	} else if (looks_bounded(ages, out) && keeps_some(ages)) {
		set_undecided("some blocks of every age live, and it grows", out);
	} else if (looks_bounded(ages, out)) {
		out->kind = MT_VERDICT_BOUNDED;
		out->why = NULL;
		out->confidence = out->seconds / (out->seconds + 5);
	} else if (out->kind == MT_VERDICT_PLATEAU && out->given_back >= REPLACES) {
		out->kind = MT_VERDICT_BOUNDED;
	}
}

void mt_verdict_judge_blocks(struct mt_history *history, const struct mt_history_scale *scale,
			     uint64_t begin, uint64_t end, struct mt_verdict *out)
{
	struct ages ages;
	bool replaced;

	mt_history_settle(history, scale);
	mt_history_level(history);
	spread(history, scale, begin, end, &ages);
	replaced = is_replaced(history, &ages);
	if (replaced)
		join_blocks(history);
	mt_verdict_judge(history, scale, end, out);
	out->of_blocks = true;
	out->replaced = replaced;
	if (out->why && out->reservations < LEAST_LIVE && !mt_verdict_is_too_short(out))
		out->why =
			history->resized ? "fewer than 12 changes of size" : "fewer than 12 blocks";
	for (size_t i = 0; i < AGES; i++)
		out->live += (uint64_t)ages.live[i];
	if (replaced && out->kind == MT_VERDICT_PLATEAU &&
	    (double)(end - history->first) < NEXT_DUE * (double)(history->last - history->first))
		set_undecided("the next one may be due", out);
	if (!mt_verdict_is_too_short(out) && !replaced &&
	    !(leaks_a_part(&ages, out) && mt_verdict_judge_survivors(history, scale, end, out)))
		consider_ages(&ages, out);
	/* Growth by resizing was counted as blocks above. */
	out->reservations -= history->grown;
	out->live -= history->grown_live;
	out->resized = history->resized;
}

/* ---- The allocator's memory ---- */

double mt_heap_free(const struct mt_heap_parts *heap)
{
	double bytes = heap->mapped - heap->live - heap->inherited;

	if (!isnan(heap->untouched))
		bytes -= heap->untouched;
	return bytes > 0 ? bytes : 0;
}

void mt_verdict_judge_heap(const struct mt_heap_parts *heap, struct mt_verdict *out)
{
	double unused = heap->mapped - heap->live - heap->older - heap->inherited;

	*out = (struct mt_verdict){
		.kind = MT_VERDICT_IN_USE,
		.bytes = heap->mapped,
		.per_second = NAN,
		.low = NAN,
		.high = NAN,
		.seconds = heap->seconds,
		.live = heap->blocks,
		.untouched = NAN,
		.confidence = 1,
	};
	if (unused >= RETAINED_PART * heap->mapped && unused >= KEPT)
		out->kind = MT_VERDICT_RETENTION;
}

void mt_heap_grounds(const struct mt_heap_parts *heap, char *out, size_t size)
{
	size_t used =
		(size_t)snprintf(out, size,
				 "%s mapped by the allocator, of which %s hold %s live block%s, "
				 "those of other rows included; %s free%s",
				 mt_text_bytes(heap->mapped).text, mt_text_bytes(heap->live).text,
				 mt_text_count((double)heap->blocks).text,
				 heap->blocks == 1 ? "" : "s",
				 mt_text_bytes(mt_heap_free(heap)).text,
				 heap->older > 0 ? " or allocated before" : "");

	if (!isnan(heap->untouched) && used < size)
		used += (size_t)snprintf(out + used, size - used, ", %s untouched",
					 mt_text_bytes(heap->untouched).text);
	else if (used < size)
		used += (size_t)snprintf(out + used, size - used, " or untouched");
	if (heap->inherited > 0 && used < size)
		snprintf(out + used, size - used, ", %s inherited by fork",
			 mt_text_bytes(heap->inherited).text);
}
