/*
 * The blocks that live in one address space: from address to block, with what was freed lately and
 * what lived at the peak. 1 M live blocks take about 100 MB.
 */
#ifndef MT_REPORT_BLOCKS_BLOCK_MAP_H
#define MT_REPORT_BLOCKS_BLOCK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_block_map;

/* Bytes that a block got at a time, and still has. */
struct mt_block_growth {
	uint64_t time, bytes;
};

/* The past of a block that was given other sizes, as by realloc. */
struct mt_block_sizes {
	uint64_t last;	  /* ns; when it was given last */
	uint32_t resized; /* times */
	uint32_t count;
	struct mt_block_growth growths[]; /* in order; those nearest in time are merged into one */
};

struct mt_block {
	uint64_t address;
	uint64_t bytes;	 /* asked for; where that is not known, usable */
	uint64_t usable; /* where that is not known, asked for */
	uint64_t time;	 /* ns; of its first return */
	uint32_t origin; /* id of the last caller's path and thread; means nothing here */
	int32_t tid;
	struct mt_block_sizes *sizes; /* NULL: it has its first size */
};

/* When a block was given last, ns. */
static inline uint64_t mt_block_last(const struct mt_block *block)
{
	return block->sizes ? block->sizes->last : block->time;
}

/* A function returned a block. */
struct mt_block_given {
	uint64_t address;
	uint64_t asked;	 /* bytes; valid if has_asked */
	uint64_t usable; /* bytes; 0: unknown */
	uint64_t was;	 /* where the block was that the function gave another size; 0: none */
	uint64_t enter;	 /* ns, when the function was called; 0: unknown */
	uint64_t time;	 /* ns, when it returned */
	uint32_t origin;
	int32_t tid;
	bool has_asked;
};

enum mt_block_freed {
	MT_FREED_LIVE,
	MT_FREED_TWICE,	      /* freed before, and not given since */
	MT_FREED_OUT_OF_TURN, /* the free before was that of the block whose free was not seen */
	MT_FREED_UNKNOWN, /* not seen live: allocated before the recording, or its record was lost
			   */
};

#define MT_BLOCK_NO_ORIGIN UINT32_MAX

/* NULL out of memory. has_peak: keep what lived at the peak. */
struct mt_block_map *mt_block_map_create(bool has_peak);
void mt_block_map_destroy(struct mt_block_map *map);

/*
 * Adds a block, or goes on with the one that the thread began to resize at `was`: its time and its
 * growth stay. False out of memory. An address that is live:
 *
 * 1. The same thread's, given since `enter` or with `enter` unknown: functions that call each
 *    other. It stays one block, of the outermost function.
 * 2. Else its free was not seen: the block is replaced. *unseen_free is set to true.
 */
bool mt_block_map_give(struct mt_block_map *map, const struct mt_block_given *given,
		       bool *unseen_free);

/*
 * The free that was not seen, as the address was given again: whether it is that of a function
 * which was called at `enter` and returned now, as realloc.
 */
bool mt_block_map_freed_within(struct mt_block_map *map, uint64_t address, uint64_t enter);

/* Whether that replaces a live block, whose free was not seen. */
bool mt_block_map_replaces(const struct mt_block_map *map, const struct mt_block_given *given);

/* A thread frees a block. */
struct mt_block_freeing {
	uint64_t address, time;
	int32_t tid;
	bool resizes; /* it gives the block another size or address */
};

/*
 * Frees the block at an address; false out of memory. *origin: of the block that is, or was, live
 * there; MT_BLOCK_NO_ORIGIN where none was seen.
 */
bool mt_block_map_free(struct mt_block_map *map, const struct mt_block_freeing *freeing,
		       enum mt_block_freed *out, uint32_t *origin);

/* The live block at an address; NULL: none. Valid until the next change. */
const struct mt_block *mt_block_map_at(const struct mt_block_map *map, uint64_t address);

size_t mt_block_map_count(const struct mt_block_map *map);

/*
 * Calls `tell` for each live block, or with at_peak for each that lived when the most bytes did,
 * and was not replaced before. False if `tell` was.
 */
bool mt_block_map_each(const struct mt_block_map *map, bool at_peak,
		       bool (*deliver)(void *context, const struct mt_block *block), void *context);

/* ns; 0 without blocks. */
uint64_t mt_block_map_peak_time(const struct mt_block_map *map);

#endif
