/* What is said once, at the end of a report, of images whose functions it could not name. */
#ifndef MT_REPORT_NAMES_MISSING_NAMES_H
#define MT_REPORT_NAMES_MISSING_NAMES_H

#include <stdbool.h>
#include <stdio.h>

struct mt_symbolizer;

/*
 * Lines on debug files that were refused, and one on images without names: which, why, and what
 * debuginfod would be asked for, unless it was. Each line begins with `prefix`.
 */
void mt_missing_names_print(const struct mt_symbolizer *symbolizer, bool asked, const char *prefix,
			    FILE *to);

#endif
