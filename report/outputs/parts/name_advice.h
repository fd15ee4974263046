/*
 * What would have named frames that have no name: JIT code, and the functions of an interpreter's
 * programs; and whom to ask where a garbage collector stands for the program. Told once for each
 * program.
 */
#ifndef MT_REPORT_OUTPUTS_NAME_ADVICE_H
#define MT_REPORT_OUTPUTS_NAME_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct mt_table;

enum {
	MT_NAME_ADVICE_MOST = 8, /* programs that are told of */
};

/* Zeroed: nothing seen. */
struct mt_name_advice {
	double all; /* the weight of all stacks seen */
	struct {
		const char *program; /* borrowed from the table: path, or name of an image */
		const void *row;     /* of the table of advice */
		double weight;
		double collected; /* of it, what its garbage collector touched */
	} items[MT_NAME_ADVICE_MOST];
	size_t count;
};

/* Looks at a stack of this weight. False out of memory. */
bool mt_name_advice_see(struct mt_name_advice *advice, const struct mt_table *table, uint32_t stack,
			double weight);

/* Whether most of the weight is of programs that call malloc and free. */
bool mt_name_advice_has_blocks(const struct mt_name_advice *advice);

/*
 * A line or two for each program that has 1 % or more of the weight: "names    node: .." for the
 * label "names", the first behind `before`. Nothing where all have names.
 */
void mt_name_advice_print(const struct mt_name_advice *advice, const char *before,
			  const char *label, size_t width, FILE *to);

#endif
