/*
 * Prints a call tree as a few lines of text.
 */
#ifndef MT_REPORT_OUTPUTS_CALL_TREE_H
#define MT_REPORT_OUTPUTS_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct mt_tree;

struct mt_call_tree_options {
	size_t width; /* columns of the terminal */
	size_t lines; /* approximate limit; lighter branches are left out */
	bool utf8;    /* draw with UTF-8; else ASCII */
};

/* Prints a sorted tree; a chain of calls without a branch takes one line. */
void mt_call_tree_print(const struct mt_tree *tree, const struct mt_call_tree_options *options,
			FILE *to);

#endif
