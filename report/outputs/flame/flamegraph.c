/*
 * --flamegraph: the stacks as a picture, an SVG file as flamegraph.pl draws it, with its own zoom
 * and search. Frames too narrow to see are left out. More frames are left out if the file would be
 * too large for a browser. The picture and a remark on stderr say how many frames are left out.
 */
#include <math.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/outputs/flame/flame_colors.h"
#include "report/outputs/flame/flame_options.h"
#include "report/outputs/flame/flame_tree.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/cells.h"
#include "report/outputs/parts/places.h"
#include "report/stacks/tree.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

enum {
	DEFAULT_WIDTH = 1200,
	DEFAULT_HEIGHT = 16,
	PAD = 10,	      /* pixels left and right of the frames */
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
	const struct mt_flame_palette *palette;
	const char *unit; /* bytes, pages, calls */
	bool bytes;	  /* figures are bytes, printed in MB, too */
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

/* Makes a subtitle: "memory.mtr, 12.6 s, 3 records lost". */
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

/*
 * ---- The picture, from top to bottom: title, frames, frames that are gone since the base, a line
 * for the frame under the pointer, and notes on the colours and on frames that are not drawn ----
 *
 * A frame is <g data-v=FIGURE><title>NAME (FIGURE, ..)</title><rect/><text>NAME</text></g>; its
 * text is left out if there is no room.
 */

enum {
	LINE = 17, /* pixels of a line of text outside the frames */
	HEAD = 34, /* of the title */
	LEGEND_COLUMN = 100,
	FRAME_BYTES = 150,   /* approximate bytes of a frame without its name */
	LABEL_MOST = 1000,   /* characters of a name within a frame */
	JOINED_PERCENT = 50, /* a frame is drawn as joined if this part of its figure is */
};

#define CHARACTER 7.2 /* pixels of a character within frames */

struct drawing {
	const struct flamegraph *p;
	FILE *to;
	double scale;	    /* pixels of one unit */
	double row;	    /* pixels */
	double most_change; /* the largest change of a frame */
	double y;	    /* top of the next part */
	unsigned int kinds; /* bits of enum mt_place_kind of all frames drawn */
	unsigned int hues;  /* bits of enum mt_flame_hue */
	bool joined;
};

/* ---- Text ---- */

static const char *entity_of(char c)
{
	return c == '&'	  ? "&amp;"
	       : c == '<' ? "&lt;"
	       : c == '>' ? "&gt;"
	       : c == '"' ? "&quot;"
			  : NULL;
}

static void put_text(const char *text, FILE *to)
{
	while (*text) {
		size_t size;
		const char *character = mt_text_take(&text, &size), *entity = entity_of(*character);

		if (entity)
			fputs(entity, to);
		else
			fwrite(character, 1, size, to);
	}
}

/* Approximate bytes of a frame in the file. */
static size_t size_of(const struct mt_flame_tree *tree, const struct mt_flame_box *box)
{
	size_t size = FRAME_BYTES;

	for (const char *c = mt_tree_name(tree->tree, box->node); *c; c++) {
		const char *entity = entity_of(*c);

		size += entity ? strlen(entity) : 1;
	}
	return size;
}

/* A percentage as "12.34 %", without the "<" of mt_text_percent(). */
static struct mt_snippet percent(double part, double whole)
{
	struct mt_snippet out;

	snprintf(out.text, sizeof(out.text), "%.2f %%", whole > 0 ? 100 * part / whole : 0);
	return out;
}

/* Writes a figure: "64.2 MB, 64,200,000 bytes" or "1,234 calls". */
static void put_figure(const struct drawing *d, double value)
{
	double figure = value * d->p->options.factor;

	if (d->p->bytes && fabs(figure) >= 1000)
		fprintf(d->to, "%s%s, ", figure < 0 ? "-" : "", mt_text_bytes(fabs(figure)).text);
	fprintf(d->to, "%s ", mt_text_count(figure).text);
	put_text(d->p->unit, d->to);
}

/* ---- Frames ---- */

static void put_doubt(const struct drawing *d, const struct mt_value *value)
{
	double factor = d->p->options.factor;

	if (!mt_value_is_exact(value) && isfinite(value->low) && isfinite(value->high))
		fprintf(d->to, "; between %s and %s",
			d->p->bytes ? mt_text_bytes(value->low * factor).text
				    : mt_text_count(value->low * factor).text,
			d->p->bytes ? mt_text_bytes(value->high * factor).text
				    : mt_text_count(value->high * factor).text);
}

static void put_change(const struct drawing *d, const struct mt_flame_sums *sums)
{
	double change = sums->value.value - sums->base;

	if (!d->p->table->compared)
		return;
	fputs(change < 0 ? "; " : "; +", d->to);
	put_figure(d, change);
	fputs(" against the base", d->to);
}

static void put_kinds(const struct drawing *d, const struct mt_flame_sums *sums)
{
	static const struct {
		unsigned int kind;
		const char *words;
	} known[] = {
		{MT_PLACE_INLINED, "inlined"},
		{MT_PLACE_KERNEL, "kernel"},
		{MT_PLACE_MADE, "JIT"},
		{MT_PLACE_GUESSED, "a guess"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (sums->kinds & known[i].kind)
			fprintf(d->to, "; %s", known[i].words);
	}
	if (sums->joined > 0 && sums->value.value > 0)
		fprintf(d->to, "; joined from other stacks of the thread: %s",
			percent(sums->joined, sums->value.value).text);
}

static const char *name_of(const struct drawing *d, const struct mt_flame_box *box)
{
	return box->node ? mt_tree_name(d->p->tree.tree, box->node) : "all";
}

static void put_tooltip(const struct drawing *d, const struct mt_flame_layout *lane,
			const struct mt_flame_box *box)
{
	fputs("<title>", d->to);
	put_text(name_of(d, box), d->to);
	fputs(" (", d->to);
	put_figure(d, box->width);
	fprintf(d->to, ", %s", percent(box->width, lane->total).text);
	if (lane == &d->p->gone) {
		fputs("; gone", d->to);
	} else {
		put_doubt(d, &box->sums.value);
		put_change(d, &box->sums);
	}
	put_kinds(d, &box->sums);
	fputs(")</title>", d->to);
}

static bool is_joined(const struct mt_flame_box *box)
{
	return box->sums.joined * 100 > JOINED_PERCENT * box->sums.value.value;
}

static uint32_t color_of(const struct drawing *d, const struct mt_flame_layout *lane,
			 const struct mt_flame_box *box)
{
	const char *name = name_of(d, box);
	unsigned int kinds = box->node ? box->sums.kinds : MT_PLACE_WORDS;
	double change = box->sums.value.value - box->sums.base;

	if (lane == &d->p->gone)
		change = -0.7 * d->most_change;
	if (d->p->options.negate)
		change = -change;
	if (mt_flame_palette_is_change(d->p->palette))
		return mt_flame_change_color(d->most_change > 0 ? change / d->most_change : 0);
	return mt_flame_color(d->p->palette, mt_flame_hue_of(name, kinds), name);
}

/* The name within the frame, if at least three of its characters fit. */
static void put_label(const struct drawing *d, const char *name, double x, double y, double width)
{
	size_t room = width > 5 ? (size_t)((width - 5) / CHARACTER) : 0;
	char label[4 * LABEL_MOST + 1];

	if (room < 3)
		return;
	mt_text_fit(name, room < LABEL_MOST ? room : LABEL_MOST, label, sizeof(label));
	fprintf(d->to, "<text x=\"%.1f\" y=\"%g\">", x + 3, y + d->row - 4.5);
	put_text(label, d->to);
	fputs("</text>", d->to);
}

static void put_frame(struct drawing *d, const struct mt_flame_layout *lane,
		      const struct mt_flame_box *box, double root_y)
{
	double x = PAD + box->x * d->scale, width = box->width * d->scale;
	double y = root_y + (d->p->options.inverted ? d->row : -d->row) * box->depth;
	bool joined = is_joined(box);

	fprintf(d->to, "<g data-v=\"%s\">", mt_cell_figure(box->width).text);
	put_tooltip(d, lane, box);
	fprintf(d->to, "<rect x=\"%.2f\" y=\"%g\" width=\"%.2f\" height=\"%g\" fill=\"#%06x\"%s/>",
		x, y, width, d->row - 1, color_of(d, lane, box), joined ? " class=\"j\"" : "");
	put_label(d, name_of(d, box), x, y, width);
	fputs("</g>\n", d->to);
	d->kinds |= box->sums.kinds;
	d->hues |= 1u << mt_flame_hue_of(name_of(d, box),
					 box->node ? box->sums.kinds : MT_PLACE_WORDS);
	d->joined |= joined;
}

static void put_lane(struct drawing *d, const struct mt_flame_layout *lane, const char *name)
{
	double root_y = d->y;

	if (!lane->rows)
		return;
	if (!d->p->options.inverted)
		root_y += d->row * (lane->rows - 1);
	fprintf(d->to, "<g class=\"lane\" data-root=\"%g\" data-total=\"%s\" data-name=\"%s\">\n",
		root_y, mt_cell_figure(lane->total).text, name);
	for (size_t i = 0; i < lane->boxes.count; i++)
		put_frame(d, lane, &lane->boxes.items[i], root_y);
	fputs("</g>\n", d->to);
	d->y += d->row * lane->rows;
}

/* ---- Around the frames ---- */

static void put_line(struct drawing *d, const char *attributes)
{
	d->y += LINE;
	fprintf(d->to, "<text x=\"%d\" y=\"%g\" %s>", PAD, d->y - 4, attributes);
}

static void put_swatch(struct drawing *d, size_t *at, uint32_t color, const char *style,
		       const char *words)
{
	double x = PAD + (double)(*at)++ * LEGEND_COLUMN;

	fprintf(d->to,
		"<rect x=\"%g\" y=\"%g\" width=\"12\" height=\"11\" fill=\"#%06x\"%s/>"
		"<text x=\"%g\" y=\"%g\">%s</text>\n",
		x, d->y + 3, color, style, x + 17, d->y + LINE - 4, words);
}

/* Writes the legend of the kinds of frames that the picture has. */
static void put_legend(struct drawing *d)
{
	static const struct {
		enum mt_flame_hue hue;
		const char *words;
	} hues[] = {
		{MT_HUE_CODE, "code"}, {MT_HUE_CPP, "C++"},	  {MT_HUE_INLINED, "inlined"},
		{MT_HUE_MADE, "JIT"},  {MT_HUE_KERNEL, "kernel"}, {MT_HUE_WORDS, "not code"},
	};
	bool negate = d->p->options.negate;
	unsigned int shown = d->hues;
	size_t at = 0;

	/* If a palette does not distinguish C++ from other code, one word names both. */
	if (!memcmp(&d->p->palette->hues[MT_HUE_CODE], &d->p->palette->hues[MT_HUE_CPP],
		    sizeof(struct mt_flame_range)) &&
	    shown & 1u << MT_HUE_CPP)
		shown = (shown & ~(1u << MT_HUE_CPP)) | 1u << MT_HUE_CODE;
	fputs("<g id=\"legend\">\n", d->to);
	if (mt_flame_palette_is_change(d->p->palette)) {
		put_swatch(d, &at, mt_flame_change_color(negate ? -0.8 : 0.8), "", "more");
		put_swatch(d, &at, mt_flame_change_color(negate ? 0.8 : -0.8), "", "less");
		put_swatch(d, &at, mt_flame_change_color(0), "", "the same");
	}
	for (size_t i = 0; d->p->palette->hues_differ && i < sizeof(hues) / sizeof(*hues); i++) {
		if (shown & 1u << hues[i].hue)
			put_swatch(d, &at, mt_flame_color(d->p->palette, hues[i].hue, "main"), "",
				   hues[i].words);
	}
	if (d->joined)
		put_swatch(d, &at, mt_flame_color(d->p->palette, MT_HUE_CODE, "main"),
			   " class=\"j\"", "joined from other stacks of the thread");
	fputs("</g>\n", d->to);
	d->y += at ? LINE : 0;
}

static void put_narrow(struct drawing *d, const struct mt_flame_layout *lane, const char *where)
{
	if (!lane->narrow)
		return;
	put_line(d, "class=\"note\"");
	fprintf(d->to, "Not drawn%s: %s %s narrower than %.2g px, ", where,
		mt_text_count((double)lane->narrow).text, lane->narrow == 1 ? "frame" : "frames",
		lane->least * d->scale);
	put_figure(d, lane->narrow_sum);
	fprintf(d->to, " (%s), counted in their callers</text>\n",
		percent(lane->narrow_sum, lane->total).text);
}

static void put_notes(struct drawing *d)
{
	double below = d->p->tree.below_zero;

	put_narrow(d, &d->p->now, "");
	put_narrow(d, &d->p->gone, " of what is gone");
	if (below >= 0)
		return;
	put_line(d, "class=\"note\"");
	fputs("Not drawn: paths of ", d->to);
	put_figure(d, below);
	fputs(" in all, each below 0</text>\n", d->to);
}

static double height_of(const struct drawing *d)
{
	const struct flamegraph *p = d->p;
	size_t lines = 1 + (*p->options.subtitle != '\0') + (p->now.narrow > 0) +
		       (p->gone.narrow > 0) + (p->tree.below_zero < 0) + 1 + (p->gone.rows > 0);

	return HEAD + (double)lines * LINE + d->row * (p->now.rows + p->gone.rows) + 12;
}

static void put_head(struct drawing *d)
{
	const struct flamegraph *p = d->p;
	double width = p->options.width, height = height_of(d);

	fprintf(d->to,
		"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
		"<svg version=\"1.1\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" "
		"height=\"%g\" viewBox=\"0 0 %g %g\" data-width=\"%g\" data-pad=\"%d\" "
		"data-row=\"%g\" data-character=\"%g\" data-factor=\"%.17g\" data-below=\"%s\" "
		"data-unit=\"",
		width, height, width, height, width, PAD, d->row, CHARACTER, p->options.factor,
		mt_cell_figure(p->tree.below_zero).text);
	put_text(p->unit, d->to);
	fputs("\">\n<style>\n"
	      "text { font: 12px monospace; fill: #000; }\n"
	      "#title { font: 17px sans-serif; text-anchor: middle; }\n"
	      "#subtitle { font: 12px sans-serif; text-anchor: middle; fill: #555; }\n"
	      "#details, #matched, .note, .button, #legend text { font: 12px sans-serif; }\n"
	      "#matched, #search { text-anchor: end; }\n"
	      ".note { fill: #555; }\n"
	      ".button { cursor: pointer; fill: #444; }\n"
	      ".button:hover, .active { fill: #e600e6; }\n"
	      ".hidden { display: none; }\n"
	      ".above { opacity: 0.5; }\n"
	      ".lane > g { cursor: pointer; }\n"
	      ".lane > g:hover rect { stroke: #000; stroke-width: 0.7; }\n"
	      ".lane text { pointer-events: none; }\n"
	      "rect { rx: 2px; ry: 2px; }\n"
	      "rect.j { stroke: #333; stroke-width: 0.8; stroke-dasharray: 3 2; }\n"
	      "</style>\n",
	      d->to);
	fprintf(d->to,
		"<defs><linearGradient id=\"background\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\">"
		"<stop offset=\"5%%\" stop-color=\"%s\"/><stop offset=\"95%%\" "
		"stop-color=\"%s\"/></linearGradient></defs>\n"
		"<rect width=\"%g\" height=\"%g\" fill=\"url(#background)\" "
		"style=\"rx:0;ry:0\"/>\n",
		p->palette->from, p->palette->to, width, height);
}

static void put_titles(struct drawing *d)
{
	const struct flamegraph *p = d->p;
	double middle = p->options.width / 2;

	fprintf(d->to, "<text id=\"title\" x=\"%g\" y=\"24\">", middle);
	put_text(p->options.title, d->to);
	fputs("</text>\n", d->to);
	d->y = HEAD;
	if (*p->options.subtitle) {
		d->y += LINE;
		fprintf(d->to, "<text id=\"subtitle\" x=\"%g\" y=\"%g\">", middle, d->y - 8);
		put_text(p->options.subtitle, d->to);
		fputs("</text>\n", d->to);
	}
	fprintf(d->to,
		"<text id=\"reset\" class=\"button hidden\" x=\"%d\" y=\"24\">Reset zoom</text>\n"
		"<text id=\"search\" class=\"button\" x=\"%g\" y=\"24\">Search</text>\n",
		PAD, p->options.width - PAD);
}

/* The largest change of any frame except the root, which contains all. */
static double most_change(const struct flamegraph *p)
{
	double most = 0;

	for (size_t i = 0; p->table->compared && i < p->now.boxes.count; i++) {
		const struct mt_flame_box *box = &p->now.boxes.items[i];
		double change = fabs(box->sums.value.value - box->sums.base);

		if ((box->depth || p->now.boxes.count == 1) && change > most)
			most = change;
	}
	return most > 0 ? most : p->gone.total;
}

/*
 * The text of flame.js, NUL-terminated; without "]]>", so that it fits into a CDATA section. The
 * assembler reads flame.js, which the Makefile lists as a dependency of this file.
 */
extern const char mt_flame_script[];

__asm__(".pushsection .rodata\n"
	".globl mt_flame_script\n"
	".type mt_flame_script, @object\n"
	"mt_flame_script:\n"
	".incbin \"report/outputs/flame/flame.js\"\n"
	".byte 0\n"
	".size mt_flame_script, . - mt_flame_script\n"
	".popsection\n");

static void draw(const struct flamegraph *picture, FILE *to)
{
	double drawn = picture->options.width - 2 * PAD;
	struct drawing d = {
		.p = picture,
		.to = to,
		.scale = drawn / picture->total,
		.row = picture->options.height,
		.most_change = most_change(picture),
	};

	put_head(&d);
	put_titles(&d);
	put_lane(&d, &picture->now, "");
	if (picture->gone.rows) {
		put_line(&d, "class=\"note\"");
		fputs("Gone since the base:</text>\n", to);
		put_lane(&d, &picture->gone, "gone ");
	}
	put_line(&d, "id=\"details\"");
	fprintf(to, "</text>\n<text id=\"matched\" x=\"%g\" y=\"%g\"></text>\n",
		picture->options.width - PAD, d.y - 4);
	put_legend(&d);
	put_notes(&d);
	fprintf(to, "<script><![CDATA[\n%s]]></script>\n</svg>\n", mt_flame_script);
}

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
	double pixels = f->options.width - 2 * PAD;
	double part = f->options.minwidth / (f->options.minwidth_percent ? 100 : pixels);
	struct mt_error *err = fit_total(f);
	struct mt_flame_layout_options options = {
		.chart = f->options.chart,
		.least = part * f->total,
		.size_of = f->options.minwidth_given ? NULL : size_of,
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
	double pixels = f->options.width - 2 * PAD;

	if (!f->view->remainder)
		return;
	*f->view->remainder = (struct mt_remainder){
		.below_zero = f->tree.below_zero,
		.narrow = f->now.narrow + f->gone.narrow,
		.narrow_sum = f->now.narrow_sum + f->gone.narrow_sum,
		.narrow_pixels = f->total > 0 ? f->now.least / f->total * pixels : 0,
	};
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
	f.total = f.total > 0 ? f.total : 1;
	f.palette = mt_flame_palette_find(f.options.palette, table->compared);
	f.unit = unit_of(&f);
	f.bytes = !strcmp(f.unit, "bytes");
	make_title(&f);
	make_subtitle(&f);
	f.options.title = f.options.title ?: f.title;
	f.options.subtitle = f.options.subtitle ?: f.subtitle;
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
