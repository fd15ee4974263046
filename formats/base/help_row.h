/*
 * One row of a --help: an option in the left column, its explanation in the right one.
 */
#ifndef MT_FORMATS_BASE_HELP_ROW_H
#define MT_FORMATS_BASE_HELP_ROW_H

#include <stdio.h>

/*
 * Prints `left`, then `text` from column 28 on, wrapped between words at 80 columns. If `left`
 * reaches into the right column, `text` starts on the next line.
 */
void mt_help_row(const char *left, const char *text, FILE *to);

#endif
