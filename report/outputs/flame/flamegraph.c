/*
 * --flamegraph: the stacks as a picture, an SVG file as flamegraph.pl draws it, with its own zoom
 * and search. Frames too narrow to see are left out. More frames are left out if the file would be
 * too large for a browser. The picture and the remark on stderr say how many.
 */
#include <math.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/outputs/flame/flame_colors.h"
#include "report/outputs/flame/flame_layout.h"
#include "report/outputs/flame/flame_options.h"
#include "report/outputs/flame/flame_svg.h"
#include "report/outputs/flame/flame_tree.h"
#include "report/outputs/outputs.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

enum {
	DEFAULT_WIDTH = 1200,
	DEFAULT_HEIGHT = 16,
	BYTES_MOST = 4600000, /* of frames in the file, unless --minwidth is given */
};

#define DEFAULT_MINWIDTH 0.1

/* The inputs of the picture. */
struct flamegraph {
	struct mt_flame_options options;
	const struct mt_view *view;
	const struct mt_table *table;
	struct mt_flame_tree tree;
	struct mt_flame_layout now, gone;
	double total; /* figure that the whole width represents */
	char title[256], subtitle[512];
};

static void flamegraph_deinit(struct flamegraph *f)
{
	mt_flame_tree_deinit(&f->tree);
	mt_flame_layout_deinit(&f->now);
	mt_flame_layout_deinit(&f->gone);
}

static void set_defaults(struct mt_flame_options *options)
{
	options->width = options->width > 0 ? options->width : DEFAULT_WIDTH;
	options->height = options->height > 0 ? options->height : DEFAULT_HEIGHT;
	options->factor = options->factor > 0 ? options->factor : 1;
	if (!options->minwidth_given)
		options->minwidth = DEFAULT_MINWIDTH;
}

/* ---- Words ---- */

static const char *unit_of(const struct flamegraph *f)
{
	const struct mt_value_column *column = &f->table->values[f->view->value];

	if (f->options.countname)
		return f->options.countname;
	if (!strcmp(column->unit, "B"))
		return "bytes";
	return *column->unit ? column->unit : column->name;
}

static void make_title(struct flamegraph *f)
{
	const char *kind = f->options.chart	 ? "Flame Chart"
			   : f->options.inverted ? "Icicle Graph"
						 : "Flame Graph";

	snprintf(f->title, sizeof(f->title), "%s%s: %s, %s",
		 f->table->compared ? "Differential " : "", kind, f->table->name, unit_of(f));
}

/* "memory.mtr, 12.6 s, 3 records lost" */
static void make_subtitle(struct flamegraph *f)
{
	const struct mt_facts *facts = f->view->facts;
	uint64_t lost = mt_facts_lost_all(facts);
	size_t count = facts->recordings.count;
	const char *file = count ? facts->recordings.items[0].file : "",
		   *slash = strrchr(file, '/');
	char more[32] = "";

	if (count > 1)
		snprintf(more, sizeof(more), " and %zu more", count - 1);
	snprintf(f->subtitle, sizeof(f->subtitle), "%.200s%s, %s%s", slash ? slash + 1 : file, more,
		 mt_text_duration(mt_facts_seconds(facts)).text,
		 f->table->compared ? ", and the base" : "");
	if (lost)
		snprintf(f->subtitle + strlen(f->subtitle),
			 sizeof(f->subtitle) - strlen(f->subtitle),
			 "; %s records were lost while recording",
			 mt_text_count((double)lost).text);
}

/* ---- The picture ---- */

static struct mt_error *check_table(const struct mt_table *table, const struct flamegraph *f)
{
	size_t value = f->view->value;

	if (!table->compared && table->most >> value & 1)
		return mt_error_create(MT_ERR_USAGE, "--flamegraph draws sums, and %s is none",
				       table->values[value].name);
	return NULL;
}

static struct mt_error *fit_total(struct flamegraph *f)
{
	double value = f->tree.sums.items[0].value.value, gone = f->tree.sums.items[0].gone;
	double most = value > gone ? value : gone;

	if (f->options.total > 0 && f->options.total < most)
		return mt_error_create(MT_ERR_USAGE, "--total %g: all of it is %s",
				       f->options.total, mt_text_count(most).text);
	f->total = f->options.total > 0 ? f->options.total : most;
	return NULL;
}

static struct mt_error *lay_out(struct flamegraph *f)
{
	double pixels = f->options.width - 2 * MT_FLAME_PAD;
	double part = f->options.minwidth / (f->options.minwidth_percent ? 100 : pixels);
	struct mt_error *err = fit_total(f);
	struct mt_flame_layout_options options = {
		.chart = f->options.chart,
		.least = part * f->total,
		.size_of = f->options.minwidth_given ? NULL : mt_flame_svg_size_of,
		.most = f->table->compared ? BYTES_MOST / 2 : BYTES_MOST,
	};

	if (err)
		return err;
	mt_flame_layout_make(&options, &f->tree, &f->now);
	options.gone = true;
	mt_flame_layout_make(&options, &f->tree, &f->gone);
	return NULL;
}

static void report_remainder(const struct flamegraph *f)
{
	double pixels = f->options.width - 2 * MT_FLAME_PAD;

	if (!f->view->remainder)
		return;
	*f->view->remainder = (struct mt_remainder){
		.below_zero = f->tree.below_zero,
		.narrow = f->now.narrow + f->gone.narrow,
		.narrow_sum = f->now.narrow_sum + f->gone.narrow_sum,
		.narrow_pixels = f->total > 0 ? f->now.least / f->total * pixels : 0,
	};
}

static void draw(struct flamegraph *f, FILE *to)
{
	const char *unit = unit_of(f);
	struct mt_flame_picture picture = {
		.options = &f->options,
		.palette = mt_flame_palette_find(f->options.palette, f->table->compared),
		.title = f->options.title ? f->options.title : f->title,
		.subtitle = f->options.subtitle ? f->options.subtitle : f->subtitle,
		.unit = unit,
		.bytes = !strcmp(unit, "bytes"),
		.compared = f->table->compared,
		.tree = &f->tree,
		.now = &f->now,
		.gone = &f->gone,
		.total = f->total > 0 ? f->total : 1,
	};

	make_title(f);
	make_subtitle(f);
	mt_flame_svg_write(&picture, to);
}

static struct mt_error *write_flamegraph(const struct mt_view *view, struct mt_table *table,
					 FILE *to)
{
	MT_CLEANUP(flamegraph_deinit) struct flamegraph f = {.view = view, .table = table};
	struct mt_flame_tree_options options = {.value = view->value, .srcline = view->srcline};
	struct mt_error *err = check_table(table, &f);

	if (view->flame)
		f.options = *view->flame;
	set_defaults(&f.options);
	options.reverse = f.options.reverse;
	options.chart = f.options.chart;
	err = err ? err : mt_flame_tree_make(&options, table, &f.tree);
	err = err ? err : lay_out(&f);
	if (err)
		return err;
	report_remainder(&f);
	draw(&f, to);
	return NULL;
}

const struct mt_output mt_output_flamegraph = {
	.name = "flamegraph",
	.argument = "OUT.svg",
	.help = "a flame graph, to be opened in a browser",
	.needs = MT_NEEDS_STACK | MT_TAKES_KEYS,
	.write = write_flamegraph,
};
