/*
 * Slopes are medians over pairs of distant moments (Theil-Sen), so that single steps do not decide.
 * Survival by age distinguishes memory that stays from memory that is replaced.
 */
#include "report/verdicts/verdict.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/tables/text.h"
#include "report/verdicts/history.h"

/*
 * Minimum data for a verdict. In the first seconds a program loads and fills tables, which looks
 * like a leak with any number of reservations, so there is a minimum time. Twelve reservations at
 * six moments leave four reservations at two moments for each third of the time, the minimum for a
 * comparison of thirds. tests/live/verdict.sh checks the figures with programs of known courses:
 * after 4 s they are undecided, after 14 s the verdicts are right.
 */
enum {
	LEAST_SECONDS = 10,
	LONG_SECONDS = 270, /* a recording of 5 minutes has nearly any path for this long */
	LEAST_RESERVATIONS = 12,
	LEAST_SLICES = 6, /* slices with a reservation */
	LEAST_FALLS = 3,  /* two falls may be the start and a clean-up */
	POINTS = 32,	  /* slopes are computed between this many moments */
	PAIRS = POINTS * POINTS / 2,
};

/*
 * The figures are from tests/unit/test_verdict.c, which judges each course over 14 s to 6 h, with
 * one in a hundred up to all reservations kept. Within these bounds the verdict on a course does
 * not change.
 */
#define ONE_OFF_PART 0.05 /* part of the time that has all reservations: one of 20 trend slices */
#define LEAST_THIRD 0.1	  /* part of the staying bytes, reserved in each third of the time */
#define SLOWER 0.85	  /* part of the previous third's staying bytes; a filling cache has less */
#define STILL_GROWS 0.5	  /* part of the whole time's pace; a cache that filled early has 0 */
#define LATE_GROWTH 0.1	  /* part of the peak; less growth in the last third counts as none */
#define SLOWS 0.6 /* part of each earlier third's staying bytes; with less, growth slows down */
#define LATE_SLOWING 0.2   /* in place of LATE_GROWTH, if growth slows down */
#define NOTHING_BACK 0.995 /* part of the bytes that is still held: 100 % when rounded */
#define WORTH_SAYING 0.05  /* part of the bytes: untouched, or given back more in one third */
#define TURNED_OVER 0.5	   /* part of the bytes given back; enough to compare survival by age */
#define AS_OLD 0.9 /* part of the middle third's survival; the oldest of a cache have less */
#define UNTOUCHED_PART 0.5
#define LEAST_TURNS 1.5		    /* bytes given back / held bytes: half of them three times */
#define EMPTY_PART 0.9		    /* untouched part of a growing heap that has no blocks */
#define UNTOUCHED_BYTES (128 << 10) /* glibc's M_TRIM_THRESHOLD: glibc keeps less on purpose */

/* A history slice by slice, from the first reservation to the end. */
struct dense {
	size_t count;
	double held[MT_HISTORY_SLICES];	  /* at each slice's end */
	double kept[MT_HISTORY_SLICES];	  /* bytes reserved up to the end of each slice that stay */
	double seconds;			  /* length of a slice */
	double stays[MT_VERDICT_AGES];	  /* bytes reserved in each third that stay */
	double reserved[MT_VERDICT_AGES]; /* bytes reserved in each third */
};

static void add_dense(struct dense *dense, size_t at, const struct mt_history_slice *slice)
{
	size_t third = at * MT_VERDICT_AGES / dense->count;

	dense->held[at] += slice->change;
	dense->kept[at] += slice->reserved - slice->gone;
	dense->stays[third] += slice->reserved - slice->gone;
	dense->reserved[third] += slice->reserved;
}

static void spread(const struct mt_history *history, const struct mt_history_scale *scale,
		   uint64_t end, struct dense *out)
{
	uint32_t from = mt_history_scale_slice(scale, history->first);
	uint32_t to = mt_history_scale_slice(scale, end);

	*out = (struct dense){.count = to > from ? to - from + 1 : 1,
			      .seconds = mt_history_scale_seconds(scale)};
	for (size_t i = 0; i < history->slices.count; i++) {
		const struct mt_history_slice *slice = &history->slices.items[i];
		size_t at = slice->at > from ? slice->at - from : 0;

		add_dense(out, at < out->count ? at : out->count - 1, slice);
	}
	for (size_t i = 1; i < out->count; i++) {
		out->held[i] += out->held[i - 1];
		out->kept[i] += out->kept[i - 1];
	}
}

/* ---- Slopes ---- */

static int compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

struct slope {
	double median, low, high; /* bytes a second; low and high leave out 5 % on each side */
	double agreement;	  /* share of pairs within half of the median */
};

/* The slope of a curve, from all pairs of moments that are at least a quarter of the time apart. */
static struct slope find_slope(const double *line, size_t count, double seconds)
{
	size_t points = count < POINTS ? count : POINTS, pairs = 0;
	double slopes[PAIRS];
	struct slope out = {0};

	for (size_t i = 0; i < points; i++) {
		for (size_t k = i + 1; k < points; k++) {
			size_t a = i * (count - 1) / (points - 1),
			       b = k * (count - 1) / (points - 1);

			if (4 * (b - a) >= count - 1)
				slopes[pairs++] = (line[b] - line[a]) / ((double)(b - a) * seconds);
		}
	}
	if (!pairs)
		return out;
	qsort(slopes, pairs, sizeof(*slopes), compare_numbers);
	out = (struct slope){slopes[pairs / 2], slopes[pairs / 20], slopes[pairs - 1 - pairs / 20],
			     0};
	for (size_t i = 0; i < pairs; i++)
		out.agreement += fabs(slopes[i] - out.median) <= fabs(out.median) / 2;
	out.agreement /= (double)pairs;
	return out;
}

/* ---- Classification ---- */

static void give_slope(struct mt_verdict *out, const struct slope *slope)
{
	out->per_second = slope->median;
	out->low = slope->low;
	out->high = slope->high;
}

/*
 * A factor of confidence that rises with the data: time excludes start-up effects, slices chance.
 */
static double evidence(const struct mt_verdict *verdict)
{
	double slices = (double)verdict->slices;

	return verdict->seconds / (verdict->seconds + 5) * slices / (slices + 6);
}

static const char *too_little(const struct mt_verdict *verdict)
{
	if (verdict->reservations < LEAST_RESERVATIONS)
		return "fewer than 12 reservations";
	return verdict->slices < LEAST_SLICES ? "reservations at fewer than 6 moments" : NULL;
}

static bool looks_one_off(const struct mt_history *history, struct mt_verdict *out)
{
	double burst = (double)(history->last - history->first) / 1e9;

	if (burst > ONE_OFF_PART * out->seconds)
		return false;
	out->kind = MT_VERDICT_ONE_OFF;
	out->confidence = (1 - burst / out->seconds) * out->seconds / (out->seconds + 5);
	out->per_second = out->low = out->high = 0;
	return true;
}

/* True if staying bytes were reserved in every third, and not clearly fewer in each than before. */
static bool stays_evenly(const struct dense *dense)
{
	const double *stays = dense->stays;
	double all = stays[0] + stays[1] + stays[2];

	for (int i = 0; i < MT_VERDICT_AGES; i++) {
		if (stays[i] < LEAST_THIRD * all || all <= 0)
			return false;
	}
	return !(stays[1] < SLOWER * stays[0] && stays[2] < SLOWER * stays[1]);
}

/*
 * True if the held bytes still grow in the second half of the time. A cache that replaces entries
 * at random also reserves and keeps some bytes all the time, but the held bytes do not grow once it
 * is full.
 */
static bool still_grows(const struct dense *dense, double pace)
{
	size_t half = dense->count / 2, last = dense->count - 1;

	return dense->held[last] - dense->held[half] >=
	       STILL_GROWS * pace * dense->seconds * (double)(last - half);
}

/*
 * True if a bounded cache cannot explain the course, because the time is long, or because much was
 * given back and the oldest bytes survive at the rate of younger ones. If all bytes stay, a filling
 * cache looks the same while it fills.
 */
static bool is_beyond_a_cache(const struct mt_verdict *verdict)
{
	return verdict->seconds >= LONG_SECONDS ||
	       (verdict->given_back >= TURNED_OVER &&
		verdict->survival[0] >= AS_OLD * verdict->survival[1]);
}

static bool looks_leak(const struct dense *dense, struct mt_verdict *out)
{
	struct slope held = find_slope(dense->held, dense->count, dense->seconds);
	struct slope kept = find_slope(dense->kept, dense->count, dense->seconds);

	/*
	 * In a sawtooth, the growth of the staying bytes is hidden in the held bytes. In other
	 * courses both grow together.
	 */
	if (out->falls >= LEAST_FALLS)
		held = kept;
	else if (!still_grows(dense, held.median))
		return false;
	if (!stays_evenly(dense) || kept.median <= 0 || held.median < kept.median / 2)
		return false;
	out->kind = is_beyond_a_cache(out) ? MT_VERDICT_LEAK : MT_VERDICT_GROWS;
	out->confidence = held.agreement * evidence(out);
	give_slope(out, &held);
	return true;
}

static bool looks_sawtooth(const struct dense *dense, struct mt_verdict *out)
{
	struct slope slope = find_slope(dense->held, dense->count, dense->seconds);

	if (out->falls < LEAST_FALLS)
		return false;
	out->kind = MT_VERDICT_SAWTOOTH;
	out->confidence = (1 - 1 / (1 + (double)out->falls)) * evidence(out);
	give_slope(out, &slope);
	return true;
}

/*
 * True if fewer bytes stay of the last third than this part of those of each earlier third, because
 * one of them may have had a burst.
 */
static bool slows_to(const struct dense *dense, double part)
{
	return dense->stays[2] < part * dense->stays[1] && dense->stays[2] < part * dense->stays[0];
}

static bool looks_plateau(const struct dense *dense, double peak, struct mt_verdict *out)
{
	size_t from = dense->count * 2 / 3, last = dense->count - 1;
	struct slope slope = find_slope(dense->held + from, dense->count - from, dense->seconds);
	double late = fabs(dense->held[last] - dense->held[from]);

	if (out->bytes < peak / 2 ||
	    late > (slows_to(dense, SLOWS) ? LATE_SLOWING : LATE_GROWTH) * peak)
		return false;
	out->kind = MT_VERDICT_PLATEAU;
	out->confidence = (1 - late / (2 * LATE_SLOWING * peak)) * evidence(out);
	give_slope(out, &slope);
	return true;
}

static void classify(const struct mt_history *history, const struct dense *dense,
		     struct mt_verdict *out)
{
	if (out->seconds < LEAST_SECONDS) {
		out->why = "too short";
		return;
	}
	if (looks_one_off(history, out))
		return;
	out->why = too_little(out);
	if (out->why || looks_leak(dense, out) || looks_sawtooth(dense, out) ||
	    looks_plateau(dense, history->peak, out))
		return;
	out->why = out->bytes < history->peak / 2 ? "it fell, too few times to see a pattern"
		   : slows_to(dense, SLOWER)	  ? "growth slows down, and has not stopped"
						  : "growth is not steady";
}

/* The part of the reserved bytes that was given back; 0 without reservations. */
static double given_back(const struct dense *dense)
{
	double reserved = 0, stays = 0;

	for (int i = 0; i < MT_VERDICT_AGES; i++) {
		reserved += dense->reserved[i];
		stays += dense->stays[i];
	}
	return reserved > 0 ? 1 - stays / reserved : 0;
}

void mt_verdict_judge(struct mt_history *history, const struct mt_history_scale *scale,
		      uint64_t end, struct mt_verdict *out)
{
	struct dense dense;

	mt_history_settle(history, scale);
	spread(history, scale, end, &dense);
	*out = (struct mt_verdict){
		.bytes = history->held,
		.per_second = NAN,
		.low = NAN,
		.high = NAN,
		.seconds = end > history->first ? (double)(end - history->first) / 1e9 : 0,
		.reservations = history->count,
		.falls = history->falls,
		.untouched = NAN,
	};
	for (size_t i = 0; i < history->slices.count; i++)
		out->slices += history->slices.items[i].count != 0;
	out->given_back = given_back(&dense);
	for (int i = 0; i < MT_VERDICT_AGES; i++)
		out->survival[i] = dense.reserved[i] > 0 ? dense.stays[i] / dense.reserved[i] : NAN;
	classify(history, &dense, out);
}

bool mt_verdict_judge_survivors(struct mt_history *history, const struct mt_history_scale *scale,
				uint64_t end, struct mt_verdict *out)
{
	struct dense dense;
	struct slope held;
	size_t last;

	mt_history_settle(history, scale);
	spread(history, scale, end, &dense);
	last = dense.count - 1;
	held = find_slope(dense.held, dense.count, dense.seconds);
	if (held.median <= 0 ||
	    dense.held[last] - dense.held[dense.count * 2 / 3] < LATE_GROWTH * history->peak)
		return false;
	out->kind = is_beyond_a_cache(out) ? MT_VERDICT_LEAK : MT_VERDICT_GROWS;
	out->why = NULL;
	out->confidence = held.agreement * evidence(out);
	give_slope(out, &held);
	return true;
}

void mt_verdict_consider_pages(struct mt_verdict *verdict, double held)
{
	if (verdict->bytes <= 0)
		return;
	verdict->untouched = held < verdict->bytes ? 1 - held / verdict->bytes : 0;
	if (!(verdict->kind == MT_VERDICT_PLATEAU || verdict->kind == MT_VERDICT_ONE_OFF
		      ? verdict->untouched >= UNTOUCHED_PART
		      : verdict->kind == MT_VERDICT_HEAP && verdict->untouched >= EMPTY_PART) ||
	    verdict->bytes - held < UNTOUCHED_BYTES)
		return;
	verdict->kind = MT_VERDICT_RETENTION;
	verdict->confidence *= verdict->untouched;
}

bool mt_verdict_is_untouched(const struct mt_verdict *verdict)
{
	return verdict->kind == MT_VERDICT_RETENTION ||
	       (verdict->kind == MT_VERDICT_TOO_LITTLE &&
		verdict->reservations < LEAST_RESERVATIONS && verdict->untouched >= UNTOUCHED_PART);
}

void mt_verdict_consider_advice(struct mt_verdict *verdict, uint64_t calls, double bytes)
{
	bool settled = verdict->kind == MT_VERDICT_PLATEAU || verdict->kind == MT_VERDICT_ONE_OFF ||
		       verdict->kind == MT_VERDICT_RETENTION;

	verdict->advices = calls;
	verdict->advised = bytes;
	if (settled && calls >= LEAST_FALLS && bytes >= LEAST_TURNS * verdict->bytes)
		verdict->kind = MT_VERDICT_SAWTOOTH;
}

void mt_verdict_consider_heap(struct mt_verdict *verdict, bool collected, double older_back)
{
	if (mt_verdict_is_growth(verdict->kind))
		verdict->kind = MT_VERDICT_HEAP;
	verdict->collected = collected;
	verdict->older_back = older_back;
}

void mt_verdict_consider_pathless(struct mt_verdict *verdict)
{
	if (verdict->kind == MT_VERDICT_LEAK)
		verdict->kind = MT_VERDICT_GROWS;
	verdict->pathless = true;
}

void mt_verdict_consider_end(struct mt_verdict *verdict)
{
	verdict->ended = true;
}

bool mt_verdict_is_too_short(const struct mt_verdict *verdict)
{
	return verdict->seconds < LEAST_SECONDS;
}

/* ---- Text ---- */

bool mt_verdict_is_growth(enum mt_verdict_kind kind)
{
	return kind == MT_VERDICT_LEAK || kind == MT_VERDICT_GROWS || kind == MT_VERDICT_HEAP;
}

const char *mt_verdict_name(enum mt_verdict_kind kind)
{
	static const char *const names[] = {
		[MT_VERDICT_TOO_LITTLE] = "undecided",
		[MT_VERDICT_ONE_OFF] = "one-off",
		[MT_VERDICT_PLATEAU] = "plateau",
		[MT_VERDICT_SAWTOOTH] = "sawtooth",
		[MT_VERDICT_LEAK] = "leak",
		[MT_VERDICT_GROWS] = "grows steadily",
		[MT_VERDICT_HEAP] = "heap grows",
		[MT_VERDICT_RETENTION] = "arena retention",
		[MT_VERDICT_BOUNDED] = "bounded",
		[MT_VERDICT_IN_USE] = "in use",
	};

	return names[kind];
}

struct percent {
	char text[16];
};

/* A part in percent, such as "50", but "100" only for all. */
static struct percent percent(double part)
{
	double value = 100 * part;
	struct percent out = {"over 99.99"};

	if (value < 99.5 || part >= 1)
		snprintf(out.text, sizeof(out.text), "%.0f", value);
	else if (value < 99.995)
		snprintf(out.text, sizeof(out.text), value < 99.95 ? "%.1f" : "%.2f", value);
	return out;
}

/* Writes "nothing given back so far", "50 % given back", or how much was given back by age. */
static size_t say_survival(const struct mt_verdict *verdict, char *out, size_t size)
{
	static const char *const ages[MT_VERDICT_AGES] = {"oldest", "middle", "newest"};
	const char *back = verdict->of_blocks ? "freed" : "given back";
	bool grows = mt_verdict_is_growth(verdict->kind) && verdict->seconds < LONG_SECONDS &&
		     !verdict->ended;
	size_t used = 0;
	double least = 1, most = 0;

	for (int i = 0; i < MT_VERDICT_AGES; i++) {
		least = verdict->survival[i] < least ? verdict->survival[i] : least;
		most = verdict->survival[i] > most ? verdict->survival[i] : most;
	}
	if (least >= NOTHING_BACK && verdict->advices)
		return (size_t)snprintf(
			out, size, ", nothing unmapped, %s of its pages given back in %s call%s",
			mt_text_bytes(verdict->advised).text,
			mt_text_count((double)verdict->advices).text,
			verdict->advices == 1 ? "" : "s");
	if (least >= NOTHING_BACK)
		return (size_t)snprintf(out, size, ", nothing %s%s", back, grows ? " so far" : "");
	if (most - least < WORTH_SAYING || verdict->kind == MT_VERDICT_SAWTOOTH)
		return (size_t)snprintf(out, size, ", %s %% %s", percent(verdict->given_back).text,
					back);
	for (int i = 0; i < MT_VERDICT_AGES; i++) {
		if (!isnan(verdict->survival[i]) && used < size)
			used += (size_t)snprintf(out + used, size - used, ", %s %% of the %s%s%s",
						 percent(1 - verdict->survival[i]).text, ages[i],
						 used ? "" : " third ", used ? "" : back);
	}
	return used;
}

static size_t say_pages(const struct mt_verdict *verdict, char *out, size_t size)
{
	bool settled = verdict->kind == MT_VERDICT_PLATEAU || verdict->kind == MT_VERDICT_ONE_OFF;
	int used = 0;

	if (!isnan(verdict->untouched) && verdict->untouched >= WORTH_SAYING)
		used = snprintf(out, size, "; %.0f %% of it untouched since reserved or given back",
				100 * verdict->untouched);
	else if (isnan(verdict->untouched) && settled && verdict->bytes > 0 && !verdict->of_blocks)
		used = snprintf(out, size, "; whether its pages are in use is not known");
	return (size_t)used < size ? (size_t)used : size;
}

/* What would decide the case; NULL: it is decided. */
static const char *decider(const struct mt_verdict *verdict)
{
	const char *record = verdict->seconds < LONG_SECONDS ? "record 5 minutes" : "record longer";

	if (verdict->kind == MT_VERDICT_HEAP)
		return verdict->collected
			       ? "which objects it holds is not seen: take the runtime's heap dump"
			       : "who keeps the blocks is not seen: mtrec -e malloc";
	if (verdict->pathless && mt_verdict_is_growth(verdict->kind))
		return "by which path is not seen: mtrec -e vm";
	if (verdict->kind == MT_VERDICT_LEAK)
		return NULL;
	if (verdict->ended)
		return !verdict->why ? NULL
		       : verdict->of_blocks || verdict->files || verdict->collected
			       ? "the process ended"
			       : "the process ended (mtrec -e malloc shows more)";
	return verdict->why || (mt_verdict_is_growth(verdict->kind) &&
				verdict->seconds < LONG_SECONDS)
		       ? record
		       : NULL;
}

/* True if larger blocks replace blocks, so that the number of live blocks says nothing. */
static bool is_replaced(const struct mt_verdict *verdict)
{
	return verdict->replaced && !mt_verdict_is_too_short(verdict);
}

static bool is_one_replaced(const struct mt_verdict *verdict)
{
	return is_replaced(verdict) && verdict->of_blocks && verdict->live == 1;
}

static size_t say_amount(const struct mt_verdict *verdict, char *out, size_t size)
{
	uint64_t count = is_one_replaced(verdict) ? 1 : verdict->reservations;
	size_t used = (size_t)snprintf(out, size, "%s, %s %s%s%s",
				       mt_text_duration(verdict->seconds).text,
				       mt_text_count((double)count).text,
				       verdict->of_blocks ? "block"
				       : verdict->files	  ? "mapping"
							  : "reservation",
				       count == 1 ? "" : "s", verdict->files ? " of files" : "");

	if (verdict->of_blocks && !is_replaced(verdict) && used < size)
		used += (size_t)snprintf(out + used, size - used, ", %s live",
					 mt_text_count((double)verdict->live).text);
	if (verdict->one_in > 1 && used < size)
		used += (size_t)snprintf(out + used, size - used, " of 1 in %u recorded",
					 verdict->one_in);
	if (verdict->resized && used < size)
		used += (size_t)snprintf(out + used, size - used, ", resized %s time%s",
					 mt_text_count((double)verdict->resized).text,
					 verdict->resized == 1 ? "" : "s");
	return used;
}

/* Writes the reason if undecided, and which part of the bytes is still held. */
static size_t say_course(const struct mt_verdict *verdict, char *out, size_t size)
{
	bool enough = !mt_verdict_is_too_short(verdict) && verdict->live >= LEAST_RESERVATIONS;
	size_t used = 0;

	if (is_one_replaced(verdict))
		return (size_t)snprintf(out, size, ", replaced %s times by a larger one",
					mt_text_count((double)verdict->reservations - 1).text);
	if (is_replaced(verdict))
		return (size_t)snprintf(out, size, ", each replaced by a larger one");
	if (verdict->why)
		used = (size_t)snprintf(out, size, "; %s", verdict->why);
	if (used < size && (!verdict->why || (verdict->of_blocks && enough)))
		used += say_survival(verdict, out + used, size - used);
	return used;
}

void mt_verdict_grounds(const struct mt_verdict *verdict, char *out, size_t size)
{
	const char *more = decider(verdict);
	size_t used = say_amount(verdict, out, size);

	if (used < size)
		used += say_course(verdict, out + used, size - used);
	if (verdict->older_back > WORTH_SAYING * verdict->bytes && used < size)
		used += (size_t)snprintf(out + used, size - used,
					 "; %s of older memory was given back",
					 mt_text_bytes(verdict->older_back).text);
	if (!verdict->why && verdict->falls >= LEAST_FALLS && used < size)
		used += (size_t)snprintf(out + used, size - used, "; fell %u times",
					 (unsigned int)verdict->falls);
	if (verdict->kind == MT_VERDICT_PLATEAU && used < size)
		used += (size_t)snprintf(out + used, size - used, "; it no longer grows");
	if (!verdict->why && used < size)
		used += say_pages(verdict, out + used, size - used);
	if (more && used < size)
		snprintf(out + used, size - used, "; %s", more);
}
