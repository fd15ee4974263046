/* Adds up gauges at each moment at which one of them changed. */
#include "report/gauges/gauge_sum.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/strings.h"
#include "report/gauges/gauge_log.h"

enum {
	TIMES_MOST = MT_GAUGE_TERMS * MT_SERIES_POINTS + 2,
};

/* ---- Finding ---- */

/* One word of a formula: a name without its prefix. */
struct word {
	const char *prefix, *name;
	size_t prefix_length, length;
	bool begins; /* matches all names with this prefix */
};

static bool names(const struct word *word, const char *name)
{
	if (strncmp(name, word->prefix, word->prefix_length) != 0)
		return false;
	name += word->prefix_length;
	return !strncmp(name, word->name, word->length) && (word->begins || !name[word->length]);
}

/* Adds the gauges of a word; returns their number. */
static size_t add_word(const struct mt_gauge_log *log, const struct mt_strings *strings,
		       uint32_t recording, const struct word *word, double sign,
		       struct mt_gauge_sum *sum)
{
	const struct mt_host_gauge *gauge;
	size_t before = sum->count;

	for (size_t i = 0; (gauge = mt_gauge_log_host(log, i)); i++) {
		if (gauge->recording == recording && sum->count < MT_GAUGE_TERMS &&
		    names(word, mt_strings_get(strings, gauge->name)))
			sum->terms[sum->count++] = (struct mt_gauge_term){gauge, sign};
	}
	return sum->count - before;
}

bool mt_gauge_sum_find(const struct mt_gauge_log *log, const struct mt_strings *strings,
		       uint32_t recording, const char *formula, struct mt_gauge_sum *out)
{
	const char *end = strpbrk(formula, "+-"), *at = end ? end - 1 : formula + strlen(formula);
	struct word word = {.prefix = formula};
	double sign = 1;

	*out = (struct mt_gauge_sum){0};
	while (at > formula && at[-1] != ' ')
		at--;
	word.prefix_length = (size_t)(at - formula);
	while (*at) {
		size_t length = strcspn(at, " ");
		char last = at[length - 1];

		word.name = at;
		word.begins = last == '*';
		word.length = length - (last == '*' || last == '?');
		if (!add_word(log, strings, recording, &word, sign, out) && last != '?')
			return false;
		at += length;
		at += strspn(at, " ");
		sign = *at == '-' ? -1 : 1;
		at += strspn(at, "+- ");
	}
	return out->count;
}

struct mt_gauge_sum mt_gauge_sum_of(const struct mt_host_gauge *gauge)
{
	return (struct mt_gauge_sum){.terms = {{gauge, 1}}, .count = 1};
}

/* ---- Course ---- */

static double value_at(const struct mt_gauge_sum *sum, uint64_t time)
{
	double value = 0;

	for (size_t i = 0; i < sum->count; i++)
		value += sum->terms[i].sign * mt_series_at(&sum->terms[i].gauge->series, time);
	return value;
}

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Lists `from`, the times in between at which a term changes, and `to`. Returns their number. */
static size_t find_times(const struct mt_gauge_sum *sum, uint64_t from, uint64_t to,
			 uint64_t times[TIMES_MOST])
{
	size_t count = 0;

	times[count++] = from;
	for (size_t i = 0; i < sum->count; i++) {
		const struct mt_series *series = &sum->terms[i].gauge->series;

		for (size_t j = 0; series->points && j < series->count; j++) {
			if (series->points[j].time > from && series->points[j].time < to)
				times[count++] = series->points[j].time;
		}
	}
	times[count++] = to;
	qsort(times, count, sizeof(*times), compare_times);
	return count;
}

/*
 * The longest time that a change may have taken: the interval between readings, or between points
 * of a series if that is longer. Unchanged values are not recorded, so two points may be further
 * apart.
 */
static uint64_t longest_step(const struct mt_gauge_sum *sum)
{
	uint64_t step = sum->terms[0].gauge->interval;

	for (size_t i = 0; i < sum->count; i++) {
		const struct mt_series *series = &sum->terms[i].gauge->series;

		step = series->interval > step ? series->interval : step;
	}
	return step;
}

/* The last change before `time` if it is less than `step` old; else `time`, as if read then. */
static uint64_t read_at(const struct mt_gauge_sum *sum, uint64_t time, uint64_t step)
{
	uint64_t last = 0;

	for (size_t i = 0; i < sum->count; i++) {
		const struct mt_series *series = &sum->terms[i].gauge->series;

		for (size_t j = 0; series->points && j < series->count; j++) {
			if (series->points[j].time <= time && series->points[j].time > last)
				last = series->points[j].time;
		}
	}
	return time - last < step ? last : time;
}

struct mt_gauge_course mt_gauge_sum_course(const struct mt_gauge_sum *sum)
{
	const struct mt_host_gauge *gauge = sum->terms[0].gauge;
	uint64_t times[TIMES_MOST], step = longest_step(sum);
	size_t count = find_times(sum, gauge->from, gauge->to, times);
	double before = value_at(sum, gauge->from), seconds;
	struct mt_gauge_course course = {
		.first = before, .most = before, .last = value_at(sum, gauge->to)};

	for (size_t i = 1; i < count; i++) {
		double value = value_at(sum, times[i]);
		uint64_t took = times[i] - times[i - 1];

		seconds = (double)(step && took > step ? step : took) / 1e9;
		if (seconds > 0 && (value - before) / seconds > course.fastest)
			course.fastest = (value - before) / seconds;
		course.most = value > course.most ? value : course.most;
		before = value;
	}
	seconds =
		(double)(int64_t)(read_at(sum, gauge->to, step) - read_at(sum, gauge->from, step)) /
		1e9;
	course.per_second = seconds > 0 ? (course.last - course.first) / seconds : 0;
	return course;
}
