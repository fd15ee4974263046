/*
 * Builds and sorts the tree. A node is found by the ids of its parent and name. The latest children
 * of the parent are searched first, because most nodes have one or two children. The other children
 * are in a map.
 */
#include "report/stacks/tree.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"

enum {
	NEAR = 8, /* children that a lookup compares */
};

struct mt_tree {
	struct mt_strings *strings;
	struct mt_map64 edges; /* parent and name to node, without each parent's NEAR latest */
	MT_ARRAY(struct mt_tree_node) nodes;
};

static void add_node(struct mt_tree *tree, uint32_t parent, uint32_t name)
{
	struct mt_tree_node *node = mt_array_push(&tree->nodes);

	*node = (struct mt_tree_node){
		.name = name, .parent = parent, .child = MT_TREE_NONE, .next = MT_TREE_NONE};
	if (parent != MT_TREE_NONE) {
		node->next = tree->nodes.items[parent].child;
		tree->nodes.items[parent].child = (uint32_t)(tree->nodes.count - 1);
	}
}

struct mt_tree *mt_tree_create(struct mt_strings *strings)
{
	struct mt_tree *tree = mt_alloc(1, sizeof(*tree));

	tree->strings = strings;
	add_node(tree, MT_TREE_NONE, 0);
	return tree;
}

void mt_tree_destroy(struct mt_tree *tree)
{
	if (!tree)
		return;
	mt_map64_deinit(&tree->edges);
	mt_array_deinit(&tree->nodes);
	free(tree);
}

static uint64_t edge_of(uint32_t parent, uint32_t name)
{
	return (uint64_t)parent << 32 | name;
}

uint32_t mt_tree_step(struct mt_tree *tree, uint32_t parent, uint32_t name)
{
	uint32_t child = tree->nodes.items[parent].child, last = MT_TREE_NONE;
	uint64_t node = tree->nodes.count, edge;

	for (int walked = 0; walked < NEAR && child != MT_TREE_NONE; walked++) {
		if (tree->nodes.items[child].name == name)
			return child;
		last = walked == NEAR - 1 ? child : MT_TREE_NONE;
		child = tree->nodes.items[child].next;
	}
	if (last != MT_TREE_NONE) {
		if (mt_map64_get(&tree->edges, edge_of(parent, name), &node))
			return (uint32_t)node;
		edge = edge_of(parent, tree->nodes.items[last].name);
		mt_map64_put(&tree->edges, edge, last);
	}
	add_node(tree, parent, name);
	return (uint32_t)node;
}

void mt_tree_add(struct mt_tree *tree, uint32_t first, const uint32_t *names, size_t count,
		 double value)
{
	uint32_t node = 0;

	tree->nodes.items[0].total += value;
	if (first != MT_TREE_NONE) {
		node = mt_tree_step(tree, 0, first);
		tree->nodes.items[node].total += value;
	}
	for (size_t i = 0; i < count; i++) {
		node = mt_tree_step(tree, node, names[i]);
		tree->nodes.items[node].total += value;
	}
	tree->nodes.items[node].self += value;
}

struct sibling {
	uint32_t node;
	double total;
	const char *name;
};

static int compare_siblings(const void *a, const void *b)
{
	const struct sibling *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return strcmp(x->name, y->name);
}

void mt_tree_sort(struct mt_tree *tree)
{
	MT_CLEANUP_FREE struct sibling *siblings = mt_alloc(tree->nodes.count, sizeof(*siblings));

	for (size_t i = 0; i < tree->nodes.count; i++) {
		uint32_t *link = &tree->nodes.items[i].child;
		size_t count = 0;

		for (uint32_t c = *link; c != MT_TREE_NONE; c = tree->nodes.items[c].next)
			siblings[count++] = (struct sibling){c, tree->nodes.items[c].total,
							     mt_tree_name(tree, c)};
		if (count > 1)
			qsort(siblings, count, sizeof(*siblings), compare_siblings);
		for (size_t k = 0; k < count; k++) {
			*link = siblings[k].node;
			link = &tree->nodes.items[siblings[k].node].next;
		}
		*link = MT_TREE_NONE;
	}
}

size_t mt_tree_count(const struct mt_tree *tree)
{
	return tree->nodes.count;
}

const struct mt_tree_node *mt_tree_node(const struct mt_tree *tree, uint32_t node)
{
	return &tree->nodes.items[node];
}

const char *mt_tree_name(const struct mt_tree *tree, uint32_t node)
{
	return mt_strings_get(tree->strings, tree->nodes.items[node].name);
}
