/*
 * Maps an address to the interval that contains it. Intervals may overlap; they are flattened once,
 * so that a lookup is one binary search. The interval of highest rank is chosen, and of equal ranks
 * the last in the list.
 */
#ifndef MT_SYMBOLS_TABLES_INTERVAL_TABLE_H
#define MT_SYMBOLS_TABLES_INTERVAL_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define MT_INTERVAL_NONE UINT32_MAX

struct mt_interval {
	uint64_t start, end; /* end is exclusive */
	uint32_t rank;
	uint32_t value;
};

struct mt_interval_table;

/* Sorts items, and does not keep them. NULL out of memory. */
struct mt_interval_table *mt_interval_table_create(struct mt_interval *items, size_t count);
void mt_interval_table_destroy(struct mt_interval_table *table);

/* The value at an address, or MT_INTERVAL_NONE. */
uint32_t mt_interval_table_find(const struct mt_interval_table *table, uint64_t address);

#endif
