/*
 * A hash map from uint64_t to uint64_t: open addressing, grows by itself. The key UINT64_MAX is
 * allowed.
 */
#ifndef MT_FORMATS_BASE_MAP64_H
#define MT_FORMATS_BASE_MAP64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_map64 {
	struct mt_map64_slot *slots; /* NULL until the first put */
	size_t count;
	size_t mask; /* slots - 1, a power of two less one */
};

/* An all-zero struct mt_map64 is an empty map. */
void mt_map64_deinit(struct mt_map64 *map);

/* Sets key to value, replacing an earlier one; false out of memory, with the map as it was. */
bool mt_map64_put(struct mt_map64 *map, uint64_t key, uint64_t value);

/* The same but for a key that is in the map: it keeps its value. */
bool mt_map64_add(struct mt_map64 *map, uint64_t key, uint64_t value);

/* True, and *value, where key is in the map; else false and *value is untouched. */
bool mt_map64_get(const struct mt_map64 *map, uint64_t key, uint64_t *value);

/* Asks the processor for where key is, or would be. */
void mt_map64_prefetch(const struct mt_map64 *map, uint64_t key);

/* Removes key; false if it was not there. */
bool mt_map64_remove(struct mt_map64 *map, uint64_t key);

/* Mixes all bits of x: the finalizer that the tables of this project hash integers with. */
uint64_t mt_hash64(uint64_t x);

/* Hash of a run of bytes, chained through seed. */
uint64_t mt_hash_bytes(const void *bytes, size_t size, uint64_t seed);

#endif
