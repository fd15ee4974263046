/*
 * Adds each row at the end of its path, then sums up from the leaves to the root. So equal paths
 * are merged before negative sums are left out, as in --folded.
 */
#include "report/outputs/flame/flame_tree.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/strings.h"
#include "report/outputs/parts/cells.h"
#include "report/outputs/parts/places.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/stacks/tree.h"
#include "report/tables/estimate.h"

enum {
	KINDS_KNOWN = 128, /* a bit in addition to enum mt_place_kind: the frame's kinds are set */
};

struct step {
	uint32_t name;
	uint8_t kinds;
};

struct growing {
	const struct mt_flame_tree_options *options;
	struct mt_table *table;
	struct mt_table shape; /* of the sums, for mt_table_add_values() */
	struct mt_paths *paths;
	struct mt_flame_tree *out;
	MT_ARRAY(struct step) path;
	MT_ARRAY(uint8_t) kinds; /* by frame; 0: not computed yet */
	size_t event, stack, state, time;
	bool has_events; /* several events: their names are part of the path */
};

static void growing_deinit(struct growing *g)
{
	mt_paths_destroy(g->paths);
	mt_array_deinit(&g->path);
	mt_array_deinit(&g->kinds);
}

/* ---- Paths ---- */

static void push(struct growing *g, uint32_t name, uint8_t kinds)
{
	*mt_array_push(&g->path) = (struct step){name, kinds};
}

static void push_text(struct growing *g, const char *text)
{
	struct mt_strings *names = mt_frames_strings(g->table->frames);

	push(g, mt_strings_intern(names, text, strlen(text)), MT_PLACE_WORDS);
}

static void push_key(struct growing *g, const struct mt_row *row, size_t column)
{
	struct mt_snippet room;

	push_text(g, mt_cell_text(g->table, row, column, &room) ?: "-");
}

static void push_keys(struct growing *g, const struct mt_row *row)
{
	char time[24];

	if (g->options->chart) {
		snprintf(time, sizeof(time), "%020" PRIu64, row->keys[g->time]);
		push_text(g, time);
	}
	if (g->has_events)
		push_key(g, row, g->event);
	for (size_t i = 0; i < g->table->key_count; i++) {
		bool apart = i == g->event || i == g->stack || i == g->state ||
			     (g->options->chart && i == g->time);

		if (!apart)
			push_key(g, row, i);
	}
}

/* Adds the kinds of the path's names from `at` on, which belong to a frame. */
static void mark_frame(struct growing *g, uint32_t frame, bool joined, size_t *at)
{
	size_t count;
	const struct mt_frame_name *name = mt_frames_names(g->table->frames, frame, &count);
	uint8_t *kinds = mt_array_at(&g->kinds, frame);

	if (!*kinds)
		*kinds = (uint8_t)(KINDS_KNOWN | mt_place_kinds(g->table->frames, frame, name));
	while (count-- && *at < g->path.count)
		g->path.items[(*at)++].kinds =
			(uint8_t)((*kinds & ~(KINDS_KNOWN | MT_PLACE_INLINED)) |
				  (name[count].inlined ? MT_PLACE_INLINED : 0) |
				  (joined ? MT_PLACE_JOINED : 0));
}

static void push_stack(struct growing *g, uint32_t stack)
{
	size_t at = g->path.count, count, same, depth;
	const uint32_t *names = mt_paths_spell(g->paths, stack, &count, &same);
	const uint32_t *frames = mt_stacks_get(g->table->stacks, stack, &depth);
	size_t own = depth - mt_stacks_joined(g->table->stacks, stack);

	for (size_t i = 0; i < count; i++)
		push(g, names[i], 0);
	while (depth--)
		mark_frame(g, frames[depth], depth >= own, &at);
}

static void reverse(struct growing *g)
{
	for (size_t i = g->options->chart, k = g->path.count; i + 1 < k; i++) {
		struct step first = g->path.items[i];

		g->path.items[i] = g->path.items[--k];
		g->path.items[k] = first;
	}
}

/* ---- Sums ---- */

/* The sums of the node at the end of the path, created if necessary. */
static struct mt_flame_sums *walk_path(struct growing *g, double value)
{
	uint32_t node = 0;

	for (size_t i = 0; i < g->path.count; i++) {
		struct step *step = &g->path.items[i];
		struct mt_flame_sums *sums;

		node = mt_tree_step(g->out->tree, node, step->name);
		sums = mt_array_at(&g->out->sums, node);
		sums->kinds |= (uint8_t)(step->kinds & ~MT_PLACE_JOINED);
		if (step->kinds & MT_PLACE_JOINED && value > 0)
			sums->joined += value;
	}
	return mt_array_at(&g->out->sums, node);
}

static void add_row(struct growing *g, const struct mt_row *row)
{
	const struct mt_value *value = &row->values[g->table->compared ? 1 : g->options->value];
	struct mt_flame_sums *sums;

	g->path.count = 0;
	if (!isfinite(value->value))
		return;
	push_keys(g, row);
	push_stack(g, (uint32_t)row->keys[g->stack]);
	if (g->options->reverse)
		reverse(g);
	sums = walk_path(g, value->value);
	mt_table_add_values(&g->shape, &sums->value, value);
	if (g->table->compared)
		sums->base += row->values[0].value;
}

/* Sets negative sums of the paths that end at a node to 0, and counts them in below_zero. */
static void clamp(struct mt_flame_tree *tree, struct mt_flame_sums *sums)
{
	if (sums->value.value < 0)
		tree->below_zero += sums->value.value;
	if (!(sums->value.value > 0))
		sums->value = mt_value_exact(0);
	if (!(sums->base > 0))
		sums->base = 0;
	if (!sums->value.value)
		sums->gone = sums->base;
}

/*
 * Adds the sums of each node to its parent, from the last node to the first, because a node is
 * created before its children.
 */
static void sum_up(struct growing *g)
{
	struct mt_flame_tree *out = g->out;

	for (size_t i = 0; i < out->sums.count; i++)
		clamp(out, &out->sums.items[i]);
	for (size_t i = out->sums.count; i-- > 1;) {
		const struct mt_flame_sums *from = &out->sums.items[i];
		struct mt_flame_sums *to =
			&out->sums.items[mt_tree_node(out->tree, (uint32_t)i)->parent];

		mt_table_add_values(&g->shape, &to->value, &from->value);
		to->base += from->base;
		to->gone += from->gone;
	}
}

static struct mt_error *grow(struct growing *g)
{
	struct mt_error *err = mt_has_several_events(g->table, &g->has_events);
	struct mt_row row;

	mt_frames_resolve(g->table->frames);
	while (mt_table_read(g->table, &row, &err))
		add_row(g, &row);
	mt_array_at(&g->out->sums, 0);
	sum_up(g);
	/* Without totals in its nodes the tree sorts siblings by name. */
	mt_tree_sort(g->out->tree);
	return err;
}

struct mt_error *mt_flame_tree_make(const struct mt_flame_tree_options *options,
				    struct mt_table *table, struct mt_flame_tree *out)
{
	size_t value = options->value;
	MT_CLEANUP(growing_deinit)
	struct growing g = {
		.options = options,
		.table = table,
		.paths = mt_paths_create(table->stacks, table->frames, options->srcline),
		.shape = {.value_count = 1,
			  .same_doubt = table->compared ? 0 : table->same_doubt >> value & 1},
		.out = out,
		.event = mt_table_key(table, "event"),
		.stack = mt_table_key_of_kind(table, MT_KEY_STACK),
		.state = table->compared ? mt_table_key(table, "state") : MT_COLUMN_NONE,
		.time = mt_table_key_of_kind(table, MT_KEY_TIME),
	};

	*out = (struct mt_flame_tree){.tree = mt_tree_create(mt_frames_strings(table->frames))};
	return grow(&g);
}

void mt_flame_tree_deinit(struct mt_flame_tree *tree)
{
	mt_tree_destroy(tree->tree);
	mt_array_deinit(&tree->sums);
}

/* ---- The layout: walks in order of names, without recursion, because stacks can be thousands of
 * frames deep ---- */

#define RAISE 1.15    /* factor for the least width if a picture is too large */
#define TOUCHING 1e-9 /* of the total: boxes closer than that touch */

struct placing {
	const struct mt_flame_layout_options *options;
	const struct mt_flame_tree *tree;
	struct mt_flame_layout *out;
	double least;
	MT_ARRAY(double) cursors; /* by depth in the tree: start of the next frame */
	MT_ARRAY(uint32_t) last;  /* by depth of boxes: the last box at that depth */
	size_t drawn, size;	  /* nodes; total size of the boxes */
};

static double width_of(const struct placing *p, uint32_t node)
{
	const struct mt_flame_sums *sums = &p->tree->sums.items[node];

	return p->options->gone ? sums->gone : sums->value.value;
}

static void add_sums(struct mt_flame_sums *to, const struct mt_flame_sums *from)
{
	mt_value_add(&to->value, &from->value, false);
	to->base += from->base;
	to->gone += from->gone;
	to->joined += from->joined;
	to->kinds |= from->kinds;
}

/* The previous box, if `box` continues its frame in the next interval of time; else NULL. */
static struct mt_flame_box *continued(const struct placing *p, const struct mt_flame_box *box)
{
	struct mt_flame_box *before;

	if (!p->options->chart || !box->depth || box->depth >= p->last.count)
		return NULL;
	before = &p->out->boxes.items[p->last.items[box->depth]];
	if (before->parent != box->parent ||
	    fabs(before->x + before->width - box->x) > TOUCHING * p->out->total ||
	    strcmp(mt_tree_name(p->tree->tree, before->node),
		   mt_tree_name(p->tree->tree, box->node)) != 0)
		return NULL;
	return before;
}

static void place(struct placing *p, uint32_t node, uint32_t depth)
{
	uint32_t row = depth - (p->options->chart && depth);
	struct mt_flame_box box =
				    {
					    .node = node,
					    .parent = row ? p->last.items[row - 1] : UINT32_MAX,
					    .depth = row,
					    .x = p->cursors.items[depth],
					    .width = width_of(p, node),
					    .sums = p->tree->sums.items[node],
				    },
			    *before;

	if (p->options->chart && depth == 1)
		return;
	p->drawn++;
	before = continued(p, &box);
	if (before) {
		before->width += box.width;
		add_sums(&before->sums, &box.sums);
		return;
	}
	*mt_array_at(&p->last, row) = (uint32_t)p->out->boxes.count;
	*mt_array_push(&p->out->boxes) = box;
	p->out->rows = row + 1 > p->out->rows ? row + 1 : p->out->rows;
	p->size += p->options->size_of ? p->options->size_of(p->tree, &box) : 0;
}

/*
 * Sets where the children of a node at this depth start. The paths that end in the node sort first,
 * so the children start after them, as in flamegraph.pl.
 */
static void descend(struct placing *p, uint32_t node, uint32_t depth)
{
	double self = width_of(p, node), start = p->cursors.items[depth];

	for (uint32_t child = mt_tree_node(p->tree->tree, node)->child; child != MT_TREE_NONE;
	     child = mt_tree_node(p->tree->tree, child)->next)
		self -= width_of(p, child);
	*mt_array_at(&p->cursors, depth + 1) = start + (self > 0 ? self : 0);
}

/* The next sibling of a node, or else of its closest ancestor that has one; MT_TREE_NONE: none. */
static uint32_t advance(struct placing *p, uint32_t node, uint32_t *depth)
{
	for (; node; (*depth)--) {
		const struct mt_tree_node *at = mt_tree_node(p->tree->tree, node);

		p->cursors.items[*depth] += width_of(p, node);
		if (at->next != MT_TREE_NONE)
			return at->next;
		node = at->parent;
	}
	return MT_TREE_NONE;
}

static void place_all(struct placing *p)
{
	uint32_t node = 0, depth = 0;

	p->out->boxes.count = p->last.count = 0;
	p->out->rows = 0;
	p->out->narrow_sum = 0;
	p->drawn = p->size = 0;
	*mt_array_at(&p->cursors, 0) = 0;
	while (node != MT_TREE_NONE) {
		double width = width_of(p, node);
		uint32_t child = mt_tree_node(p->tree->tree, node)->child;

		if (width > 0 && (width >= p->least || !node)) {
			place(p, node, depth);
			descend(p, node, depth);
			if (child != MT_TREE_NONE) {
				node = child;
				depth++;
				continue;
			}
		} else {
			p->out->narrow_sum += width;
		}
		node = advance(p, node, &depth);
	}
}

static size_t count_nodes(const struct placing *p)
{
	size_t count = 0;

	for (uint32_t i = 0; i < p->tree->sums.count; i++)
		count += width_of(p, i) > 0 &&
			 !(p->options->chart && mt_tree_node(p->tree->tree, i)->parent == 0);
	return count;
}

void mt_flame_layout_make(const struct mt_flame_layout_options *options,
			  const struct mt_flame_tree *tree, struct mt_flame_layout *out)
{
	struct placing p = {.options = options, .tree = tree, .out = out, .least = options->least};

	*out = (struct mt_flame_layout){.total = width_of(&p, 0)};
	place_all(&p);
	while (options->size_of && p.size > options->most && out->boxes.count > 1) {
		p.least *= RAISE;
		place_all(&p);
	}
	out->least = p.least;
	out->narrow = count_nodes(&p) - p.drawn;
	mt_array_deinit(&p.cursors);
	mt_array_deinit(&p.last);
}

void mt_flame_layout_deinit(struct mt_flame_layout *layout)
{
	mt_array_deinit(&layout->boxes);
}
