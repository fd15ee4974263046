/*
 * Radix sort by address: symbol tables have hundreds of thousands of entries, and comparing them
 * would dominate their cost.
 */
#ifndef MT_SYMBOLS_TABLES_ADDRESS_SORT_H
#define MT_SYMBOLS_TABLES_ADDRESS_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_addressed {
	uint64_t address;
	uint32_t index; /* of the item with that address */
};

/* Stable. False out of memory, with the items unchanged. */
bool mt_address_sort(struct mt_addressed *items, size_t count);

/* The same for plain numbers. */
bool mt_number_sort(uint64_t *numbers, size_t count);

#endif
