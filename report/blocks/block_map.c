/*
 * Blocks are in an array without holes; a hash map finds them by address. Freed addresses are kept
 * in two generations of bounded size, to distinguish a second free from the free of an unknown
 * block.
 */
#include "report/blocks/block_map.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"

enum {
	FREED_MOST = 1 << 15, /* addresses in each generation */
	GROWTHS_MOST = 32,    /* of each block; a power of two. A verdict needs twelve */
	DOUBT_NS = 1000000,   /* typical disorder between records of two threads */
	IN_DOUBT = 1,	      /* bit 0 of a time in `replaced` */
};

/* A block while a thread gives it another size or address. */
struct resizing {
	uint64_t address, time, bytes;
	struct mt_block_sizes *sizes;
};

struct mt_block_map {
	MT_ARRAY(struct mt_block) blocks;
	struct mt_map64 by_address; /* to index in blocks */
	struct mt_map64 freed[2];   /* address to origin; the second generation is the older one */
	/*
	 * Addresses that were returned again without a free, and the time. IN_DOUBT: within
	 * DOUBT_NS another thread freed the block; this may be the missing free of the previous
	 * block.
	 */
	struct mt_map64 replaced;
	bool has_peak;
	uint64_t held, peak, peak_time; /* bytes; may overflow with hostile sizes */
	/* Blocks of the peak that were freed since; cleared at each new peak. */
	MT_ARRAY(struct mt_block) departed;
	MT_ARRAY(struct resizing) resizing;
	struct mt_map64 resizing_of; /* tid to index in resizing */
};

struct mt_block_map *mt_block_map_create(bool has_peak)
{
	struct mt_block_map *map = mt_alloc(1, sizeof(*map));

	map->has_peak = has_peak;
	return map;
}

void mt_block_map_destroy(struct mt_block_map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->blocks.count; i++)
		free(map->blocks.items[i].sizes);
	for (size_t i = 0; i < map->resizing.count; i++)
		free(map->resizing.items[i].sizes);
	mt_array_deinit(&map->blocks);
	mt_array_deinit(&map->departed);
	mt_array_deinit(&map->resizing);
	mt_map64_deinit(&map->resizing_of);
	mt_map64_deinit(&map->by_address);
	mt_map64_deinit(&map->freed[0]);
	mt_map64_deinit(&map->freed[1]);
	mt_map64_deinit(&map->replaced);
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

/* Removes a block from the sums, and keeps a copy if it was live at the peak. */
static void depart(struct mt_block_map *map, const struct mt_block *block)
{
	struct mt_block kept = *block;

	map->held -= block->bytes;
	kept.sizes = NULL;
	if (map->has_peak && mt_block_last(block) <= map->peak_time)
		mt_array_append(&map->departed, kept);
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
	return block->tid == given->tid && (!given->enter || mt_block_last(block) >= given->enter);
}

bool mt_block_map_freed_within(struct mt_block_map *map, uint64_t address, uint64_t enter)
{
	uint64_t time;

	if (!mt_map64_get(&map->replaced, address, &time) || time < enter)
		return false;
	mt_map64_remove(&map->replaced, address);
	return true;
}

/* If this free may be the one that was missing when the address was returned again, notes that. */
static void note_doubt(struct mt_block_map *map, const struct mt_block *block,
		       const struct mt_block_freeing *freeing)
{
	uint64_t time;

	if (mt_map64_get(&map->replaced, block->address, &time) && !(time & IN_DOUBT) &&
	    freeing->tid != block->tid && freeing->time <= time + DOUBT_NS)
		mt_map64_put(&map->replaced, block->address, time | IN_DOUBT);
}

/* The kind of a free at an address where no block is live. */
static enum mt_block_freed freed_again(struct mt_block_map *map, uint64_t address, uint64_t *before)
{
	uint64_t time;

	if (!mt_map64_get(&map->freed[0], address, before) &&
	    !mt_map64_get(&map->freed[1], address, before))
		return MT_FREED_UNKNOWN;
	if (!mt_map64_get(&map->replaced, address, &time) || !(time & IN_DOUBT))
		return MT_FREED_TWICE;
	mt_map64_remove(&map->replaced, address);
	return MT_FREED_OUT_OF_TURN;
}

bool mt_block_map_replaces(const struct mt_block_map *map, const struct mt_block_given *given)
{
	const struct mt_block *block = find(map, given->address);

	return block && !is_same(block, given);
}

/* ---- Resizing ---- */

/*
 * Merges the two growths that are nearest in time. The earlier time stays, so times spread evenly.
 */
static void merge_growths(struct mt_block_sizes *sizes)
{
	struct mt_block_growth *growths = sizes->growths;
	size_t at = 1;

	for (size_t i = 2; i < sizes->count; i++) {
		if (growths[i].time - growths[i - 1].time < growths[at].time - growths[at - 1].time)
			at = i;
	}
	growths[at - 1].bytes += growths[at].bytes;
	memmove(&growths[at], &growths[at + 1], (sizes->count - at - 1) * sizeof(*growths));
	sizes->count--;
}

/* Appends a growth. The capacity doubles with the count. */
static void add_growth(struct mt_block_sizes **out, uint64_t time, uint64_t bytes)
{
	struct mt_block_sizes *sizes = *out;
	uint32_t count = sizes ? sizes->count : 0;

	if (count == GROWTHS_MOST) {
		merge_growths(sizes);
	} else if (!(count & (count - 1))) {
		sizes = mt_resize(sizes, 1,
				  sizeof(*sizes) +
					  (count ? 2 * count : 1) * sizeof(*sizes->growths));
		if (!count)
			*sizes = (struct mt_block_sizes){0};
		*out = sizes;
	}
	sizes->growths[sizes->count++] = (struct mt_block_growth){time, bytes};
}

/* Notes the block's bytes from a time on. */
static void note_size(struct mt_block_sizes **sizes, uint64_t time, uint64_t bytes)
{
	struct mt_block_sizes *now = *sizes;
	uint64_t had = 0, less;

	for (uint32_t i = 0; i < now->count; i++)
		had += now->growths[i].bytes;
	now->last = time;
	if (bytes > had) {
		add_growth(sizes, time, bytes - had);
		return;
	}
	for (uint32_t i = now->count; had > bytes && i--; had -= less) {
		less = had - bytes < now->growths[i].bytes ? had - bytes : now->growths[i].bytes;
		now->growths[i].bytes -= less;
		now->count -= i && !now->growths[i].bytes;
	}
}

/* Moves the history of a block that a thread resizes to map->resizing. */
static void begin_resizing(struct mt_block_map *map, struct mt_block *block, int32_t tid)
{
	struct resizing *resizing =
		mt_map64_element(&map->resizing_of, &map->resizing, (uint32_t)tid);

	free(resizing->sizes); /* the last resizing did not finish */
	*resizing =
		(struct resizing){block->address, block->time, block->bytes, MT_TAKE(block->sizes)};
}

/* If the block results from a resizing by its thread, it gets the history of the old block. */
static void end_resizing(struct mt_block_map *map, struct mt_block *block,
			 const struct mt_block_given *given)
{
	struct resizing *resizing;
	uint64_t index;

	if (!given->was || !mt_map64_get(&map->resizing_of, (uint32_t)given->tid, &index))
		return;
	resizing = &map->resizing.items[index];
	if (resizing->address != given->was)
		return;
	resizing->address = 0;
	free(block->sizes);
	block->time = resizing->time;
	block->sizes = MT_TAKE(resizing->sizes);
	if (!block->sizes)
		add_growth(&block->sizes, resizing->time, resizing->bytes);
	block->sizes->resized++;
}

/* ---- Allocating and freeing ---- */

static struct mt_block *add(struct mt_block_map *map, uint64_t address)
{
	uint64_t time;

	mt_map64_put(&map->by_address, address, map->blocks.count);
	mt_map64_remove(&map->freed[0], address);
	mt_map64_remove(&map->freed[1], address);
	if (mt_map64_get(&map->replaced, address, &time) && time & IN_DOUBT)
		mt_map64_put(&map->replaced, address, time & ~(uint64_t)IN_DOUBT);
	return mt_array_push(&map->blocks);
}

bool mt_block_map_give(struct mt_block_map *map, const struct mt_block_given *given)
{
	struct mt_block *block = find(map, given->address);
	bool same = block && is_same(block, given), replaces = block && !same;

	if (same) {
		map->held -= block->bytes;
	} else if (block) {
		depart(map, block);
		mt_map64_put(&map->replaced, given->address, given->time & ~(uint64_t)IN_DOUBT);
		free(block->sizes);
		*block = (struct mt_block){.time = given->time};
	} else {
		block = add(map, given->address);
		block->time = given->time;
	}
	block->address = given->address;
	block->origin = given->origin;
	block->tid = given->tid;
	set_sizes(block, given);
	map->held += block->bytes;
	end_resizing(map, block, given);
	if (block->sizes)
		note_size(&block->sizes, given->time, block->bytes);
	note_peak(map, given->time);
	return replaces;
}

/* Keeps a freed address. */
static void remember(struct mt_block_map *map, uint64_t address, uint32_t origin)
{
	if (map->freed[0].count >= FREED_MOST) {
		mt_map64_deinit(&map->freed[1]);
		map->freed[1] = map->freed[0];
		map->freed[0] = (struct mt_map64){0};
	}
	mt_map64_put(&map->freed[0], address, origin);
}

enum mt_block_freed mt_block_map_free(struct mt_block_map *map,
				      const struct mt_block_freeing *freeing, uint32_t *origin)
{
	uint64_t address = freeing->address;
	struct mt_block *block = find(map, address), *last;
	uint64_t before = MT_BLOCK_NO_ORIGIN;
	enum mt_block_freed freed = MT_FREED_LIVE;

	if (!block) {
		freed = freed_again(map, address, &before);
		*origin = (uint32_t)before;
		remember(map, address, *origin);
		return freed;
	}
	*origin = block->origin;
	depart(map, block);
	note_doubt(map, block, freeing);
	if (freeing->resizes)
		begin_resizing(map, block, freeing->tid);
	last = &map->blocks.items[map->blocks.count - 1];
	if (last != block)
		mt_map64_put(&map->by_address, last->address,
			     (uint64_t)(block - map->blocks.items));
	mt_map64_remove(&map->by_address, address);
	free(block->sizes);
	*block = *last;
	map->blocks.count--;
	remember(map, address, *origin);
	return freed;
}

void mt_block_map_each(const struct mt_block_map *map, bool at_peak,
		       void (*deliver)(void *context, const struct mt_block *block), void *context)
{
	for (size_t i = 0; i < map->blocks.count; i++) {
		const struct mt_block *block = &map->blocks.items[i];

		if (!at_peak || mt_block_last(block) <= map->peak_time)
			deliver(context, block);
	}
	for (size_t i = 0; at_peak && i < map->departed.count; i++)
		deliver(context, &map->departed.items[i]);
}
