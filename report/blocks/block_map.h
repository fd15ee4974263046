/*
 * The live blocks of one address space, by address, with recently freed addresses and the live
 * blocks at the peak. 1 M live blocks take about 100 MB.
 */
#ifndef MT_REPORT_BLOCKS_BLOCK_MAP_H
#define MT_REPORT_BLOCKS_BLOCK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_block_map;

/* Bytes by which a block grew at one time, and which it still has. */
struct mt_block_growth {
	uint64_t time, bytes;
};

/* The history of a block that was resized, as by realloc. */
struct mt_block_sizes {
	uint64_t last;	  /* ns; time of the last resize */
	uint32_t resized; /* how many times */
	uint32_t count;
	struct mt_block_growth growths[]; /* in order; those nearest in time are merged */
};

struct mt_block {
	uint64_t address;
	uint64_t bytes;	 /* requested; if unknown, usable */
	uint64_t usable; /* if unknown, requested */
	uint64_t time;	 /* ns; when it was first returned */
	uint32_t origin; /* id of the last caller's path and thread; defined by the caller */
	int32_t tid;
	struct mt_block_sizes *sizes; /* NULL: it was never resized */
};

/* When a block was last returned or resized, ns. */
static inline uint64_t mt_block_last(const struct mt_block *block)
{
	return block->sizes ? block->sizes->last : block->time;
}

/* A function returned a block. */
struct mt_block_given {
	uint64_t address;
	uint64_t asked;	 /* bytes; valid if has_asked */
	uint64_t usable; /* bytes; 0: unknown */
	uint64_t was;	 /* address of the block that the function resized; 0: none */
	uint64_t enter;	 /* ns, when the function was called; 0: unknown */
	uint64_t time;	 /* ns, when it returned */
	uint32_t origin;
	int32_t tid;
	bool has_asked;
};

enum mt_block_freed {
	MT_FREED_LIVE,
	MT_FREED_TWICE,	      /* freed before, and not allocated since */
	MT_FREED_OUT_OF_TURN, /* the previous free was the missing free of an earlier block */
	MT_FREED_UNKNOWN, /* not seen live: allocated before the recording, or its record was lost
			   */
};

#define MT_BLOCK_NO_ORIGIN UINT32_MAX

/* has_peak: keep the live blocks at the peak. */
struct mt_block_map *mt_block_map_create(bool has_peak);
void mt_block_map_destroy(struct mt_block_map *map);

/*
 * Adds a block. If the thread began to resize a block at `was`, the new block takes over its time
 * and growth. If the address is live:
 *
 * 1. The block is from the same thread, returned since `enter` or with `enter` unknown: functions
 *    that call each other. It stays one block, of the outermost function.
 * 2. Else the free of the block was missed: the block is replaced. The result is true.
 */
bool mt_block_map_give(struct mt_block_map *map, const struct mt_block_given *given);

/*
 * True if the missing free at an address that was returned again is the free by a function
 * (realloc) that was called at `enter` and returns now.
 */
bool mt_block_map_freed_within(struct mt_block_map *map, uint64_t address, uint64_t enter);

/* True if adding the block replaces a live block, whose free was missed. */
bool mt_block_map_replaces(const struct mt_block_map *map, const struct mt_block_given *given);

/* A thread frees a block. */
struct mt_block_freeing {
	uint64_t address, time;
	int32_t tid;
	bool resizes; /* the block gets another size or address */
};

/*
 * Frees the block at an address. Sets *origin to that of the block that is or was live there,
 * MT_BLOCK_NO_ORIGIN if no block was seen.
 */
enum mt_block_freed mt_block_map_free(struct mt_block_map *map,
				      const struct mt_block_freeing *freeing, uint32_t *origin);

/* The live block at an address; NULL: none. Valid until the next change. */
const struct mt_block *mt_block_map_at(const struct mt_block_map *map, uint64_t address);

size_t mt_block_map_count(const struct mt_block_map *map);

/*
 * Calls `deliver` for each live block. With at_peak, calls it for each block that was live at the
 * peak and was not replaced before that.
 */
void mt_block_map_each(const struct mt_block_map *map, bool at_peak,
		       void (*deliver)(void *context, const struct mt_block *block), void *context);

/* The time of the peak, ns; 0 if there were no blocks. */
uint64_t mt_block_map_peak_time(const struct mt_block_map *map);

#endif
