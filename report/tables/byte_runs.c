/*
 * A hash set of byte runs over an arena of blocks. Open addressing, at most half full; each slot
 * stores the run's hash, so that a run's bytes are read only when the hash is equal.
 */
#include "report/tables/byte_runs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"

enum {
	BLOCK_SIZE = 256 << 10, /* of the first blocks; later blocks are one huge page each */
	HUGE_BLOCK_SIZE = 2 << 20,
	SMALL_BLOCKS = 4,
	FIRST_SLOTS = 1024,
};

struct run {
	const void *bytes;
	size_t size;
};

struct block {
	uint8_t *bytes;
	size_t size;
};

struct slot {
	uint32_t number; /* id + 1; 0: empty */
	uint32_t hash;
};

struct mt_byte_runs {
	MT_ARRAY(struct run) runs;
	MT_ARRAY(struct block) blocks;
	size_t block, block_used; /* block being filled; later ones are left from before a clear */
	size_t bytes;
	struct slot *slots;
	size_t mask;
};

struct mt_byte_runs *mt_byte_runs_create(void)
{
	struct mt_byte_runs *s = mt_alloc(1, sizeof(*s));

	s->mask = FIRST_SLOTS - 1;
	s->slots = mt_alloc(FIRST_SLOTS, sizeof(*s->slots));
	return s;
}

void mt_byte_runs_destroy(struct mt_byte_runs *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->blocks.count; i++)
		free(s->blocks.items[i].bytes);
	mt_array_deinit(&s->blocks);
	mt_array_deinit(&s->runs);
	free(s->slots);
	free(s);
}

void mt_byte_runs_clear(struct mt_byte_runs *s)
{
	s->block = s->block_used = s->bytes = 0;
	s->runs.count = 0;
	memset(s->slots, 0, (s->mask + 1) * sizeof(*s->slots));
}

/* Allocates a block. Blocks of a large set are huge pages, which take one page fault per 2 MiB. */
static uint8_t *make_block(size_t number, size_t *size)
{
	uint8_t *block;

	if (number < SMALL_BLOCKS || *size > HUGE_BLOCK_SIZE) {
		*size = *size > BLOCK_SIZE ? *size : BLOCK_SIZE;
		return mt_resize(NULL, *size, 1);
	}
	*size = HUGE_BLOCK_SIZE;
	block = aligned_alloc(HUGE_BLOCK_SIZE, HUGE_BLOCK_SIZE);
	if (!block)
		mt_memory_failed();
	(void)madvise(block, HUGE_BLOCK_SIZE, MADV_HUGEPAGE);
	return block;
}

/* Goes on to the next block with at least `room` bytes; allocates one if there is none. */
static void next_block(struct mt_byte_runs *s, size_t room)
{
	struct block block = {.size = room};

	while (s->block + 1 < s->blocks.count) {
		s->block_used = 0;
		if (s->blocks.items[++s->block].size >= room)
			return;
	}
	block.bytes = make_block(s->blocks.count, &block.size);
	s->block = s->blocks.count;
	s->block_used = 0;
	*mt_array_push(&s->blocks) = block;
}

static void *copy_run(struct mt_byte_runs *s, const void *bytes, size_t size)
{
	size_t room = (size + 7) & ~(size_t)7;
	uint8_t *at;

	if (!s->blocks.count || room > s->blocks.items[s->block].size - s->block_used)
		next_block(s, room);
	at = s->blocks.items[s->block].bytes + s->block_used;
	s->block_used += room;
	s->bytes += room;
	if (size)
		memcpy(at, bytes, size);
	return at;
}

static void grow_slots(struct mt_byte_runs *s)
{
	size_t mask = s->mask * 2 + 1;
	struct slot *slots = mt_alloc(mask + 1, sizeof(*slots));

	for (size_t from = 0; from <= s->mask; from++) {
		size_t i = s->slots[from].hash & mask;

		if (!s->slots[from].number)
			continue;
		while (slots[i].number)
			i = (i + 1) & mask;
		slots[i] = s->slots[from];
	}
	free(s->slots);
	s->slots = slots;
	s->mask = mask;
}

static uint32_t add_run(struct mt_byte_runs *s, size_t slot, const void *bytes, size_t size,
			uint32_t hash)
{
	if (s->runs.count >= UINT32_MAX - 1)
		mt_memory_failed();
	*mt_array_push(&s->runs) = (struct run){copy_run(s, bytes, size), size};
	s->slots[slot] = (struct slot){(uint32_t)s->runs.count, hash};
	return (uint32_t)(s->runs.count - 1);
}

uint32_t mt_byte_runs_intern(struct mt_byte_runs *s, const void *bytes, size_t size)
{
	return mt_byte_runs_intern_hashed(s, bytes, size, (uint32_t)mt_hash_bytes(bytes, size, 0));
}

uint32_t mt_byte_runs_intern_hashed(struct mt_byte_runs *s, const void *bytes, size_t size,
				    uint32_t hash)
{
	size_t i;

	if (s->runs.count >= s->mask / 2)
		grow_slots(s);
	for (i = hash & s->mask; s->slots[i].number; i = (i + 1) & s->mask) {
		const struct run *run = &s->runs.items[s->slots[i].number - 1];

		if (s->slots[i].hash == hash && run->size == size &&
		    (!size || !memcmp(run->bytes, bytes, size)))
			return s->slots[i].number - 1;
	}
	return add_run(s, i, bytes, size, hash);
}

const void *mt_byte_runs_get(const struct mt_byte_runs *s, uint32_t id, size_t *size)
{
	*size = s->runs.items[id].size;
	return s->runs.items[id].bytes;
}

size_t mt_byte_runs_count(const struct mt_byte_runs *s)
{
	return s->runs.count;
}

size_t mt_byte_runs_bytes(const struct mt_byte_runs *s)
{
	return s->bytes;
}
