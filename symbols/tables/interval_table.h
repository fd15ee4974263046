/*
 * Which of many, maybe overlapping, intervals of addresses an address lies in: flattened once, so
 * that a lookup is one binary search. Where several cover it, the one of highest rank is given, and
 * of these the last that was listed.
 */
#ifndef MT_SYMBOLS_TABLES_INTERVAL_TABLE_H
#define MT_SYMBOLS_TABLES_INTERVAL_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define MT_INTERVAL_NONE UINT32_MAX

struct mt_interval {
	uint64_t start, end; /* end not included */
	uint32_t rank;
	uint32_t value;
};

struct mt_interval_table;

/* Sorts items; does not keep them. NULL out of memory. */
struct mt_interval_table *mt_interval_table_create(struct mt_interval *items, size_t count);
void mt_interval_table_destroy(struct mt_interval_table *table);

/* The value at an address, or MT_INTERVAL_NONE. */
uint32_t mt_interval_table_find(const struct mt_interval_table *table, uint64_t address);

#endif
