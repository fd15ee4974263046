/* The picture options of --flamegraph, set by report/cli/picture_options.c. */
#ifndef MT_REPORT_OUTPUTS_FLAME_FLAME_OPTIONS_H
#define MT_REPORT_OUTPUTS_FLAME_FLAME_OPTIONS_H

#include <stdbool.h>

/* 0 or NULL: the default. Strings are borrowed. */
struct mt_flame_options {
	const char *given;   /* name of the first option that was set, or NULL */
	const char *palette; /* --colors: a name of mt_flame_palettes */
	const char *title, *subtitle, *countname;
	double width, height; /* in pixels: width of the picture, height of a frame */
	double minwidth; /* narrower frames are not drawn; in pixels or per cent of the total */
	bool minwidth_given;
	bool minwidth_percent; /* minwidth is a percentage of the total */
	double total;	       /* figure that the whole width represents */
	double factor;	       /* printed figures are multiplied by it */
	bool inverted;	       /* roots at the top */
	bool reverse;	       /* stacks are merged from their leaves */
	bool negate;	       /* --base: blue for more, red for less */
	bool chart;	       /* time from left to right */
};

#endif
