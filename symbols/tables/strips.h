/*
 * Cuts address ranges into strips that no range crosses, without sorting them, so that few lookups
 * in a table only process the ranges of their strips.
 */
#ifndef MT_SYMBOLS_TABLES_STRIPS_H
#define MT_SYMBOLS_TABLES_STRIPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_strips;

/*
 * For ranges numbered below count, most of which start in [low, high); others only cost time. NULL
 * out of memory.
 */
struct mt_strips *mt_strips_create(uint64_t low, uint64_t high, uint32_t count);
void mt_strips_destroy(struct mt_strips *strips);

/*
 * Adds a range; each number at most once. A range that does not end past its start extends to the
 * next start.
 */
void mt_strips_add(struct mt_strips *strips, uint32_t number, uint64_t start, uint64_t end);

/* Call after adding all ranges, before the functions below. */
void mt_strips_finish(struct mt_strips *strips);

/* The strip with all ranges that contain this address. */
uint32_t mt_strips_find(const struct mt_strips *strips, uint64_t address);

struct mt_strip {
	uint32_t *numbers; /* of its ranges, unordered */
	size_t count, capacity;
	bool last;     /* no range starts after it */
	uint64_t next; /* start of the first range after it */
};

/* Lists a strip's ranges in *out, replacing the last list; false out of memory. */
bool mt_strips_list(const struct mt_strips *strips, uint32_t strip, struct mt_strip *out);
void mt_strip_deinit(struct mt_strip *strip);

#endif
