/*
 * Sorting by address: tables of symbols have hundreds of thousands of entries, and a comparison
 * each costs more than all else about them.
 */
#ifndef MT_SYMBOLS_TABLES_ADDRESS_SORT_H
#define MT_SYMBOLS_TABLES_ADDRESS_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_addressed {
	uint64_t address;
	uint32_t index; /* of what has it */
};

/* By address; equal ones stay in their order. False out of memory, with the items as they were. */
bool mt_address_sort(struct mt_addressed *items, size_t count);

/* The same of bare numbers. */
bool mt_number_sort(uint64_t *numbers, size_t count);

#endif
