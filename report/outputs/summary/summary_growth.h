/*
 * The summary's sections about memory: how much the mapped memory grew, the paths with most of the
 * growth, and the verdicts on the largest.
 */
#ifndef MT_REPORT_OUTPUTS_SUMMARY_SUMMARY_GROWTH_H
#define MT_REPORT_OUTPUTS_SUMMARY_SUMMARY_GROWTH_H

#include <stdio.h>

struct mt_error;
struct mt_table;
struct mt_view;

/* Takes a table of --growth by thread name and stack. */
struct mt_error *mt_summary_growth_print(const struct mt_view *view, struct mt_table *growth,
					 FILE *to);

/* Takes a table of --verdict with stacks. */
struct mt_error *mt_summary_verdicts_print(const struct mt_view *view, struct mt_table *verdicts,
					   FILE *to);

#endif
