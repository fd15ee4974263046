/*
 * A sorted array split into leaves of at most 4 KiB: a lookup is two binary searches, a change
 * moves entries of one leaf. Copies share leaves; a shared leaf is copied before it is changed.
 */
#include "report/account/extents.h"

enum {
	LEAF_EXTENTS = 120, /* a leaf with its header is below 4 KiB */
	LEAF_FIRST = 15,    /* for a small space; most spaces are small */
};

struct leaf {
	uint32_t owners;
	uint32_t count, capacity;
	struct mt_extent regions[];
};

/* A leaf, which is never empty, and the first address in it. So a search reads few cache lines. */
struct entry {
	uint64_t start;
	struct leaf *leaf;
};

struct mt_extents {
	MT_ARRAY(struct entry) leaves; /* none is empty */
	size_t count;		       /* regions */
};

struct place {
	size_t leaf, region;
};

struct mt_extents *mt_extents_create(void)
{
	return mt_alloc(1, sizeof(struct mt_extents));
}

static void release(struct leaf *leaf)
{
	if (leaf && !--leaf->owners)
		free(leaf);
}

void mt_extents_destroy(struct mt_extents *regions)
{
	if (!regions)
		return;
	for (size_t i = 0; i < regions->leaves.count; i++)
		release(regions->leaves.items[i].leaf);
	mt_array_deinit(&regions->leaves);
	free(regions);
}

struct mt_extents *mt_extents_copy(const struct mt_extents *regions)
{
	struct mt_extents *copy = mt_extents_create();

	mt_array_reserve(&copy->leaves, regions->leaves.count);
	for (size_t i = 0; i < regions->leaves.count; i++) {
		regions->leaves.items[i].leaf->owners++;
		copy->leaves.items[i] = regions->leaves.items[i];
	}
	copy->leaves.count = regions->leaves.count;
	copy->count = regions->count;
	return copy;
}

size_t mt_extents_count(const struct mt_extents *regions)
{
	return regions->count;
}

static struct leaf *new_leaf(uint32_t capacity)
{
	struct leaf *leaf = mt_alloc(1, sizeof(*leaf) + capacity * sizeof(struct mt_extent));

	*leaf = (struct leaf){.owners = 1, .capacity = capacity};
	return leaf;
}

/* The first region that ends above address; if there is none, a leaf after the last. */
static struct place find(const struct mt_extents *regions, uint64_t address)
{
	size_t below = mt_array_split(regions->leaves.count, at,
				      regions->leaves.items[at].start <= address);
	const struct leaf *leaf;
	size_t region;

	if (!below)
		return (struct place){0, 0};
	leaf = regions->leaves.items[below - 1].leaf;
	region = mt_array_split(leaf->count, at, leaf->regions[at].end <= address);
	return region < leaf->count ? (struct place){below - 1, region} : (struct place){below, 0};
}

const struct mt_extent *mt_extents_after(const struct mt_extents *regions, uint64_t address)
{
	struct place at = find(regions, address);

	return at.leaf < regions->leaves.count
		       ? &regions->leaves.items[at.leaf].leaf->regions[at.region]
		       : NULL;
}

/* Makes a leaf private to this copy. If `room`, makes room for one more region. */
static struct leaf *make_writable(struct mt_extents *regions, size_t i, bool room)
{
	struct leaf *leaf = regions->leaves.items[i].leaf, *mine;
	uint32_t capacity = leaf->capacity;

	if (room && leaf->count == capacity && capacity < LEAF_EXTENTS)
		capacity = capacity * 3 > LEAF_EXTENTS ? LEAF_EXTENTS : capacity * 3;
	if (leaf->owners == 1 && capacity == leaf->capacity)
		return leaf;
	mine = new_leaf(capacity);
	mine->count = leaf->count;
	memcpy(mine->regions, leaf->regions, leaf->count * sizeof(*leaf->regions));
	release(leaf);
	regions->leaves.items[i].leaf = mine;
	return mine;
}

static void put_leaf(struct mt_extents *regions, size_t i, struct leaf *leaf, uint64_t start)
{
	mt_array_reserve(&regions->leaves, regions->leaves.count + 1);
	memmove(&regions->leaves.items[i + 1], &regions->leaves.items[i],
		(regions->leaves.count - i) * sizeof(struct entry));
	regions->leaves.items[i] = (struct entry){start, leaf};
	regions->leaves.count++;
}

static void drop_leaf(struct mt_extents *regions, size_t i)
{
	release(regions->leaves.items[i].leaf);
	regions->leaves.count--;
	memmove(&regions->leaves.items[i], &regions->leaves.items[i + 1],
		(regions->leaves.count - i) * sizeof(struct entry));
}

/* Halves a full leaf. A leaf that grows at its end keeps nearly all its entries. */
static void split(struct mt_extents *regions, struct place *at)
{
	struct leaf *leaf = regions->leaves.items[at->leaf].leaf, *right;
	uint32_t kept = at->region == leaf->count ? leaf->count - 1 : leaf->count / 2;

	right = new_leaf(LEAF_EXTENTS);
	right->count = leaf->count - kept;
	memcpy(right->regions, leaf->regions + kept, right->count * sizeof(*leaf->regions));
	put_leaf(regions, at->leaf + 1, right, right->regions[0].start);
	leaf->count = kept;
	if (at->region > kept)
		*at = (struct place){at->leaf + 1, at->region - kept};
}

static void insert_at(struct mt_extents *regions, struct place at, const struct mt_extent *region)
{
	struct leaf *leaf = make_writable(regions, at.leaf, true);

	if (leaf->count == leaf->capacity) {
		split(regions, &at);
		leaf = regions->leaves.items[at.leaf].leaf;
	}
	memmove(&leaf->regions[at.region + 1], &leaf->regions[at.region],
		(leaf->count - at.region) * sizeof(*leaf->regions));
	leaf->regions[at.region] = *region;
	leaf->count++;
	if (!at.region)
		regions->leaves.items[at.leaf].start = region->start;
	regions->count++;
}

static bool alike(const struct mt_extent *a, const struct mt_extent *b)
{
	return a->end == b->start && a->time == b->time && a->attrs == b->attrs &&
	       a->origin == b->origin;
}

/* Extends an adjacent region by `region`. False if none has the same time, attributes and origin.
 */
static bool join(struct mt_extents *regions, struct place at, const struct mt_extent *region)
{
	struct leaf *leaf = regions->leaves.items[at.leaf].leaf;

	if (at.region && alike(&leaf->regions[at.region - 1], region)) {
		leaf = make_writable(regions, at.leaf, false);
		leaf->regions[at.region - 1].end = region->end;
		return leaf;
	}
	if (at.region < leaf->count && alike(region, &leaf->regions[at.region])) {
		leaf = make_writable(regions, at.leaf, false);
		leaf->regions[at.region].start = region->start;
		if (!at.region)
			regions->leaves.items[at.leaf].start = region->start;
		return true;
	}
	return false;
}

void mt_extents_insert(struct mt_extents *regions, const struct mt_extent *region)
{
	struct place at = find(regions, region->start);
	struct leaf *leaf;

	if (!regions->leaves.count) {
		leaf = new_leaf(LEAF_FIRST);
		put_leaf(regions, 0, leaf, region->start);
		leaf->regions[leaf->count++] = *region;
		regions->count = 1;
		return;
	}
	/* Append to the left leaf, so that a space that grows upwards fills its leaves. */
	if (at.leaf && !at.region)
		at = (struct place){at.leaf - 1, regions->leaves.items[at.leaf - 1].leaf->count};
	if (!join(regions, at, region))
		insert_at(regions, at, region);
}

static void deliver(mt_extent_list *list, const struct mt_extent *region, uint64_t start,
		    uint64_t end)
{
	struct mt_extent *reported = mt_array_push(list);

	*reported = *region;
	reported->start = start > region->start ? start : region->start;
	reported->end = end < region->end ? end : region->end;
}

/* Removes a range that lies strictly inside one region. */
static void punch(struct mt_extents *regions, struct place at, uint64_t start, uint64_t end)
{
	struct leaf *leaf = make_writable(regions, at.leaf, false);
	struct mt_extent right;

	right = leaf->regions[at.region];
	right.start = end;
	leaf->regions[at.region].end = start;
	at.region++;
	insert_at(regions, at, &right);
}

/* Removes the range from one leaf. Sets *more if the range continues after that leaf. */
static void clear_leaf(struct mt_extents *regions, struct place at, uint64_t start, uint64_t end,
		       bool *more)
{
	struct leaf *leaf = make_writable(regions, at.leaf, false);
	uint32_t first = (uint32_t)at.region, last;

	if (leaf->regions[first].start < start)
		leaf->regions[first++].end = start;
	for (last = first; last < leaf->count && leaf->regions[last].end <= end; last++)
		;
	*more = last == leaf->count;
	if (last < leaf->count && leaf->regions[last].start < end)
		leaf->regions[last].start = end;
	memmove(&leaf->regions[first], &leaf->regions[last],
		(leaf->count - last) * sizeof(*leaf->regions));
	leaf->count -= last - first;
	regions->count -= last - first;
	if (!leaf->count)
		drop_leaf(regions, at.leaf);
	else
		regions->leaves.items[at.leaf].start = leaf->regions[0].start;
}

void mt_extents_list(const struct mt_extents *regions, uint64_t start, uint64_t end,
		     mt_extent_list *out)
{
	struct place at = find(regions, start);

	for (; at.leaf < regions->leaves.count; at = (struct place){at.leaf + 1, 0}) {
		const struct leaf *leaf = regions->leaves.items[at.leaf].leaf;

		for (; at.region < leaf->count; at.region++) {
			if (leaf->regions[at.region].start >= end)
				return;
			deliver(out, &leaf->regions[at.region], start, end);
		}
	}
}

void mt_extents_remove(struct mt_extents *regions, uint64_t start, uint64_t end,
		       mt_extent_list *removed)
{
	bool more = true;

	if (start >= end)
		return;
	if (removed)
		mt_extents_list(regions, start, end, removed);
	while (more) {
		struct place at = find(regions, start);
		const struct mt_extent *region;

		if (at.leaf == regions->leaves.count)
			return;
		region = &regions->leaves.items[at.leaf].leaf->regions[at.region];
		if (region->start >= end)
			return;
		if (region->start < start && region->end > end) {
			punch(regions, at, start, end);
			return;
		}
		clear_leaf(regions, at, start, end, &more);
	}
}
