/*
 * Blocks stand in an array without holes, a hash map finds them by address. What was freed is
 * remembered in two generations of a bounded number, to tell a second free from one of a block that
 * was never seen.
 */
#include "report/blocks/block_map.h"

#include <stdlib.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"

enum {
	FREED_MOST = 1 << 15, /* addresses a generation */
};

struct mt_block_map {
	MT_ARRAY(struct mt_block) blocks;
	struct mt_map64 by_address; /* to index in blocks */
	struct mt_map64 freed[2];   /* address to origin; the second generation is the older one */
	bool has_peak;
	uint64_t held, peak, peak_time; /* bytes; hostile sizes wrap around */
	/* Blocks of the peak that were freed since; cleared at each new peak. */
	MT_ARRAY(struct mt_block) departed;
};

struct mt_block_map *mt_block_map_create(bool has_peak)
{
	struct mt_block_map *map = calloc(1, sizeof(*map));

	if (map)
		map->has_peak = has_peak;
	return map;
}

void mt_block_map_destroy(struct mt_block_map *map)
{
	if (!map)
		return;
	mt_array_deinit(&map->blocks);
	mt_array_deinit(&map->departed);
	mt_map64_deinit(&map->by_address);
	mt_map64_deinit(&map->freed[0]);
	mt_map64_deinit(&map->freed[1]);
	free(map);
}

size_t mt_block_map_count(const struct mt_block_map *map)
{
	return map->blocks.count;
}

uint64_t mt_block_map_peak_time(const struct mt_block_map *map)
{
	return map->peak_time;
}

static struct mt_block *find(const struct mt_block_map *map, uint64_t address)
{
	uint64_t index;

	return mt_map64_get(&map->by_address, address, &index) ? &map->blocks.items[index] : NULL;
}

const struct mt_block *mt_block_map_at(const struct mt_block_map *map, uint64_t address)
{
	return find(map, address);
}

static void note_peak(struct mt_block_map *map, uint64_t time)
{
	if (map->held <= map->peak)
		return;
	map->peak = map->held;
	map->peak_time = time;
	map->departed.count = 0;
}

/* A block goes, or makes place for another one. False out of memory. */
static bool depart(struct mt_block_map *map, const struct mt_block *block)
{
	struct mt_block *kept;

	map->held -= block->bytes;
	if (!map->has_peak || block->time > map->peak_time)
		return true;
	kept = mt_array_push(&map->departed);
	if (kept)
		*kept = *block;
	return kept;
}

static void set_sizes(struct mt_block *block, const struct mt_block_given *given)
{
	if (given->usable)
		block->usable = given->usable;
	if (given->has_asked)
		block->bytes = given->asked;
	else if (!block->bytes)
		block->bytes = block->usable;
	if (!block->usable)
		block->usable = block->bytes;
}

static bool is_same(const struct mt_block *block, const struct mt_block_given *given)
{
	return block->tid == given->tid && (!given->enter || block->time >= given->enter);
}

bool mt_block_map_replaces(const struct mt_block_map *map, const struct mt_block_given *given)
{
	const struct mt_block *block = find(map, given->address);

	return block && !is_same(block, given);
}

/* A new block, or NULL out of memory. */
static struct mt_block *add(struct mt_block_map *map, uint64_t address)
{
	struct mt_block *block = mt_array_push(&map->blocks);

	if (!block)
		return NULL;
	if (!mt_map64_put(&map->by_address, address, map->blocks.count - 1)) {
		map->blocks.count--;
		return NULL;
	}
	mt_map64_remove(&map->freed[0], address);
	mt_map64_remove(&map->freed[1], address);
	return block;
}

bool mt_block_map_give(struct mt_block_map *map, const struct mt_block_given *given,
		       bool *unseen_free)
{
	struct mt_block *block = find(map, given->address);

	if (block && is_same(block, given)) {
		map->held -= block->bytes;
	} else if (block) {
		*unseen_free = true;
		if (!depart(map, block))
			return false;
		*block = (struct mt_block){.time = given->time};
	} else {
		block = add(map, given->address);
		if (!block)
			return false;
		block->time = given->time;
	}
	block->address = given->address;
	block->origin = given->origin;
	block->tid = given->tid;
	set_sizes(block, given);
	map->held += block->bytes;
	note_peak(map, given->time);
	return true;
}

/* Remembers a freed address; false out of memory. */
static bool remember(struct mt_block_map *map, uint64_t address, uint32_t origin)
{
	if (map->freed[0].count >= FREED_MOST) {
		mt_map64_deinit(&map->freed[1]);
		map->freed[1] = map->freed[0];
		map->freed[0] = (struct mt_map64){0};
	}
	return mt_map64_put(&map->freed[0], address, origin);
}

bool mt_block_map_free(struct mt_block_map *map, uint64_t address, enum mt_block_freed *out,
		       uint32_t *origin)
{
	struct mt_block *block = find(map, address), *last;
	uint64_t before = MT_BLOCK_NO_ORIGIN;

	if (!block) {
		*out = mt_map64_get(&map->freed[0], address, &before) ||
				       mt_map64_get(&map->freed[1], address, &before)
			       ? MT_FREED_TWICE
			       : MT_FREED_UNKNOWN;
		*origin = (uint32_t)before;
		return remember(map, address, *origin);
	}
	*out = MT_FREED_LIVE;
	*origin = block->origin;
	if (!depart(map, block))
		return false;
	last = &map->blocks.items[map->blocks.count - 1];
	if (last != block &&
	    !mt_map64_put(&map->by_address, last->address, (uint64_t)(block - map->blocks.items)))
		return false;
	mt_map64_remove(&map->by_address, address);
	*block = *last;
	map->blocks.count--;
	return remember(map, address, *origin);
}

bool mt_block_map_each(const struct mt_block_map *map, bool at_peak,
		       bool (*tell)(void *context, const struct mt_block *block), void *context)
{
	bool good = true;

	for (size_t i = 0; good && i < map->blocks.count; i++) {
		const struct mt_block *block = &map->blocks.items[i];

		if (!at_peak || block->time <= map->peak_time)
			good = tell(context, block);
	}
	for (size_t i = 0; good && at_peak && i < map->departed.count; i++)
		good = tell(context, &map->departed.items[i]);
	return good;
}
