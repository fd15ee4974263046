/* The figures of a line or an instruction. */
#ifndef MT_REPORT_OUTPUTS_ANNOTATE_FIGURES_H
#define MT_REPORT_OUTPUTS_ANNOTATE_FIGURES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
	MT_ANNOTATE_AROUND = 3, /* lines shown before and after one with a figure */
};

struct mt_annotate_figures {
	double self, through, count;
	uint64_t row; /* number of the last row that was added, from 1 on */
};

/* A row's figures at one place. */
struct mt_annotate_part {
	double value, count;
	uint64_t row;
	bool self; /* the place calls no other function */
};

/* Adds a row, which counts once however often it passes through. */
void mt_annotate_add(struct mt_annotate_figures *figures, const struct mt_annotate_part *part);

/* Prints the columns, without an end of line; NULL: blanks. `counted`: counts are known. */
void mt_annotate_print(const struct mt_annotate_figures *figures, double total, bool counted,
		       FILE *to);

#endif
