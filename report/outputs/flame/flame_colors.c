/* Palettes, and a name's colour from a palette. */
#include "report/outputs/flame/flame_colors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/outputs/parts/places.h"

#define GREY                           \
	{                              \
		218, 218, 214, 0, 8, 0 \
	}

/* A palette with one hue for all code, from (r, g, b) up to (dr, dg, db) more. */
#define PLAIN(word, top, bottom, ...)                                                            \
	{                                                                                        \
		.name = word, .from = top, .to = bottom,                                         \
		.hues = {[MT_HUE_CODE... MT_HUE_KERNEL] = {__VA_ARGS__}, [MT_HUE_WORDS] = GREY}, \
	}

const struct mt_flame_palette mt_flame_palettes[] = {
	{
		.name = "mem",
		.from = "#f2f7f2",
		.to = "#dcf0dc",
		.hues_differ = true,
		.hues = {[MT_HUE_CODE] = {92, 194, 100, 44, 42, 40},
			 [MT_HUE_CPP] = {92, 194, 100, 44, 42, 40},
			 [MT_HUE_INLINED] = {92, 196, 204, 56, 34, 34},
			 [MT_HUE_MADE] = {190, 214, 64, 40, 26, 40},
			 [MT_HUE_KERNEL] = {236, 168, 72, 16, 32, 40},
			 [MT_HUE_WORDS] = GREY},
	},
	PLAIN("hot", "#f7f5ee", "#f2ecc0", 206, 30, 10, 46, 190, 60),
	{
		.name = "java",
		.from = "#f7f5ee",
		.to = "#f2ecc0",
		.hues_differ = true,
		.hues = {[MT_HUE_CODE] = {206, 84, 84, 44, 60, 60},
			 [MT_HUE_CPP] = {180, 180, 56, 52, 52, 30},
			 [MT_HUE_INLINED] = {64, 176, 176, 60, 50, 50},
			 [MT_HUE_MADE] = {60, 196, 60, 60, 50, 60},
			 [MT_HUE_KERNEL] = {214, 116, 20, 36, 50, 40},
			 [MT_HUE_WORDS] = GREY},
	},
	PLAIN("io", "#f4f4f8", "#e0e2f4", 96, 112, 196, 60, 70, 50),
	PLAIN("red", "#f8f4f4", "#f4e2e2", 206, 70, 70, 44, 70, 70),
	PLAIN("green", "#f4f8f4", "#e0f2e0", 70, 186, 70, 66, 50, 66),
	PLAIN("blue", "#f4f4f8", "#e0e4f6", 84, 104, 206, 66, 66, 44),
	PLAIN("aqua", "#f2f8f8", "#dcf2f2", 60, 176, 176, 66, 56, 56),
	PLAIN("yellow", "#f8f8ee", "#f2f0c4", 186, 186, 56, 56, 46, 40),
	PLAIN("purple", "#f7f4f8", "#efe2f4", 180, 96, 196, 56, 60, 50),
	PLAIN("orange", "#f8f5f0", "#f6e8d0", 220, 110, 20, 34, 70, 40),
	PLAIN("diff", "#e6e6ea", "#d6d6dc", 236, 236, 236, 0, 0, 0),
	{0},
};

bool mt_flame_palette_is_change(const struct mt_flame_palette *palette)
{
	return !palette[1].name;
}

const struct mt_flame_palette *mt_flame_palette_find(const char *name, bool compared)
{
	const struct mt_flame_palette *palette = mt_flame_palettes;

	if (!name && !compared)
		return palette;
	for (; palette->name; palette++) {
		if (name ? !strcmp(palette->name, name) : mt_flame_palette_is_change(palette))
			return palette;
	}
	return NULL;
}

void mt_flame_palette_names(char *out, size_t size)
{
	size_t used = 0;

	for (const struct mt_flame_palette *p = mt_flame_palettes; p->name && used < size; p++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "",
					 p->name);
}

enum mt_flame_hue mt_flame_hue_of(const char *name, unsigned int kinds)
{
	if (kinds & MT_PLACE_WORDS)
		return MT_HUE_WORDS;
	if (kinds & MT_PLACE_KERNEL)
		return MT_HUE_KERNEL;
	if (kinds & MT_PLACE_INLINED)
		return MT_HUE_INLINED;
	if (kinds & MT_PLACE_MADE)
		return MT_HUE_MADE;
	return strstr(name, "::") ? MT_HUE_CPP : MT_HUE_CODE;
}

/* FNV-1a, mixed so that names that differ in their last character have different colours. */
static uint32_t hash_of(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	hash ^= hash >> 15;
	hash *= 0x2c1b3c6du;
	return hash ^ hash >> 13;
}

uint32_t mt_flame_color(const struct mt_flame_palette *palette, enum mt_flame_hue hue,
			const char *name)
{
	const struct mt_flame_range *range = &palette->hues[hue];
	uint32_t hash = hash_of(name), one = hash & 255, other = hash >> 8 & 255;
	uint32_t r = range->r + range->dr * one / 255, g = range->g + range->dg * other / 255;
	uint32_t b = range->b + range->db * one / 255;

	return r << 16 | g << 8 | b;
}

uint32_t mt_flame_change_color(double change)
{
	double size = fabs(change) < 1 ? fabs(change) : 1;
	uint32_t fade = 246 - (uint32_t)(150 * size), middle = 246 - (uint32_t)(120 * size);

	return change > 0 ? 246u << 16 | fade << 8 | fade : fade << 16 | middle << 8 | 246;
}
