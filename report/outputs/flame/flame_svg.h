/* Writes a laid-out flame graph as a self-contained SVG file. */
#ifndef MT_REPORT_OUTPUTS_FLAME_FLAME_SVG_H
#define MT_REPORT_OUTPUTS_FLAME_FLAME_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct mt_flame_box;
struct mt_flame_layout;
struct mt_flame_options;
struct mt_flame_palette;
struct mt_flame_tree;

enum {
	MT_FLAME_PAD = 10, /* pixels left and right of the frames */
};

/* Everything is borrowed. */
struct mt_flame_picture {
	const struct mt_flame_options *options; /* width, height and factor are set */
	const struct mt_flame_palette *palette;
	const char *title, *subtitle;
	const char *unit; /* bytes, pages, calls */
	bool bytes;	  /* figures are bytes, printed in MB, too */
	bool compared;
	const struct mt_flame_tree *tree;
	const struct mt_flame_layout *now;
	const struct mt_flame_layout *gone; /* rows 0: nothing is */
	double total;			    /* figure that the whole width represents */
};

/* Approximate bytes of a frame in the file. */
size_t mt_flame_svg_size_of(const struct mt_flame_tree *tree, const struct mt_flame_box *box);

/* The caller checks `to` for write errors. */
void mt_flame_svg_write(const struct mt_flame_picture *picture, FILE *to);

#endif
