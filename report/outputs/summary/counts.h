/*
 * Counts: how often each event was sampled, by which threads, in which functions, on which paths.
 */
#ifndef MT_REPORT_OUTPUTS_SUMMARY_COUNTS_H
#define MT_REPORT_OUTPUTS_SUMMARY_COUNTS_H

#include <stddef.h>
#include <stdio.h>

struct mt_counts;
struct mt_error;
struct mt_table;
struct mt_view;

/* Reads the table. Borrows view and table. */
struct mt_error *mt_counts_read(const struct mt_view *view, struct mt_table *table,
				struct mt_counts **out);
void mt_counts_destroy(struct mt_counts *counts);

/* Prints how often each event was sampled, by which threads, and why stacks end early. */
void mt_counts_print_events(const struct mt_counts *counts, FILE *to);

/* Prints functions and call trees of the events that were sampled most. */
struct mt_error *mt_counts_print_stacks(struct mt_counts *counts, FILE *to);

/* Events by how often they were sampled; NULL after the last. */
const char *mt_counts_event(const struct mt_counts *counts, size_t index);

/* The name of the threads that were sampled most; NULL if all have one name. */
const char *mt_counts_thread(const struct mt_counts *counts);

#endif
