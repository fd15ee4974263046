/*
 * The picture options of --flamegraph: their rows, their values, and the options that they exclude.
 */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/cli/option_table.h"
#include "report/cli/options.h"
#include "report/cli/registry.h"
#include "report/outputs/flame/flame_colors.h"

enum {
	CHART_INTERVALS = 200, /* of --flamechart, approximately: six pixels each */
};

enum kind {
	KIND_TEXT,
	KIND_NUMBER,
	KIND_FLAG,
};

/* The field of each value, and the range of its numbers. */
static const struct setting {
	const char *name; /* with its dashes, as in messages */
	enum kind kind;
	size_t offset;
	double least, most;
} settings[] = {
	{"--colors", KIND_TEXT, offsetof(struct mt_flame_options, palette), 0, 0},
	{"--title", KIND_TEXT, offsetof(struct mt_flame_options, title), 0, 0},
	{"--subtitle", KIND_TEXT, offsetof(struct mt_flame_options, subtitle), 0, 0},
	{"--countname", KIND_TEXT, offsetof(struct mt_flame_options, countname), 0, 0},
	{"--width", KIND_NUMBER, offsetof(struct mt_flame_options, width), 200, 100000},
	{"--height", KIND_NUMBER, offsetof(struct mt_flame_options, height), 8, 200},
	{"--minwidth", KIND_NUMBER, offsetof(struct mt_flame_options, minwidth), 0, 100000},
	{"--total", KIND_NUMBER, offsetof(struct mt_flame_options, total), 0, 1e300},
	{"--factor", KIND_NUMBER, offsetof(struct mt_flame_options, factor), 0, 1e100},
	{"--inverted", KIND_FLAG, offsetof(struct mt_flame_options, inverted), 0, 0},
	{"--reverse", KIND_FLAG, offsetof(struct mt_flame_options, reverse), 0, 0},
	{"--negate", KIND_FLAG, offsetof(struct mt_flame_options, negate), 0, 0},
	{"--flamechart", KIND_FLAG, offsetof(struct mt_flame_options, chart), 0, 0},
};

static struct mt_error *set_number(struct mt_flame_options *flame, const struct setting *setting,
				   const char *value)
{
	bool minwidth = setting->offset == offsetof(struct mt_flame_options, minwidth);
	double *field = (double *)((char *)flame + setting->offset);
	char *end;
	double number;

	errno = 0;
	number = strtod(value, &end);
	flame->minwidth_percent = minwidth ? *end == '%' : flame->minwidth_percent;
	flame->minwidth_given |= minwidth;
	end += minwidth && *end == '%';
	if (errno || end == value || *end || !isfinite(number) || number < setting->least ||
	    number > setting->most || (number <= 0 && !minwidth))
		return mt_error_create(MT_ERR_USAGE, "%s %s: not a number from %g to %g",
				       setting->name, value, setting->least, setting->most);
	*field = number;
	return NULL;
}

static struct mt_error *set_picture(struct mt_report_options *o, const char *name,
				    const char *value)
{
	const struct setting *setting = settings;
	char *field;

	while (strcmp(setting->name, name) != 0)
		setting++;
	field = (char *)&o->flame + setting->offset;
	o->flame.given = setting->name;
	if (setting->kind == KIND_NUMBER)
		return set_number(&o->flame, setting, value);
	if (setting->kind == KIND_FLAG)
		*(bool *)field = true;
	else
		*(const char **)field = value;
	return NULL;
}

#define ROW(name, argument, help)                                                  \
	{                                                                          \
		0, name, NULL, argument, MT_OPTION_OWN, 0, set_picture, NULL, help \
	}

const struct mt_option mt_picture_option_rows[] = {
	ROW("colors", "PALETTE",
	    "mem (default: green, with kernel, inlined and JIT code apart), hot, java, io, red, "
	    "green, blue, aqua, yellow, purple, orange, diff (default with --base)"),
	ROW("title", "TEXT", "the title"),
	ROW("subtitle", "TEXT", "the line below it; by default the recording's name and length"),
	ROW("countname", "TEXT", "the figures' unit, by default the analysis's"),
	ROW("inverted", NULL, "roots at the top: an icicle graph"),
	ROW("reverse", NULL, "merge stacks from their leaves: who calls it"),
	ROW("width", "PIXELS", "of the picture (1200)"),
	ROW("height", "PIXELS", "of a frame (16)"),
	ROW("minwidth", "PIXELS|PCT%",
	    "leave out narrower frames (0.1; more where the file would exceed 5 MB)"),
	ROW("total", "FIGURE", "what the whole width stands for, by default the sum"),
	ROW("factor", "NUMBER", "multiply printed figures by NUMBER"),
	ROW("negate", NULL, "with --base: blue for more and red for less"),
	ROW("flamechart", NULL,
	    "time from left to right: some 200 intervals (or those of --timeline), in each the "
	    "frames by name"),
	{0},
};

static struct mt_error *check_palette(const struct mt_report_options *o)
{
	const struct mt_flame_palette *palette;
	char known[200];

	palette = mt_flame_palette_find(o->flame.palette, o->wishes.compare);
	mt_flame_palette_names(known, sizeof(known));
	if (!palette)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE, "--colors %s: no such palette",
						     o->flame.palette),
				     "known: %s", known);
	if (!o->wishes.compare && (mt_flame_palette_is_change(palette) || o->flame.negate))
		return mt_error_create(MT_ERR_USAGE, "%s shows a change: add --base FILE",
				       o->flame.negate ? "--negate" : "--colors diff");
	return NULL;
}

struct mt_error *mt_picture_options_check(struct mt_report_options *o)
{
	const struct mt_analysis *analysis = o->analysis ? o->analysis : mt_analyses[0];
	struct mt_error *err = check_palette(o);

	if (err || !o->flame.chart)
		return err;
	if (o->wishes.compare)
		return mt_error_create(MT_ERR_USAGE, "--base and --flamechart exclude each other");
	if (!(analysis->by & MT_BY_BIT(MT_BY_TIME)))
		return mt_error_create(MT_ERR_USAGE, "--flamechart: --%s is not a sum over time",
				       analysis->name);
	o->wishes.timeline = true;
	o->wishes.intervals = CHART_INTERVALS;
	if (!o->wishes.by.count)
		o->wishes.by = analysis->default_by;
	return NULL;
}
