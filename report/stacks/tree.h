/* A weighted call tree of paths from the root, for summaries and call trees. */
#ifndef MT_REPORT_STACKS_TREE_H
#define MT_REPORT_STACKS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_strings;
struct mt_tree;

#define MT_TREE_NONE UINT32_MAX

struct mt_tree_node {
	uint32_t name;		      /* string id; of the root: 0 */
	uint32_t parent, child, next; /* MT_TREE_NONE: none; `next` is the next sibling */
	double total;		      /* value of all paths through the node */
	double self;		      /* value of paths that end at the node */
};

/* Names are ids in `strings`, which is borrowed. */
struct mt_tree *mt_tree_create(struct mt_strings *strings);
void mt_tree_destroy(struct mt_tree *tree);

/*
 * The child with a name, created if new. Does not change totals; used for trees whose sums are kept
 * outside the nodes.
 */
uint32_t mt_tree_step(struct mt_tree *tree, uint32_t parent, uint32_t name);

/* Adds a path, root first: `first` as its outermost name if not MT_TREE_NONE, then `names`. */
void mt_tree_add(struct mt_tree *tree, uint32_t first, const uint32_t *names, size_t count,
		 double value);

/* Sorts siblings by total, largest first, equal ones by name. Call once, after all paths. */
void mt_tree_sort(struct mt_tree *tree);

/* Number of nodes, including the root. */
size_t mt_tree_count(const struct mt_tree *tree);

/* Borrows a node until the next add. Node 0 is the root. */
const struct mt_tree_node *mt_tree_node(const struct mt_tree *tree, uint32_t node);
const char *mt_tree_name(const struct mt_tree *tree, uint32_t node);

#endif
