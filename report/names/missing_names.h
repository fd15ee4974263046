/* Remarks at the end of a report on images without names or lines. */
#ifndef MT_REPORT_NAMES_MISSING_NAMES_H
#define MT_REPORT_NAMES_MISSING_NAMES_H

#include <stdbool.h>
#include <stdio.h>

struct mt_symbolizer;

/*
 * Prints a line for each rejected debug file, and one line for all images without names: their
 * names, the reason, and the files for --debuginfod, unless it was given (`asked`). Prints another
 * line for images whose lines were requested and are only on the recorded host. Each line starts
 * with `prefix`.
 */
void mt_missing_names_print(const struct mt_symbolizer *symbolizer, bool asked, const char *prefix,
			    FILE *to);

#endif
