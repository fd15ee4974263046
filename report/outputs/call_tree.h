/*
 * A call tree as a few lines of text.
 */
#ifndef MT_REPORT_OUTPUTS_CALL_TREE_H
#define MT_REPORT_OUTPUTS_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct mt_tree;

struct mt_call_tree_options {
	size_t width; /* columns */
	size_t lines; /* about so many, lighter branches left out */
	bool utf8;    /* else plain ASCII */
};

/* Prints a sorted tree; runs of calls without a branch take one line. */
void mt_call_tree_print(const struct mt_tree *tree, const struct mt_call_tree_options *options,
			FILE *to);

#endif
