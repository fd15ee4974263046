/*
 * A growing hash map from uint64_t to uint64_t with open addressing. UINT64_MAX is a valid key.
 */
#ifndef MT_FORMATS_BASE_MAP64_H
#define MT_FORMATS_BASE_MAP64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_map64 {
	struct mt_map64_slot *slots; /* NULL until the first put */
	size_t count;
	size_t mask; /* number of slots - 1; their number is a power of two */
};

/* An all-zero struct mt_map64 is an empty map. */
void mt_map64_deinit(struct mt_map64 *map);

/* Sets key to value, replacing an earlier value; false out of memory, with the map unchanged. */
bool mt_map64_put(struct mt_map64 *map, uint64_t key, uint64_t value);

/* Sets key to value unless the map has the key; false out of memory. */
bool mt_map64_add(struct mt_map64 *map, uint64_t key, uint64_t value);

/* True and sets *value if the map has the key; else false, with *value untouched. */
bool mt_map64_get(const struct mt_map64 *map, uint64_t key, uint64_t *value);

/*
 * The element of `array` for key. The map's value is the index of that element. For a new key,
 * appends a zeroed element. NULL out of memory, with map and array unchanged.
 */
#define mt_map64_element(map, array, key)                                                       \
	({                                                                                      \
		__typeof__(map) map_ = (map);                                                   \
		__typeof__(array) of_ = (array);                                                \
		const uint64_t key_ = (key);                                                    \
		uint64_t at_ = of_->count;                                                      \
		bool has_ = mt_map64_get(map_, key_, &at_) ||                                   \
			    (mt_array_reserve(of_, at_ + 1) && mt_map64_put(map_, key_, at_) && \
			     mt_array_push(of_));                                               \
		has_ ? &of_->items[at_] : NULL;                                                 \
	})

/* Removes key; false if the map does not have it. */
bool mt_map64_remove(struct mt_map64 *map, uint64_t key);

/* Mixes all bits of x. Hash tables of integer keys use this function. */
uint64_t mt_hash64(uint64_t x);

/* Hash of `size` bytes. To chain hashes, pass the previous hash as seed. */
uint64_t mt_hash_bytes(const void *bytes, size_t size, uint64_t seed);

#endif
