/*
 * The parts of the summary, in the order in which they are printed. Private to
 * report/outputs/summary/.
 */
#ifndef MT_REPORT_OUTPUTS_SUMMARY_SUMMARY_PARTS_H
#define MT_REPORT_OUTPUTS_SUMMARY_SUMMARY_PARTS_H

#include <stdbool.h>
#include <stdio.h>

#include "report/tables/text.h"

struct mt_counts;
struct mt_error;
struct mt_summary_row;
struct mt_table;
struct mt_view;

struct mt_summary {
	const struct mt_view *view;
	FILE *to;
	struct mt_counts *counts;
	/*
	 * Tables about memory (report/analyses/alongside/memory_alongside.h); NULL if nothing is
	 * known.
	 */
	struct mt_table *host, *processes, *blocks, *resident, *growth, *verdict;
};

/* Calls `put` with each cause of uncertain figures, most important first. */
void mt_summary_notes(const struct mt_summary *s, void (*put)(void *context, const char *note),
		      void *context);

struct mt_memory_paths;

/*
 * Prints WHO GREW: the processes that grew most, and those with a path on the screen, for which
 * `has` is true. `paths` is its argument, or NULL if no paths are shown.
 */
struct mt_error *mt_summary_print_growers(const struct mt_summary *s,
					  bool (*has)(const struct mt_memory_paths *paths,
						      const char *process),
					  const struct mt_memory_paths *paths);

/* Which processes ended with the recording: their figures are as of their peak. */
enum mt_summary_ended {
	MT_NONE_ENDED,
	MT_SOME_ENDED,
	MT_ALL_ENDED,
};
enum mt_summary_ended mt_summary_growers_ended(const struct mt_summary *s);

/*
 * Reads BY WHICH PATH, the paths that touched, or mapped, most of the memory still held, and IS IT
 * A LEAK?, verdicts on the paths that hold most. They are read together, so that headlines are
 * distinct.
 */
struct mt_error *mt_memory_paths_read(const struct mt_summary *s, struct mt_memory_paths **out);
void mt_memory_paths_print(const struct mt_summary *s, const struct mt_memory_paths *paths);
/* Whether a path of processes of that name is shown. */
bool mt_memory_paths_has(const struct mt_memory_paths *paths, const char *process);
void mt_memory_paths_destroy(struct mt_memory_paths *paths);

/* Prints NOT SEEN and NEXT: what the recording lacks, and commands to continue with. */
struct mt_error *mt_summary_print_next(const struct mt_summary *s);

/* Bytes with a sign: "+26.0 MB", "-812 B". */
struct mt_snippet mt_summary_signed(double bytes);

/* Prints the same in nine columns, in the colour of growth if the terminal has colours. */
void mt_summary_print_growth(const struct mt_summary *s, double bytes);

/* Called before the first line of a row is printed, for a view that makes a link of it. */
void mt_summary_row(const struct mt_summary *s, const struct mt_summary_row *row);

/* Prints the heading of a part without a newline, in bold if the terminal can. */
void mt_summary_print_heading(const struct mt_summary *s, const char *heading);

/* Prints "NEXT       text": a heading of at most eight columns, and text in as many lines as
 * needed. */
void mt_summary_print_alongside(const struct mt_summary *s, const char *heading, const char *text);

/* Whether calls of allocators were recorded. */
bool mt_summary_has_allocations(const struct mt_summary *s);

/* Whether the selection has no samples: then only gauges have facts. */
bool mt_summary_is_empty(const struct mt_summary *s);

/* Whether all live processes of that name grew in one step at most, and were flat otherwise. */
bool mt_summary_is_flat(const struct mt_summary *s, const char *name);

/* Sets *pid to the process that grew most; false if none grew, or there is only one process. */
bool mt_summary_grower(const struct mt_summary *s, long *pid);

/* ---- Counts: how often each event was sampled, by which threads, in which functions ---- */

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
