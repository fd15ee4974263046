/*
 * The instructions of functions, each with the figures of the frames there. A caller's figures are
 * those of its call.
 */
#ifndef MT_REPORT_OUTPUTS_ANNOTATE_INSTRUCTIONS_H
#define MT_REPORT_OUTPUTS_ANNOTATE_INSTRUCTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct mt_error;
struct mt_instructions;
struct mt_table;
struct mt_view;

enum {
	MT_ANNOTATE_AROUND = 3, /* lines shown before and after one with a figure */
};

/* The figures of a line or an instruction. */
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

/* Borrows both. */
struct mt_instructions *mt_instructions_create(const struct mt_view *view,
					       const struct mt_table *table);
void mt_instructions_destroy(struct mt_instructions *instructions);

/* Adds a row to a frame, whose lines are in the file of this id. */
void mt_instructions_add(struct mt_instructions *instructions, uint32_t frame, uint32_t file,
			 const struct mt_annotate_part *part);

/*
 * Prints each function. `shown`, if not NULL: by id of file, only the functions that have lines in
 * those files.
 */
struct mt_error *mt_instructions_print(struct mt_instructions *instructions, double total,
				       bool counted, const bool *shown, FILE *to);

#endif
