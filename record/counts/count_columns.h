/* Counts of events, and the line of text for a count in the columns of perf stat. */
#ifndef MT_RECORD_COUNTS_COUNT_COLUMNS_H
#define MT_RECORD_COUNTS_COUNT_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct mt_event_set;
struct mt_planned_event;

/* The result of reading a counter, summed over CPUs and tasks. */
struct mt_count {
	uint64_t value;
	uint64_t enabled, running; /* ns; running is less if the counter shared its register */
};

/* How counts are printed. */
struct mt_count_style {
	const char *separator; /* NULL: columns */
	bool interval;	       /* print a time before each count */
};

/* Reads the present count of an event, given by its index in the plan. */
struct mt_count mt_count_read(const struct mt_event_set *opened, uint32_t event);

/* Returns the count between two readings. */
struct mt_count mt_count_since(const struct mt_count *before, const struct mt_count *now);

/*
 * Prints one count of an event: time (seconds), count scaled by enabled / running, unit, name, and
 * running / enabled in percent. Prints "not supported" for an event that the plan leaves out, and
 * "not counted" for an event whose counter never ran.
 */
void mt_count_print(const struct mt_count_style *style, double seconds,
		    const struct mt_planned_event *event, const struct mt_count *count, FILE *to);

#endif
