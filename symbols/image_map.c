/*
 * The map of one address space: a sorted array of mappings that copies share until one of them
 * changes. Finding is a binary search; a change moves what lies behind it, which for the hundreds
 * of mappings of a process is cheaper than any tree.
 */
#include "symbols/image_map.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "symbols/elf.h"
#include "symbols/image.h"

/*
 * The mappings, in address order and not overlapping. Never changed while more than one map refers
 * to it.
 */
struct body {
	atomic_uint references;
	size_t count, capacity;
	struct mt_mapping items[];
};

struct mt_image_map {
	struct body *body; /* NULL: empty */
	uint32_t generation;
	uint32_t version;
	bool generation_shared;	       /* with a copy, so that new code needs a new number */
	struct mt_image_map *snapshot; /* the last one taken, or NULL */
	size_t holders;		       /* of a snapshot; 0 for a map that changes */
};

/*
 * The one number that all maps of the process draw from; nothing but its uniqueness is ever used.
 */
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
	struct mt_image_map *map = calloc(1, sizeof(*map));

	if (map)
		renew_generation(map);
	return map;
}

static void body_put(struct body *body)
{
	if (body && atomic_fetch_sub_explicit(&body->references, 1, memory_order_acq_rel) == 1)
		free(body);
}

void mt_image_map_destroy(struct mt_image_map *map)
{
	if (!map)
		return;
	mt_image_map_release(map->snapshot);
	body_put(map->body);
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
		snapshot = malloc(sizeof(*snapshot));
		if (!snapshot)
			return NULL;
		*snapshot = (struct mt_image_map){.body = map->body,
						  .generation = map->generation,
						  .version = map->version,
						  .holders = 1};
		if (map->body)
			atomic_fetch_add_explicit(&map->body->references, 1, memory_order_relaxed);
		mt_image_map_release(map->snapshot);
		map->snapshot = snapshot;
	}
	snapshot->holders++;
	return snapshot;
}

struct mt_image_map *mt_image_map_copy(struct mt_image_map *map)
{
	struct mt_image_map *copy = malloc(sizeof(*copy));

	if (!copy)
		return NULL;
	map->generation_shared = true;
	*copy = *map;
	copy->snapshot = NULL;
	if (copy->body)
		atomic_fetch_add_explicit(&copy->body->references, 1, memory_order_relaxed);
	return copy;
}

void mt_image_map_clear(struct mt_image_map *map)
{
	mt_image_map_release(map->snapshot);
	map->snapshot = NULL;
	body_put(map->body);
	map->body = NULL;
	renew_generation(map);
}

static size_t body_count(const struct mt_image_map *map)
{
	return map->body ? map->body->count : 0;
}

/* The index of the first mapping that ends after addr; the count if there is none. */
static size_t first_ending_after(const struct mt_image_map *map, uint64_t addr)
{
	size_t low = 0, left = body_count(map);

	/* in a form that compiles to conditional moves: which way it goes cannot be predicted */
	while (left) {
		size_t half = left / 2;
		bool after = map->body->items[low + half].end <= addr;

		low = after ? low + half + 1 : low;
		left = after ? left - half - 1 : half;
	}
	return low;
}

/* So that its body is not copied where nobody holds it any more. */
static void drop_snapshot(struct mt_image_map *map)
{
	mt_image_map_release(map->snapshot);
	map->snapshot = NULL;
}

/* Makes the body this map's own, with room for `want` mappings; false out of memory. */
static bool own_body(struct mt_image_map *map, size_t want)
{
	size_t count = body_count(map), most = want > count ? want : count,
	       capacity = most + most / 2 + 8;
	struct body *own;

	drop_snapshot(map);
	if (map->body && map->body->capacity >= want &&
	    atomic_load_explicit(&map->body->references, memory_order_acquire) == 1)
		return true;
	own = malloc(sizeof(*own) + capacity * sizeof(own->items[0]));
	if (!own)
		return false;
	atomic_init(&own->references, 1);
	own->count = count;
	own->capacity = capacity;
	if (count)
		memcpy(own->items, map->body->items, count * sizeof(own->items[0]));
	body_put(map->body);
	map->body = own;
	return true;
}

static bool is_code(const struct mt_mapping *mapping)
{
	return mapping->prot & PROT_EXEC;
}

/* Whether `there` says the same as `mapping` about every address of it. */
static bool covers(const struct mt_mapping *there, const struct mt_mapping *mapping)
{
	return there->start <= mapping->start && there->end >= mapping->end &&
	       there->image == mapping->image && there->prot == mapping->prot &&
	       there->era == mapping->era &&
	       mt_mapping_file_offset(there, mapping->start) == mapping->offset;
}

static bool any_code(const struct mt_mapping *mappings, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		if (is_code(&mappings[i]))
			return true;
	}
	return false;
}

/* Puts the n mappings of `with` in place of items [from, to). False out of memory. */
static bool replace(struct mt_image_map *map, size_t from, size_t to, const struct mt_mapping *with,
		    size_t n)
{
	size_t count = body_count(map), grown = count - (to - from) + n;
	struct mt_mapping *items;

	if (!own_body(map, grown))
		return false;
	items = map->body->items;
	memmove(items + from + n, items + to, (count - to) * sizeof(*items));
	memcpy(items + from, with, n * sizeof(*items));
	map->body->count = grown;
	return true;
}

/* Replaces [start, end) by `mapping`, or by nothing where it is NULL. False out of memory. */
static bool put(struct mt_image_map *map, uint64_t start, uint64_t end,
		const struct mt_mapping *mapping)
{
	size_t from = first_ending_after(map, start), to = from, n = 0;
	const struct mt_mapping *items = map->body ? map->body->items : NULL;
	struct mt_mapping with[3];
	bool renew;

	while (to < body_count(map) && items[to].start < end)
		to++;
	if (from == to && !mapping)
		return true;
	if (to - from == 1 && mapping && covers(&items[from], mapping))
		return true;
	renew = any_code(items, from, to) ||
		(mapping && is_code(mapping) && map->generation_shared);
	if (from < to && items[from].start < start) {
		with[n] = items[from];
		with[n++].end = start;
	}
	if (mapping)
		with[n++] = *mapping;
	if (from < to && items[to - 1].end > end) {
		with[n] = items[to - 1];
		with[n].offset = mt_mapping_file_offset(&items[to - 1], end);
		with[n++].start = end;
	}
	if (!replace(map, from, to, with, n))
		return false;
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
	size_t first = 0, count = body_count(map);

	while (first < count && map->body->items[first].image != image)
		first++;
	if (first == count)
		return true;
	if (!own_body(map, count))
		return false;
	for (size_t i = first; i < count; i++) {
		if (map->body->items[i].image == image)
			map->body->items[i].era = era;
	}
	renew_generation(map);
	return true;
}

const struct mt_mapping *mt_image_map_find(const struct mt_image_map *map, uint64_t addr)
{
	size_t i = first_ending_after(map, addr);

	if (i == body_count(map) || map->body->items[i].start > addr)
		return NULL;
	return &map->body->items[i];
}

const struct mt_mapping *mt_image_map_all(const struct mt_image_map *map, size_t *count)
{
	*count = body_count(map);
	return map->body ? map->body->items : NULL;
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
