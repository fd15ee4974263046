/* Counts regions that are the heap or have a live block: arenas, and blocks mapped alone. */
#include "report/verdicts/heaps.h"

#include <math.h>
#include <stdlib.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "report/account/extents.h"
#include "report/blocks/blocks.h"
#include "report/ledger/ledger.h"
#include "report/verdicts/block_verdict.h"
#include "report/verdicts/verdict.h"

enum {
	ARENA = 64 << 20, /* glibc's arenas begin at a multiple of this size */
	ALONGSIDE = 8,	  /* bytes that glibc adds to each block, to store its size */
};

struct piece {
	uint64_t address, bytes;
};

struct region {
	uint64_t start, end;
	bool is_heap, is_older, is_inherited;
	double touched; /* NAN: unknown */
};

struct heap {
	MT_ARRAY(struct piece) blocks;
	MT_ARRAY(struct region) regions;
	bool has_blocks, has_regions;
	uint32_t number;
	struct mt_heap_parts parts; /* set after both blocks and regions were taken */
};

struct mt_heaps {
	MT_ARRAY(struct heap) items;
	struct mt_map64 by_key;
};

struct mt_heaps *mt_heaps_create(void)
{
	return mt_alloc(1, sizeof(struct mt_heaps));
}

static void forget_pieces(struct heap *heap)
{
	mt_array_deinit(&heap->blocks);
	mt_array_deinit(&heap->regions);
}

void mt_heaps_destroy(struct mt_heaps *heaps)
{
	if (!heaps)
		return;
	for (size_t i = 0; i < heaps->items.count; i++)
		forget_pieces(&heaps->items.items[i]);
	mt_array_deinit(&heaps->items);
	mt_map64_deinit(&heaps->by_key);
	free(heaps);
}

/* The heap of a space, created if new. */
static struct heap *heap_of(struct mt_heaps *heaps, uint32_t recording, int32_t pid,
			    uint32_t generation)
{
	uint64_t key = (uint64_t)recording << 48 ^ (uint64_t)generation << 32 ^ (uint32_t)pid;

	return mt_map64_element(&heaps->by_key, &heaps->items, key);
}

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* The first block at an address or after it. */
static size_t find_block(const struct heap *heap, uint64_t address)
{
	return mt_array_split(heap->blocks.count, at, heap->blocks.items[at].address < address);
}

static void add_region(struct heap *heap, const struct region *region)
{
	struct mt_heap_parts *parts = &heap->parts;
	double size = (double)(region->end - region->start), live = 0, unused;
	size_t from = find_block(heap, region->start), at = from;

	for (; at < heap->blocks.count && heap->blocks.items[at].address < region->end; at++)
		live += (double)heap->blocks.items[at].bytes;
	if (at == from && !region->is_heap)
		return;
	parts->blocks += at - from;
	parts->live += live < size ? live : size;
	parts->mapped += size;
	unused = fmax((isnan(region->touched) ? size : region->touched) - live, 0);
	if (region->is_inherited)
		parts->inherited += unused;
	else if (region->is_older)
		parts->older += unused;
	if (!region->is_inherited || !isnan(region->touched))
		parts->untouched += size - region->touched;
}

/* Computes the parts, once both blocks and regions were taken. */
static void join(struct heap *heap)
{
	if (!heap->has_blocks || !heap->has_regions)
		return;
	if (heap->blocks.count)
		qsort(heap->blocks.items, heap->blocks.count, sizeof(*heap->blocks.items),
		      compare_pieces);
	for (size_t i = 0; i < heap->regions.count; i++)
		add_region(heap, &heap->regions.items[i]);
	forget_pieces(heap);
}

static void add_block(void *context, const struct mt_block *block)
{
	struct heap *heap = context;

	mt_array_append(&heap->blocks, (struct piece){block->address, block->usable + ALONGSIDE});
}

void mt_heaps_take_blocks(struct mt_heaps *heaps, const struct mt_blocks_space *space,
			  uint32_t number, const struct mt_block_map *map)
{
	struct heap *heap = heap_of(heaps, space->recording, space->pid, space->generation);

	if (heap->has_blocks) /* the pid was reused */
		return;
	heap->number = number;
	heap->has_blocks = true;
	mt_block_map_each(map, false, add_block, heap);
	join(heap);
}

/*
 * True if an extent continues a region: each brk, and each mprotect of an arena, made one extent,
 * and blocks may lie across two.
 */
static bool continues(const struct region *region, const struct mt_extent *extent, bool is_heap)
{
	if (region->end != extent->start || region->is_heap != is_heap)
		return false;
	return is_heap || (!(region->start % ARENA) && extent->start % ARENA);
}

void mt_heaps_take_region(void *context, const struct mt_ledger_space *space,
			  const struct mt_extent *extent, bool is_heap, bool is_older,
			  double touched)
{
	struct heap *heap = heap_of(context, space->recording, space->pid, space->generation);
	bool is_inherited = mt_ledger_inherited(space, extent);
	struct region *region;

	if (heap->has_regions)
		return;
	region = heap->regions.count ? &heap->regions.items[heap->regions.count - 1] : NULL;
	if (region && region->is_older == is_older && region->is_inherited == is_inherited &&
	    continues(region, extent, is_heap)) {
		region->end = extent->end;
		region->touched += touched;
		return;
	}
	mt_array_append(&heap->regions, (struct region){extent->start, extent->end, is_heap,
							is_older, is_inherited, touched});
}

void mt_heaps_take_end(void *context, const struct mt_ledger_space *space)
{
	struct heap *heap = heap_of(context, space->recording, space->pid, space->generation);

	if (heap->has_regions)
		return;
	heap->has_regions = true;
	join(heap);
}

void mt_heaps_each(const struct mt_heaps *heaps,
		   void (*deliver)(void *context, uint32_t number,
				   const struct mt_heap_parts *heap),
		   void *context)
{
	for (size_t i = 0; i < heaps->items.count; i++) {
		const struct heap *heap = &heaps->items.items[i];

		if (heap->parts.mapped > 0)
			deliver(context, heap->number, &heap->parts);
	}
}
