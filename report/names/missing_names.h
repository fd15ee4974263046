/* The remarks on images without names, or without lines, at the end of a report. */
#ifndef MT_REPORT_NAMES_MISSING_NAMES_H
#define MT_REPORT_NAMES_MISSING_NAMES_H

#include <stdbool.h>
#include <stdio.h>

struct mt_symbolizer;

/*
 * Prints a line for each rejected debug file, and one for all images without names: which, why, and
 * what --debuginfod would ask for, unless `asked`; and one for images whose lines were asked for
 * and stayed on the recorded host. Each line starts with `prefix`.
 */
void mt_missing_names_print(const struct mt_symbolizer *symbolizer, bool asked, const char *prefix,
			    FILE *to);

#endif
