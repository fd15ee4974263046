/* One gauge over time, in bounded memory, and the shape of its course. */
#ifndef MT_REPORT_GAUGES_SERIES_H
#define MT_REPORT_GAUGES_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MT_SERIES_POINTS 64

/*
 * A value is valid until the next one. When all points are in use, every second point is dropped,
 * and later points are at least twice as far apart. A zeroed series has no value. Most processes of
 * a long recording have one value, which needs no points.
 */
struct mt_series {
	struct mt_series_point {
		uint64_t time; /* ns on the recording's clock */
		double value;
	} * points;		  /* NULL for a single value */
	uint16_t count, capacity; /* of points; a single value counts as one */
	uint64_t interval;	  /* ns, minimum distance between points */
	double last;		  /* the newest value, which may have no point */
	double most, least;
	uint64_t first_time, last_time; /* times of the first and the newest value */
};

void mt_series_deinit(struct mt_series *series);

/* Adds a value; times do not decrease. */
void mt_series_add(struct mt_series *series, uint64_t time, double value);

/* The value at a time; before the first value, the first value. The series must have a value. */
double mt_series_at(const struct mt_series *series, uint64_t time);

/*
 * The course from one time to another in a few words: "steady", "two steps, flat", "flat".
 * interval: time between readings of the gauge, in ns. Changes of less than MT_TREND_NOISE bytes
 * are flat. "-" if there are too few readings. is_new: the value was 0 before the first reading.
 */
const char *mt_series_trend(const struct mt_series *series, bool is_new, uint64_t from, uint64_t to,
			    uint64_t interval);

#define MT_TREND_NOISE ((double)(256 << 10))

#endif
