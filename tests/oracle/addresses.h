/*
 * Common parts of the programs that look up addresses: reading addresses in hex from standard
 * input, one per line, and the clock.
 */
#ifndef MT_TESTS_ORACLE_ADDRESSES_H
#define MT_TESTS_ORACLE_ADDRESSES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	ADDRESSES_MAX = 1 << 20,
};

static uint64_t addresses[ADDRESSES_MAX];
static size_t address_count;

static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline void read_addresses(void)
{
	char line[64];

	while (address_count < ADDRESSES_MAX && fgets(line, sizeof(line), stdin))
		addresses[address_count++] = strtoull(line, NULL, 16);
}

#endif
