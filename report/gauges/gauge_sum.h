/* Sums of the host's gauges over time: "meminfo MemTotal - MemAvailable". */
#ifndef MT_REPORT_GAUGES_GAUGE_SUM_H
#define MT_REPORT_GAUGES_GAUGE_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_gauge_log;
struct mt_host_gauge;
struct mt_strings;

#define MT_GAUGE_TERMS 24

struct mt_gauge_sum {
	struct mt_gauge_term {
		const struct mt_host_gauge *gauge; /* borrowed from the log */
		double sign;
	} terms[MT_GAUGE_TERMS];
	size_t count;
};

/* The course of a sum in the time that --time selects. */
struct mt_gauge_course {
	double first, last, most;
	double per_second; /* average change per second */
	double fastest;	   /* largest change per second between two readings */
};

/*
 * Finds the gauges of a formula in one recording: "PREFIX NAME", followed by any number of terms
 * "+ NAME" or "- NAME". A NAME ending in '*' matches all gauges with that prefix; a NAME ending in
 * '?' may be missing. False if another NAME is missing.
 */
bool mt_gauge_sum_find(const struct mt_gauge_log *log, const struct mt_strings *strings,
		       uint32_t recording, const char *formula, struct mt_gauge_sum *out);

/* The sum of one gauge. */
struct mt_gauge_sum mt_gauge_sum_of(const struct mt_host_gauge *gauge);

/* The course of a sum, which must have at least one term. */
struct mt_gauge_course mt_gauge_sum_course(const struct mt_gauge_sum *sum);

#endif
