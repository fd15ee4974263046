/*
 * The frames of a flame graph: the stacks of a table of sums, merged from their roots by the names
 * of their functions.
 */
#ifndef MT_REPORT_OUTPUTS_FLAME_FLAME_TREE_H
#define MT_REPORT_OUTPUTS_FLAME_FLAME_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "report/tables/table.h"

struct mt_error;
struct mt_tree;

enum mt_flame_kind {
	MT_FLAME_INLINED = 1, /* inlined into its caller */
	MT_FLAME_KERNEL = 2,
	MT_FLAME_MADE = 4,  /* code that the process made: JIT */
	MT_FLAME_WORDS = 8, /* no code: a thread's name, a cause such as [lost] */
	MT_FLAME_GUESSED = 16,
};

/* Sums of the paths through a frame; only paths of more than 0 count. */
struct mt_flame_sums {
	struct mt_value value;
	double base;   /* the same of the base; 0 without one */
	double gone;   /* sum of base over paths that have no present figure */
	double joined; /* part of value for which the frame comes from other stacks of the thread */
	uint8_t kinds; /* bits of enum mt_flame_kind, of all its paths */
};

struct mt_flame_tree {
	struct mt_tree *tree;		     /* node 0 is the root of all; siblings by name */
	MT_ARRAY(struct mt_flame_sums) sums; /* by node */
	double below_zero;		     /* sum of the negative paths, which frames exclude */
};

struct mt_flame_tree_options {
	size_t value; /* value column to sum up; ignored for a comparison */
	bool srcline; /* names are followed by file and line */
	bool reverse; /* leaves first */
	/* The root's children are the table's times, as numbers; otherwise times are names. */
	bool chart;
};

/*
 * Reads the table. A path's names: its event if there are several, its other keys, its stack.
 * Deinit `out` after failure, too.
 */
struct mt_error *mt_flame_tree_make(const struct mt_flame_tree_options *options,
				    struct mt_table *table, struct mt_flame_tree *out);
void mt_flame_tree_deinit(struct mt_flame_tree *tree);

#endif
