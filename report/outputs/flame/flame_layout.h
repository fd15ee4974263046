/*
 * Places the frames of a tree side by side: which frames are drawn, where, and which are too
 * narrow. Units are those of the figure; the writer converts to pixels.
 */
#ifndef MT_REPORT_OUTPUTS_FLAME_FLAME_LAYOUT_H
#define MT_REPORT_OUTPUTS_FLAME_FLAME_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "report/outputs/flame/flame_tree.h"

struct mt_flame_box {
	uint32_t node;	 /* that named it */
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
	double narrow_sum; /* sum of those whose caller is drawn */
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

/* Deinit `out` afterwards. */
void mt_flame_layout_make(const struct mt_flame_layout_options *options,
			  const struct mt_flame_tree *tree, struct mt_flame_layout *out);
void mt_flame_layout_deinit(struct mt_flame_layout *layout);

#endif
