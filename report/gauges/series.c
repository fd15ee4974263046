/* Series of gauge values. */
#include "report/gauges/series.h"

#include <stdlib.h>

#include "formats/base/memory.h"

enum {
	POINTS_FIRST = 4,
	SLICES_MOST = 20,
	SLICES_LEAST = 4,
};

/*
 * Shares of the whole change. A steady course has 1/20 in each slice, and a third in the last
 * third. Twice the steady share in one slice is a step. Less than a twentieth of the whole change
 * in the last third counts as flat.
 */
#define STEP_SHARE 0.1
#define TAIL_SHARE 0.05
/* A share of the largest value. A garbage collector causes smaller falls at any heap size. */
#define FALL_SHARE 0.25

static void halve(struct mt_series *series)
{
	size_t kept = 0;

	for (size_t i = 0; i < series->count; i += 2)
		series->points[kept++] = series->points[i];
	series->count = kept;
	series->interval = (series->last_time - series->first_time) / (MT_SERIES_POINTS / 2);
}

void mt_series_deinit(struct mt_series *series)
{
	free(series->points);
	series->points = NULL;
}

/* Makes room for one more point; an existing single value becomes the first point. */
static void make_room(struct mt_series *series, const struct mt_series_point *single)
{
	size_t capacity = series->points ? 2 * (size_t)series->capacity : POINTS_FIRST;
	struct mt_series_point *points;

	if (series->count == MT_SERIES_POINTS)
		halve(series);
	if (series->count < series->capacity)
		return;
	points = mt_resize(series->points, capacity, sizeof(*points));
	if (!series->points)
		points[0] = *single;
	series->points = points;
	series->capacity = (uint16_t)capacity;
}

void mt_series_add(struct mt_series *series, uint64_t time, double value)
{
	const struct mt_series_point single = {series->first_time, series->last};
	bool first = !series->count;

	series->first_time = first ? time : series->first_time;
	series->most = first || value > series->most ? value : series->most;
	series->least = first || value < series->least ? value : series->least;
	series->last = value;
	series->last_time = time;
	series->count += first;
	if (first ||
	    time - (series->points ? series->points[series->count - 1].time : series->first_time) <
		    series->interval)
		return;
	make_room(series, &single);
	series->points[series->count++] = (struct mt_series_point){time, value};
}

double mt_series_at(const struct mt_series *series, uint64_t time)
{
	double value;

	if (!series->points || time >= series->last_time)
		return series->last;
	value = series->points[0].value;
	for (size_t i = 1; i < series->count && series->points[i].time <= time; i++)
		value = series->points[i].value;
	return value;
}

/* Values at the ends of equal slices of time, and figures derived from them. */
struct course {
	int slices;
	double at[SLICES_MOST + 1];
	double change, most;
	int steps, falls, rising;
	double tail; /* change in the last third */
};

/* Counts falls by FALL_SHARE of the largest value after a rise of the same size. */
static int count_falls(const struct course *course)
{
	double top = course->at[0], bottom = course->at[0];
	bool fallen = false;
	int falls = 0;

	for (int i = 1; i <= course->slices; i++) {
		double value = course->at[i];

		top = value > top ? value : top;
		bottom = value < bottom ? value : bottom;
		if (!fallen && top - value > FALL_SHARE * course->most) {
			falls++;
			fallen = true;
			bottom = value;
		} else if (fallen && value - bottom > FALL_SHARE * course->most) {
			fallen = false;
			top = value;
		}
	}
	return falls;
}

static void survey(const struct mt_series *series, bool is_new, uint64_t from, uint64_t to,
		   struct course *course)
{
	bool in_step = false;

	for (int i = 0; i <= course->slices; i++) {
		uint64_t time = from + (to - from) / (uint64_t)course->slices * (uint64_t)i;

		if (!is_new || time >= series->first_time)
			course->at[i] = mt_series_at(series, time);
		course->most = course->at[i] > course->most ? course->at[i] : course->most;
	}
	course->at[course->slices] = mt_series_at(series, to);
	course->change = course->at[course->slices] - course->at[0];
	course->tail = course->at[course->slices] - course->at[course->slices * 2 / 3];
	course->falls = count_falls(course);
	for (int i = 1; i <= course->slices; i++) {
		double share = (course->at[i] - course->at[i - 1]) / course->change;
		bool step =
			course->change > 0 && share > STEP_SHARE && share > 2.0 / course->slices;

		course->steps += step && !in_step;
		course->rising += course->change > 0 && share > 0.2 / course->slices;
		in_step = step;
	}
}

/* The words for a number of steps: "two steps", or with `flat` "two steps, flat". */
static const char *count_of_steps(int steps, bool flat)
{
	static const char *const words[][2] = {
		{"rises", "rises, then flat"},	    {"one step", "one step, flat"},
		{"two steps", "two steps, flat"},   {"three steps", "three steps, flat"},
		{"many steps", "many steps, flat"},
	};

	return words[steps < 4 ? steps : 4][flat];
}

const char *mt_series_trend(const struct mt_series *series, bool is_new, uint64_t from, uint64_t to,
			    uint64_t interval)
{
	uint64_t readings = to > from && interval ? (to - from) / interval : 0;
	struct course course = {.slices = readings < SLICES_MOST ? (int)readings : SLICES_MOST};

	if (series->most - (is_new ? 0 : series->least) < MT_TREND_NOISE)
		return "flat";
	if (course.slices < SLICES_LEAST)
		return "-";
	survey(series, is_new, from, to, &course);
	if (course.falls >= 2)
		return "up and down";
	if (course.change <= -MT_TREND_NOISE)
		return "falls";
	if (course.change < MT_TREND_NOISE)
		return course.falls ? "up, then down" : "flat";
	if (course.rising >= course.slices * 3 / 5)
		return "steady";
	return count_of_steps(course.steps, course.tail < TAIL_SHARE * course.change);
}
