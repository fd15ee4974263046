/* Blocks of 512 pages, found by a hash of their number. */
#include "report/ledger/page_map.h"

#include <stdlib.h>

enum {
	BLOCK_SHIFT = 9,
	BLOCK_PAGES = 1 << BLOCK_SHIFT,
};

struct mt_page_block {
	uint64_t number;
	uint32_t used; /* pages with a holder */
	uint32_t holders[BLOCK_PAGES];
};

void mt_page_map_deinit(struct mt_page_map *map)
{
	for (size_t i = 0; i < map->blocks.count; i++)
		free(map->blocks.items[i]);
	mt_array_deinit(&map->blocks);
	mt_map64_deinit(&map->by_number);
}

static struct mt_page_block *find_block(const struct mt_page_map *map, uint64_t number)
{
	uint64_t index;

	return mt_map64_get(&map->by_number, number, &index) ? map->blocks.items[index] : NULL;
}

static struct mt_page_block *make_block(struct mt_page_map *map, uint64_t number)
{
	struct mt_page_block *block = calloc(1, sizeof(*block)), **slot;

	slot = block ? mt_array_push(&map->blocks) : NULL;
	if (!slot) {
		free(block);
		return NULL;
	}
	*slot = block;
	block->number = number;
	return mt_map64_put(&map->by_number, number, map->blocks.count - 1) ? block : NULL;
}

/* The last block takes its place. */
static bool drop_block(struct mt_page_map *map, size_t index)
{
	struct mt_page_block *block = map->blocks.items[index],
			     *last = map->blocks.items[--map->blocks.count];

	mt_map64_remove(&map->by_number, block->number);
	free(block);
	if (last == block)
		return true;
	map->blocks.items[index] = last;
	return mt_map64_put(&map->by_number, last->number, index);
}

uint32_t mt_page_map_get(const struct mt_page_map *map, uint64_t page)
{
	const struct mt_page_block *block = find_block(map, page >> BLOCK_SHIFT);

	return block ? block->holders[page & (BLOCK_PAGES - 1)] : 0;
}

bool mt_page_map_set(struct mt_page_map *map, uint64_t page, uint32_t holder)
{
	struct mt_page_block *block = find_block(map, page >> BLOCK_SHIFT);
	uint32_t *slot;

	if (!block && !holder)
		return true;
	if (!block)
		block = make_block(map, page >> BLOCK_SHIFT);
	if (!block)
		return false;
	slot = &block->holders[page & (BLOCK_PAGES - 1)];
	block->used += !*slot && holder;
	block->used -= *slot && !holder;
	*slot = holder;
	return true;
}

struct clearing {
	struct mt_page_map *map;
	uint64_t first, end;
	bool (*taken)(void *context, uint64_t page, uint32_t holder);
	void *context;
};

static bool clear_block(const struct clearing *c, size_t index)
{
	struct mt_page_block *block = c->map->blocks.items[index];
	uint64_t base = block->number << BLOCK_SHIFT;
	uint64_t from = c->first > base ? c->first - base : 0;
	uint64_t to = c->end - base < BLOCK_PAGES ? c->end - base : BLOCK_PAGES;

	for (uint64_t i = from; i < to; i++) {
		uint32_t holder = block->holders[i];

		if (!holder)
			continue;
		block->holders[i] = 0;
		block->used--;
		if (!c->taken(c->context, base + i, holder))
			return false;
	}
	return block->used || drop_block(c->map, index);
}

bool mt_page_map_clear(struct mt_page_map *map, uint64_t first, uint64_t end,
		       bool (*taken)(void *context, uint64_t page, uint32_t holder), void *context)
{
	struct clearing c = {map, first, end, taken, context};
	uint64_t from = first >> BLOCK_SHIFT, to = ((end - 1) >> BLOCK_SHIFT) + 1, index;

	if (first >= end)
		return true;
	if (to - from > map->blocks.count) {
		for (size_t i = map->blocks.count; i-- > 0;) {
			uint64_t number = map->blocks.items[i]->number;

			if (number >= from && number < to && !clear_block(&c, i))
				return false;
		}
		return true;
	}
	for (; from < to; from++) {
		if (mt_map64_get(&map->by_number, from, &index) && !clear_block(&c, index))
			return false;
	}
	return true;
}

struct moving {
	struct mt_page_map to;
	uint64_t by;
};

static bool put_page(void *context, uint64_t page, uint32_t holder)
{
	struct moving *moving = context;

	return mt_page_map_set(&moving->to, page + moving->by, holder);
}

/* By a map of their own: a block may go while another comes. */
bool mt_page_map_move(struct mt_page_map *map, uint64_t from, uint64_t to, uint64_t count)
{
	struct moving moving = {.by = to - from};
	bool good = mt_page_map_clear(map, from, from + count, put_page, &moving);

	for (size_t i = 0; good && i < moving.to.blocks.count; i++) {
		const struct mt_page_block *block = moving.to.blocks.items[i];

		for (uint64_t k = 0; good && k < BLOCK_PAGES; k++) {
			if (block->holders[k])
				good = mt_page_map_set(map, (block->number << BLOCK_SHIFT) + k,
						       block->holders[k]);
		}
	}
	mt_page_map_deinit(&moving.to);
	return good;
}
