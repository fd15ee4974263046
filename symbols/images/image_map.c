/*
 * The map of one address space: a persistent treap of mappings by address. Nodes have random
 * priorities, higher than their children's, which balances the tree. Nodes never change: an update
 * copies the nodes on its path and shares the others with the old tree. So a copy costs nothing
 * until it differs, and then about twenty nodes per change. Many forks of a process with many
 * mappings use memory only for differences.
 */
#include "symbols/images/image_map.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "formats/base/map64.h"
#include "symbols/elf/elf.h"
#include "symbols/images/image.h"

struct node {
	atomic_uint references;
	uint32_t priority;
	struct node *left, *right;
	struct mt_mapping mapping;
};

struct mt_image_map {
	struct node *root; /* of mappings that do not overlap; NULL: empty */
	size_t count;
	uint32_t generation;
	uint32_t version;
	bool generation_shared;	       /* shared with a copy: new code needs a new generation */
	struct mt_image_map *snapshot; /* the last snapshot, or NULL */
	size_t holders;		       /* references to a snapshot; 0 for a changeable map */
};

/* A number that is unique in the process. Nothing else about the number matters. */
static uint32_t next_generation(void)
{
	static atomic_uint_least32_t last;
	uint32_t next = (uint32_t)atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;

	return next ? next : next_generation();
}

static void renew_generation(struct mt_image_map *map)
{
	map->generation = next_generation();
	map->version = next_generation();
	map->generation_shared = false;
}

struct mt_image_map *mt_image_map_create(void)
{
	struct mt_image_map *map = mt_alloc(1, sizeof(*map));

	if (map)
		renew_generation(map);
	return map;
}

static struct node *node_get(struct node *node)
{
	if (node)
		atomic_fetch_add_explicit(&node->references, 1, memory_order_relaxed);
	return node;
}

static void node_put(struct node *node)
{
	if (!node || atomic_fetch_sub_explicit(&node->references, 1, memory_order_acq_rel) != 1)
		return;
	node_put(node->left);
	node_put(node->right);
	free(node);
}

void mt_image_map_destroy(struct mt_image_map *map)
{
	if (!map)
		return;
	mt_image_map_release(map->snapshot);
	node_put(map->root);
	free(map);
}

void mt_image_map_release(struct mt_image_map *snapshot)
{
	if (snapshot && !--snapshot->holders)
		mt_image_map_destroy(snapshot);
}

struct mt_image_map *mt_image_map_snapshot(struct mt_image_map *map)
{
	struct mt_image_map *snapshot = map->snapshot;

	if (!snapshot || snapshot->version != map->version) {
		snapshot = mt_resize(NULL, 1, sizeof(*snapshot));
		if (!snapshot)
			return NULL;
		*snapshot = (struct mt_image_map){.root = node_get(map->root),
						  .count = map->count,
						  .generation = map->generation,
						  .version = map->version,
						  .holders = 1};
		mt_image_map_release(map->snapshot);
		map->snapshot = snapshot;
	}
	snapshot->holders++;
	return snapshot;
}

struct mt_image_map *mt_image_map_copy(struct mt_image_map *map)
{
	struct mt_image_map *copy = mt_resize(NULL, 1, sizeof(*copy));

	if (!copy)
		return NULL;
	map->generation_shared = true;
	*copy = *map;
	copy->root = node_get(map->root);
	copy->snapshot = NULL;
	return copy;
}

void mt_image_map_clear(struct mt_image_map *map)
{
	mt_image_map_release(map->snapshot);
	map->snapshot = NULL;
	node_put(map->root);
	map->root = NULL;
	map->count = 0;
	renew_generation(map);
}

/* ---- Trees ---- */

/*
 * Priorities must be unpredictable: otherwise a target could turn the tree into a list by its
 * choice of mappings.
 */
static uint32_t next_priority(void)
{
	uint64_t seed = 0;
	const void *random = (const void *)getauxval(AT_RANDOM);

	if (random)
		memcpy(&seed, random, sizeof(seed));
	return (uint32_t)mt_hash64(seed ^ next_generation());
}

/*
 * Makes a node with the mapping and priority of `as`, and takes ownership of its two subtrees. Out
 * of memory sets *failed; the caller continues and later drops the tree.
 */
static struct node *node_make(const struct node *as, struct node *left, struct node *right,
			      bool *failed)
{
	struct node *node = mt_resize(NULL, 1, sizeof(*node));

	if (!node) {
		*failed = true;
		node_put(left);
		node_put(right);
		return NULL;
	}
	*node = (struct node){
		.priority = as->priority, .left = left, .right = right, .mapping = as->mapping};
	atomic_init(&node->references, 1);
	return node;
}

/* Splits a tree by start address: below addr, and others. The tree itself does not change. */
static void split(const struct node *tree, uint64_t addr, struct node **below, struct node **rest,
		  bool *failed)
{
	struct node *part;

	if (!tree) {
		*below = *rest = NULL;
	} else if (tree->mapping.start < addr) {
		split(tree->right, addr, &part, rest, failed);
		*below = node_make(tree, node_get(tree->left), part, failed);
	} else {
		split(tree->left, addr, below, &part, failed);
		*rest = node_make(tree, part, node_get(tree->right), failed);
	}
}

/* Joins two trees and takes ownership of them; all addresses in `below` are lower. */
static struct node *join(struct node *below, struct node *above, bool *failed)
{
	struct node *joined;

	if (!below || !above)
		return below ? below : above;
	if (below->priority > above->priority) {
		joined = node_make(below, node_get(below->left),
				   join(node_get(below->right), above, failed), failed);
		node_put(below);
	} else {
		joined = node_make(above, join(below, node_get(above->left), failed),
				   node_get(above->right), failed);
		node_put(above);
	}
	return joined;
}

/* A tree with another era for an image's mappings. The tree itself does not change. */
static struct node *tree_of_era(struct node *tree, const struct mt_image *image, uint32_t era,
				bool *failed)
{
	struct node *left, *right, *node;

	if (!tree)
		return NULL;
	left = tree_of_era(tree->left, image, era, failed);
	right = tree_of_era(tree->right, image, era, failed);
	if (left == tree->left && right == tree->right && tree->mapping.image != image) {
		node_put(left);
		node_put(right);
		return node_get(tree);
	}
	node = node_make(tree, left, right, failed);
	if (node && node->mapping.image == image)
		node->mapping.era = era;
	return node;
}

/* Releases the snapshot, so that its tree is freed when no thread holds it. */
static void drop_snapshot(struct mt_image_map *map)
{
	mt_image_map_release(map->snapshot);
	map->snapshot = NULL;
}

/* Replaces the map's tree. If `failed`, returns false and leaves the map unchanged. */
static bool take_tree(struct mt_image_map *map, struct node *tree, bool failed)
{
	if (failed) {
		node_put(tree);
		return false;
	}
	drop_snapshot(map);
	node_put(map->root);
	map->root = tree;
	return true;
}

/* ---- Changes ---- */

static bool is_code(const struct mt_mapping *mapping)
{
	return mapping->prot & PROT_EXEC;
}

/* True if `there` describes all addresses of `mapping` the same way. */
static bool covers(const struct mt_mapping *there, const struct mt_mapping *mapping)
{
	return there->start <= mapping->start && there->end >= mapping->end &&
	       there->image == mapping->image && there->prot == mapping->prot &&
	       there->era == mapping->era &&
	       mt_mapping_file_offset(there, mapping->start) == mapping->offset;
}

/* The first and last mapping that overlap a range, their number, and whether any is code. */
struct overlap {
	const struct mt_mapping *first, *last;
	size_t count;
	bool code;
};

static struct overlap find_overlap(const struct mt_image_map *map, uint64_t start, uint64_t end)
{
	const struct mt_mapping *m = mt_image_map_next(map, start);
	struct overlap over = {.first = m};

	for (; m && m->start < end; m = mt_image_map_next(map, m->end)) {
		over.last = m;
		over.count++;
		over.code |= is_code(m);
	}
	return over;
}

/* Replaces the mappings that start in [from, to) with n mappings in order. */
static bool replace(struct mt_image_map *map, uint64_t from, uint64_t to,
		    const struct mt_mapping *with, size_t n)
{
	struct node *below, *rest, *gone, *above, *tree;
	bool failed = false;

	split(map->root, from, &below, &rest, &failed);
	split(rest, to, &gone, &above, &failed);
	node_put(rest);
	node_put(gone);
	for (size_t i = 0; i < n; i++) {
		struct node as = {.priority = next_priority(), .mapping = with[i]};

		below = join(below, node_make(&as, NULL, NULL, &failed), &failed);
	}
	tree = join(below, above, &failed);
	return take_tree(map, tree, failed);
}

/*
 * Replaces the mappings of [start, end) with `mapping`; removes them if it is NULL. False out of
 * memory.
 */
static bool put(struct mt_image_map *map, uint64_t start, uint64_t end,
		const struct mt_mapping *mapping)
{
	const struct overlap over = find_overlap(map, start, end);
	uint64_t from = over.count ? over.first->start : start;
	struct mt_mapping with[3];
	size_t n = 0;
	bool renew;

	if (!over.count && !mapping)
		return true;
	if (over.count == 1 && mapping && covers(over.first, mapping))
		return true;
	renew = over.code || (mapping && is_code(mapping) && map->generation_shared);
	if (over.count && over.first->start < start) {
		with[n] = *over.first;
		with[n++].end = start;
	}
	if (mapping)
		with[n++] = *mapping;
	if (over.count && over.last->end > end) {
		with[n] = *over.last;
		with[n].offset = mt_mapping_file_offset(over.last, end);
		with[n++].start = end;
	}
	if (!replace(map, from, end, with, n))
		return false;
	map->count = map->count - over.count + n;
	map->version = next_generation();
	if (renew)
		renew_generation(map);
	return true;
}

bool mt_image_map_insert(struct mt_image_map *map, const struct mt_mapping *mapping)
{
	return mapping->end <= mapping->start || put(map, mapping->start, mapping->end, mapping);
}

bool mt_image_map_remove(struct mt_image_map *map, uint64_t start, uint64_t end)
{
	return end <= start || put(map, start, end, NULL);
}

bool mt_image_map_set_era(struct mt_image_map *map, const struct mt_image *image, uint32_t era)
{
	bool failed = false;
	struct node *tree = tree_of_era(map->root, image, era, &failed);

	if (!failed && tree == map->root) {
		node_put(tree);
		return true;
	}
	if (!take_tree(map, tree, failed))
		return false;
	renew_generation(map);
	return true;
}

const struct mt_mapping *mt_image_map_next(const struct mt_image_map *map, uint64_t addr)
{
	const struct node *node = map->root, *next = NULL;

	while (node) {
		if (node->mapping.end <= addr) {
			node = node->right;
			continue;
		}
		next = node;
		if (node->mapping.start <= addr)
			break;
		node = node->left;
	}
	return next ? &next->mapping : NULL;
}

const struct mt_mapping *mt_image_map_find(const struct mt_image_map *map, uint64_t addr)
{
	const struct mt_mapping *next = mt_image_map_next(map, addr);

	return next && next->start <= addr ? next : NULL;
}

size_t mt_image_map_count(const struct mt_image_map *map)
{
	return map->count;
}

uint32_t mt_image_map_generation(const struct mt_image_map *map)
{
	return map->generation;
}

uint32_t mt_image_map_version(const struct mt_image_map *map)
{
	return map->version;
}

bool mt_mapping_vaddr(const struct mt_mapping *mapping, uint64_t addr, uint64_t *vaddr)
{
	const struct mt_elf *elf = mt_image_elf(mapping->image);

	return elf && mt_elf_offset_to_vaddr(elf, mt_mapping_file_offset(mapping, addr), vaddr);
}
