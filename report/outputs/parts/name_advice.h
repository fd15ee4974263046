/*
 * Advice on frames without names: how to get names of JIT code and of an interpreter's functions;
 * and which tool to use if a garbage collector hides the program's paths. Advice is given once for
 * each program.
 */
#ifndef MT_REPORT_OUTPUTS_NAME_ADVICE_H
#define MT_REPORT_OUTPUTS_NAME_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct mt_table;

enum {
	MT_NAME_ADVICE_MOST = 8, /* most programs that get advice */
};

/* A zeroed struct has seen no stack. */
struct mt_name_advice {
	double all; /* the weight of all stacks seen */
	struct {
		const char *program; /* borrowed from the table: path, or name of an image */
		const void *row;     /* index in the table of advice */
		double weight;
		double collected; /* part of the weight that is of the garbage collector */
	} items[MT_NAME_ADVICE_MOST];
	size_t count;
};

/* Looks at a stack of this weight. */
void mt_name_advice_see(struct mt_name_advice *advice, const struct mt_table *table, uint32_t stack,
			double weight);

/* Whether most of the weight is of programs that call malloc and free. */
bool mt_name_advice_has_blocks(const struct mt_name_advice *advice);

/*
 * Prints a line or two for each program with 1 % or more of the weight: "names    node: .." for the
 * label "names", the first after `before`. Prints nothing if all frames have names.
 */
void mt_name_advice_print(const struct mt_name_advice *advice, const char *before,
			  const char *label, size_t width, FILE *to);

#endif
