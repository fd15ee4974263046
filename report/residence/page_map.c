/*
 * A sorted array of runs, split into leaves of a few kilobytes, as in extents.c. Runs are half the
 * size of extents, which matters when each page is a run.
 */
#include "report/residence/page_map.h"

#include <stdlib.h>
#include <string.h>

enum {
	LEAF_RUNS = 254, /* with the head, below 4 KiB */
};

struct mt_page_leaf {
	uint32_t count;
	struct mt_page_run runs[LEAF_RUNS];
};

struct place {
	size_t leaf, run;
};

void mt_page_map_deinit(struct mt_page_map *map)
{
	for (size_t i = 0; i < map->leaves.count; i++)
		free(map->leaves.items[i].leaf);
	mt_array_deinit(&map->leaves);
}

static uint64_t end_of(const struct mt_page_run *run)
{
	return run->first + run->pages;
}

/* ---- Finding ---- */

static size_t first_run(const struct mt_page_leaf *leaf, uint64_t page)
{
	return mt_array_split(leaf->count, at, end_of(&leaf->runs[at]) <= page);
}

/* The place of the first run that ends after the page; if there is none, past the last leaf. */
static struct place find(const struct mt_page_map *map, uint64_t page)
{
	size_t below = mt_array_split(map->leaves.count, at, map->leaves.items[at].first <= page);
	const struct mt_page_leaf *leaf;
	size_t run;

	if (!below)
		return (struct place){0, 0};
	leaf = map->leaves.items[below - 1].leaf;
	run = first_run(leaf, page);
	return run < leaf->count ? (struct place){below - 1, run} : (struct place){below, 0};
}

static const struct mt_page_run *run_at(const struct mt_page_map *map, struct place at)
{
	return at.leaf < map->leaves.count ? &map->leaves.items[at.leaf].leaf->runs[at.run] : NULL;
}

const struct mt_page_run *mt_page_map_after(const struct mt_page_map *map, uint64_t page)
{
	return run_at(map, find(map, page));
}

/* ---- Filling ---- */

static void put_leaf(struct mt_page_map *map, size_t at, struct mt_page_leaf *leaf)
{
	mt_array_reserve(&map->leaves, map->leaves.count + 1);
	memmove(&map->leaves.items[at + 1], &map->leaves.items[at],
		(map->leaves.count++ - at) * sizeof(struct mt_page_entry));
	map->leaves.items[at] = (struct mt_page_entry){leaf->runs[0].first, leaf};
}

/* Splits a full leaf into halves. If the leaf grows at its end, it keeps nearly all entries. */
static void split(struct mt_page_map *map, struct place *at)
{
	struct mt_page_leaf *leaf = map->leaves.items[at->leaf].leaf,
			    *right = mt_alloc(1, sizeof(*right));
	uint32_t kept = at->run == leaf->count ? leaf->count - 1 : leaf->count / 2;

	right->count = leaf->count - kept;
	memcpy(right->runs, leaf->runs + kept, right->count * sizeof(*leaf->runs));
	put_leaf(map, at->leaf + 1, right);
	leaf->count = kept;
	if (at->run > kept)
		*at = (struct place){at->leaf + 1, at->run - kept};
}

static void put_run(struct mt_page_map *map, struct place at, const struct mt_page_run *run)
{
	struct mt_page_leaf *leaf;

	if (map->leaves.items[at.leaf].leaf->count == LEAF_RUNS)
		split(map, &at);
	leaf = map->leaves.items[at.leaf].leaf;
	memmove(&leaf->runs[at.run + 1], &leaf->runs[at.run],
		(leaf->count++ - at.run) * sizeof(*leaf->runs));
	leaf->runs[at.run] = *run;
	map->leaves.items[at.leaf].first = leaf->runs[0].first;
}

static bool joins(const struct mt_page_run *left, const struct mt_page_run *right)
{
	return left->holder == right->holder && end_of(left) == right->first &&
	       left->pages + (uint64_t)right->pages <= UINT32_MAX;
}

/* Inserts a run of pages without holders. */
static void insert(struct mt_page_map *map, const struct mt_page_run *run)
{
	struct place at = find(map, run->first);
	struct mt_page_leaf *leaf;

	if (!map->leaves.count) {
		leaf = mt_alloc(1, sizeof(*leaf));
		leaf->count = 1;
		leaf->runs[0] = *run;
		put_leaf(map, 0, leaf);
		return;
	}
	/* Append to the left leaf, so that a space that grows upwards fills its leaves. */
	if (at.leaf && !at.run)
		at = (struct place){at.leaf - 1, map->leaves.items[at.leaf - 1].leaf->count};
	leaf = map->leaves.items[at.leaf].leaf;
	if (at.run && joins(&leaf->runs[at.run - 1], run)) {
		leaf->runs[at.run - 1].pages += run->pages;
		return;
	}
	if (at.run < leaf->count && joins(run, &leaf->runs[at.run])) {
		leaf->runs[at.run].first = run->first;
		leaf->runs[at.run].pages += run->pages;
		map->leaves.items[at.leaf].first = leaf->runs[0].first;
		return;
	}
	put_run(map, at, run);
}

uint64_t mt_page_map_fill(struct mt_page_map *map, uint64_t first, uint64_t end, uint64_t most,
			  uint32_t holder)
{
	uint64_t given = 0;

	while (first < end && given < most) {
		const struct mt_page_run *next = run_at(map, find(map, first));
		uint64_t pages = most - given < end - first ? most - given : end - first;
		struct mt_page_run run = {.first = first, .holder = holder};

		if (next && next->first <= first) {
			first = end_of(next);
			continue;
		}
		if (next && next->first - first < pages)
			pages = next->first - first;
		run.pages = pages < UINT32_MAX ? (uint32_t)pages : UINT32_MAX;
		insert(map, &run);
		given += run.pages;
		first += run.pages;
	}
	return given;
}

/* ---- Clearing ---- */

struct clearing {
	uint64_t first, end;
	void (*taken)(void *context, uint64_t page, uint64_t count, uint32_t holder);
	void *context;
};

static void deliver(const struct clearing *c, const struct mt_page_run *run)
{
	uint64_t first = run->first > c->first ? run->first : c->first;
	uint64_t end = end_of(run) < c->end ? end_of(run) : c->end;

	if (c->taken)
		c->taken(c->context, first, end - first, run->holder);
}

/* Clears a range that lies inside one run and touches neither end of the run. */
static void punch(struct mt_page_map *map, const struct clearing *c, struct place at)
{
	struct mt_page_run *left = &map->leaves.items[at.leaf].leaf->runs[at.run];
	const struct mt_page_run right = {.first = c->end,
					  .pages = (uint32_t)(end_of(left) - c->end),
					  .holder = left->holder};

	deliver(c, left);
	left->pages = (uint32_t)(c->first - left->first);
	at.run++;
	put_run(map, at, &right);
}

/* Clears the range in one leaf; the leaf may be empty afterwards. */
static void clear_leaf(struct mt_page_map *map, const struct clearing *c, size_t index)
{
	struct mt_page_leaf *leaf = map->leaves.items[index].leaf;
	size_t from = first_run(leaf, c->first), to = from;
	struct mt_page_run *run;

	for (; to < leaf->count && leaf->runs[to].first < c->end; to++)
		deliver(c, &leaf->runs[to]);
	if (from == to)
		return;
	run = &leaf->runs[to - 1];
	if (end_of(run) > c->end) {
		run->pages = (uint32_t)(end_of(run) - c->end);
		run->first = c->end;
		to--;
	}
	run = &leaf->runs[from];
	if (run->first < c->first) {
		run->pages = (uint32_t)(c->first - run->first);
		from++;
	}
	memmove(&leaf->runs[from], &leaf->runs[to], (leaf->count - to) * sizeof(*leaf->runs));
	leaf->count -= (uint32_t)(to - from);
	map->leaves.items[index].first = leaf->runs[0].first;
}

/* Drops empty leaves from `from` up to before `to`; no other leaves are empty. */
static void drop_empty(struct mt_page_map *map, size_t from, size_t to)
{
	size_t kept = from;

	for (size_t i = from; i < to; i++) {
		struct mt_page_entry entry = map->leaves.items[i];

		if (entry.leaf->count)
			map->leaves.items[kept++] = entry;
		else
			free(entry.leaf);
	}
	if (kept == to)
		return;
	memmove(&map->leaves.items[kept], &map->leaves.items[to],
		(map->leaves.count - to) * sizeof(struct mt_page_entry));
	map->leaves.count -= to - kept;
}

void mt_page_map_clear(struct mt_page_map *map, uint64_t first, uint64_t end,
		       void (*taken)(void *context, uint64_t page, uint64_t count, uint32_t holder),
		       void *context)
{
	const struct clearing c = {first, end, taken, context};
	struct place at = find(map, first);
	const struct mt_page_run *run = run_at(map, at);
	size_t leaf = at.leaf;

	if (first >= end || !run || run->first >= end)
		return;
	if (run->first < first && end_of(run) > end) {
		punch(map, &c, at);
		return;
	}
	for (; leaf < map->leaves.count && map->leaves.items[leaf].first < end; leaf++)
		clear_leaf(map, &c, leaf);
	drop_empty(map, at.leaf, leaf);
}

void mt_page_runs_add(void *runs, uint64_t page, uint64_t count, uint32_t holder)
{
	mt_array_append((mt_page_runs *)runs, (struct mt_page_run){page, (uint32_t)count, holder});
}

void mt_page_map_move(struct mt_page_map *map, uint64_t from, uint64_t to, uint64_t count)
{
	mt_page_runs runs = {0};

	mt_page_map_clear(map, from, from + count, mt_page_runs_add, &runs);
	mt_page_map_clear(map, to, to + count, NULL, NULL);
	for (size_t i = 0; i < runs.count; i++) {
		runs.items[i].first += to - from;
		insert(map, &runs.items[i]);
	}
	mt_array_deinit(&runs);
}
