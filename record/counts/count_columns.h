/*
 * Counts of events, and one count as a line of text: perf stat's columns.
 */
#ifndef MT_RECORD_COUNTS_COUNT_COLUMNS_H
#define MT_RECORD_COUNTS_COUNT_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct mt_event_set;
struct mt_planned_event;

/* What read() gives of a counter, summed over CPUs and tasks. */
struct mt_count {
	uint64_t value;
	uint64_t enabled, running; /* ns; a counter that shared its register ran for less */
};

/* How counts are written. */
struct mt_count_style {
	const char *separator; /* NULL: columns */
	bool interval;	       /* a time stands before each count */
};

/* The count of an event up to now, by its index in the plan. */
struct mt_count mt_count_read(const struct mt_event_set *opened, uint32_t event);

/* What was counted between two readings. */
struct mt_count mt_count_since(const struct mt_count *before, const struct mt_count *now);

/*
 * Prints one count of an event: time (seconds), count scaled by enabled / running, unit, name, and
 * what part of the time it ran. An event that is left out of the plan is not supported; one that
 * never ran is not counted.
 */
void mt_count_print(const struct mt_count_style *style, double seconds,
		    const struct mt_planned_event *event, const struct mt_count *count, FILE *to);

#endif
