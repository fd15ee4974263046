/*
 * The colours of a flame graph's frames.
 */
#ifndef MT_REPORT_OUTPUTS_FLAME_FLAME_COLORS_H
#define MT_REPORT_OUTPUTS_FLAME_FLAME_COLORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kinds of frames that a palette distinguishes. */
enum mt_flame_hue {
	MT_HUE_CODE,
	MT_HUE_CPP, /* code with "::" in its name */
	MT_HUE_INLINED,
	MT_HUE_MADE,
	MT_HUE_KERNEL,
	MT_HUE_WORDS, /* text instead of code; grey in every palette */
	MT_HUES
};

/* A colour from (r, g, b) up to (dr, dg, db) more. */
struct mt_flame_range {
	uint8_t r, g, b, dr, dg, db;
};

struct mt_flame_palette {
	const char *name;
	const char *from, *to; /* of the background, at the top and the bottom */
	bool hues_differ;      /* kinds of code differ in hue */
	struct mt_flame_range hues[MT_HUES];
};

/*
 * The palettes, up to a row without a name. The first is the default; the last one before the end
 * is the default with --base.
 */
extern const struct mt_flame_palette mt_flame_palettes[];

/*
 * The palette called `name`; NULL if unknown. If `name` is NULL, the default, or with `compared`
 * that of --base.
 */
const struct mt_flame_palette *mt_flame_palette_find(const char *name, bool compared);

/* True for the palette of changes. */
bool mt_flame_palette_is_change(const struct mt_flame_palette *palette);

/* Writes the names of all palettes: "mem, hot, .." */
void mt_flame_palette_names(char *out, size_t size);

/* The hue of a frame with these bits of enum mt_place_kind. */
enum mt_flame_hue mt_flame_hue_of(const char *name, unsigned int kinds);

/* A frame's colour as 0xRRGGBB: the same name always has the same colour. */
uint32_t mt_flame_color(const struct mt_flame_palette *palette, enum mt_flame_hue hue,
			const char *name);

/* The colour of a change from -1 to 1: white for 0, red for more and blue for less. */
uint32_t mt_flame_change_color(double change);

#endif
