/* The integer hash map: linear probing, at most three quarters full, backward-shift removal. */
#include "formats/base/map64.h"

#include <stdlib.h>
#include <string.h>

enum {
	LONG = 64 /* bytes */
};

struct mt_map64_slot {
	uint64_t key;
	uint64_t value;
	bool used;
};

uint64_t mt_hash64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	return x;
}

/* XOR of both halves of the product, so that each bit of both numbers affects the result. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t fold_pair(const uint8_t *bytes, uint64_t h)
{
	uint64_t pair[2];

	memcpy(pair, bytes, 16);
	return fold(pair[0] ^ 0x9e3779b97f4a7c15ull, pair[1] ^ h);
}

/*
 * Long inputs use four independent chains of products. In one chain, each product would have to
 * wait for the one before it.
 */
static uint64_t hash_long(const uint8_t *p, size_t size, uint64_t h)
{
	uint64_t a = h, b = ~h, c = h << 1, d = h >> 1;

	for (; size >= LONG; size -= LONG, p += LONG) {
		a = fold_pair(p, a);
		b = fold_pair(p + 16, b);
		c = fold_pair(p + 32, c);
		d = fold_pair(p + 48, d);
	}
	return fold(fold(a ^ 0xc2b2ae3d27d4eb4full, b) ^ c, d ^ 0x9fb21c651e98df25ull);
}

uint64_t mt_hash_bytes(const void *bytes, size_t size, uint64_t seed)
{
	const uint8_t *p = bytes;
	uint64_t h = mt_hash64(seed ^ size), word, last = 0;

	if (size >= LONG) {
		h = hash_long(p, size, h);
		p += size & ~(size_t)(LONG - 1);
		size &= LONG - 1;
	}
	for (; size >= 16; size -= 16, p += 16)
		h = fold_pair(p, h);
	if (size >= 8) {
		memcpy(&word, p, 8);
		h = fold(word ^ 0xd6e8feb86659fd93ull, h);
		size -= 8;
		p += 8;
	}
	if (size)
		memcpy(&last, p, size);
	return mt_hash64(h ^ last);
}

void mt_map64_deinit(struct mt_map64 *map)
{
	free(map->slots);
	*map = (struct mt_map64){0};
}

/* Index of the slot that holds key, or of the free slot for it. */
static size_t slot_of(const struct mt_map64 *map, uint64_t key)
{
	size_t i = mt_hash64(key) & map->mask;

	while (map->slots[i].used && map->slots[i].key != key)
		i = (i + 1) & map->mask;
	return i;
}

static bool map_grow(struct mt_map64 *map)
{
	size_t slots = map->slots ? (map->mask + 1) * 2 : 16;
	struct mt_map64 grown = {.count = map->count, .mask = slots - 1};

	grown.slots = mt_alloc(slots, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	for (size_t i = 0; map->slots && i <= map->mask; i++) {
		if (map->slots[i].used)
			grown.slots[slot_of(&grown, map->slots[i].key)] = map->slots[i];
	}
	free(map->slots);
	*map = grown;
	return true;
}

/* The slot that holds key, or a free slot for it; grows the map if needed. NULL out of memory. */
static struct mt_map64_slot *slot_for(struct mt_map64 *map, uint64_t key)
{
	if (!map->slots || map->count + 1 > (map->mask + 1) / 4 * 3) {
		if (!map_grow(map))
			return NULL;
	}
	return &map->slots[slot_of(map, key)];
}

bool mt_map64_put(struct mt_map64 *map, uint64_t key, uint64_t value)
{
	struct mt_map64_slot *slot = slot_for(map, key);

	if (!slot)
		return false;
	map->count += !slot->used;
	*slot = (struct mt_map64_slot){.key = key, .value = value, .used = true};
	return true;
}

bool mt_map64_add(struct mt_map64 *map, uint64_t key, uint64_t value)
{
	struct mt_map64_slot *slot = slot_for(map, key);

	if (slot && !slot->used) {
		map->count++;
		*slot = (struct mt_map64_slot){.key = key, .value = value, .used = true};
	}
	return slot;
}

bool mt_map64_get(const struct mt_map64 *map, uint64_t key, uint64_t *value)
{
	const struct mt_map64_slot *slot;

	if (!map->slots)
		return false;
	slot = &map->slots[slot_of(map, key)];
	if (!slot->used)
		return false;
	*value = slot->value;
	return true;
}

bool mt_map64_remove(struct mt_map64 *map, uint64_t key)
{
	size_t hole, next, home;

	if (!map->slots)
		return false;
	hole = slot_of(map, key);
	if (!map->slots[hole].used)
		return false;
	for (next = (hole + 1) & map->mask; map->slots[next].used; next = (next + 1) & map->mask) {
		home = mt_hash64(map->slots[next].key) & map->mask;
		/* an entry whose home lies cyclically after the hole stays where it is */
		if (((next - home) & map->mask) < ((next - hole) & map->mask))
			continue;
		map->slots[hole] = map->slots[next];
		hole = next;
	}
	map->slots[hole].used = false;
	map->count--;
	return true;
}
