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

/* Sums of the paths through a frame; paths with negative sums are left out. */
struct mt_flame_sums {
	struct mt_value value;
	double base;   /* the same sum in the base; 0 if there is no base */
	double gone;   /* sum of base over paths that have no present figure */
	double joined; /* part of value for which the frame comes from other stacks of the thread */
	uint8_t kinds; /* bits of enum mt_place_kind, of all its paths */
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
 * Reads the table. The names of a path are its event, if there are several, its other keys and its
 * stack. Deinit `out` after failure, too.
 */
struct mt_error *mt_flame_tree_make(const struct mt_flame_tree_options *options,
				    struct mt_table *table, struct mt_flame_tree *out);
void mt_flame_tree_deinit(struct mt_flame_tree *tree);

/*
 * ---- The layout: which frames are drawn and where, and which are too narrow. Lengths are in the
 * unit of the figure; the writer converts them to pixels ----
 */

struct mt_flame_box {
	uint32_t node;	 /* the node; of merged boxes, the first one */
	uint32_t parent; /* index of its caller's box; UINT32_MAX: the root */
	uint32_t depth;	 /* 0: the root */
	double x, width;
	struct mt_flame_sums sums;
};

/* Boxes from left to right, each caller before its callees. */
struct mt_flame_layout {
	MT_ARRAY(struct mt_flame_box) boxes;
	uint32_t rows;	   /* number of frames on top of each other; 0: nothing is drawn */
	double total;	   /* of the root */
	size_t narrow;	   /* frames that are not drawn */
	double narrow_sum; /* sum of the narrow frames whose caller is drawn */
	double least;	   /* minimum width of a drawn frame */
};

struct mt_flame_layout_options {
	bool gone;    /* lay out the figures that are gone instead of the present ones */
	bool chart;   /* the root's children are times: continued frames are merged */
	double least; /* narrower frames are left out */
	/*
	 * If size_of is not NULL, `least`, which must be above 0, is raised until the sizes of all
	 * boxes add up to at most `most`.
	 */
	size_t (*size_of)(const struct mt_flame_tree *tree, const struct mt_flame_box *box);
	size_t most;
};

/* Makes the layout. Deinit `out` afterwards. */
void mt_flame_layout_make(const struct mt_flame_layout_options *options,
			  const struct mt_flame_tree *tree, struct mt_flame_layout *out);
void mt_flame_layout_deinit(struct mt_flame_layout *layout);

#endif
