/*
 * Walks the tree in order of names, without recursion: stacks can be thousands of frames deep.
 */
#include "report/outputs/flame/flame_layout.h"

#include <math.h>
#include <string.h>

#include "report/stacks/tree.h"
#include "report/tables/estimate.h"

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

/* The previous box, if the same frame continues in the next interval of time. */
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
 * Starts the children of a node at this depth after the paths that end in the node, as
 * flamegraph.pl does: these sort first.
 */
static void descend(struct placing *p, uint32_t node, uint32_t depth)
{
	double self = width_of(p, node), start = p->cursors.items[depth];

	for (uint32_t child = mt_tree_node(p->tree->tree, node)->child; child != MT_TREE_NONE;
	     child = mt_tree_node(p->tree->tree, child)->next)
		self -= width_of(p, child);
	*mt_array_at(&p->cursors, depth + 1) = start + (self > 0 ? self : 0);
}

/* The next node after a node and its subtree, if necessary of an ancestor; MT_TREE_NONE: none. */
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
