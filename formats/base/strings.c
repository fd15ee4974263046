/*
 * The string table: bytes in blocks that never move, an array of strings indexed by id, and an
 * open-addressing hash table of ids.
 */
#include "formats/base/strings.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"

#define BLOCK_SIZE 65536

struct entry {
	const char *string;
	uint32_t length;
	uint32_t hash;
};

struct mt_strings {
	MT_ARRAY(struct entry) entries;
	MT_ARRAY(char *) blocks;
	size_t block_left;
	uint32_t *table; /* id + 1, 0 if free */
	size_t mask;
};

struct mt_strings *mt_strings_create(void)
{
	struct mt_strings *strings = mt_alloc(1, sizeof(*strings));

	if (!strings)
		return NULL;
	if (mt_strings_intern(strings, "", 0) == MT_STRING_NONE) {
		mt_strings_destroy(strings);
		return NULL;
	}
	return strings;
}

void mt_strings_destroy(struct mt_strings *strings)
{
	if (!strings)
		return;
	for (size_t i = 0; i < strings->blocks.count; i++)
		free(strings->blocks.items[i]);
	mt_array_deinit(&strings->blocks);
	mt_array_deinit(&strings->entries);
	free(strings->table);
	free(strings);
}

static char *store_bytes(struct mt_strings *strings, const char *string, size_t length)
{
	size_t need = length + 1, size = need > BLOCK_SIZE ? need : BLOCK_SIZE;
	char **block, *to;

	if (need > strings->block_left || !strings->blocks.count) {
		block = mt_array_push(&strings->blocks);
		if (!block)
			return NULL;
		*block = mt_alloc(1, size);
		if (!*block) {
			strings->blocks.count--;
			return NULL;
		}
		strings->block_left = size;
	}
	/* a block is filled from its end, so only the remaining size is stored */
	to = strings->blocks.items[strings->blocks.count - 1] + strings->block_left - need;
	strings->block_left -= need;
	memcpy(to, string, length);
	to[length] = '\0';
	return to;
}

static size_t slot_of(const struct mt_strings *strings, const char *string, size_t length,
		      uint32_t hash)
{
	size_t i = hash & strings->mask;

	for (; strings->table[i]; i = (i + 1) & strings->mask) {
		const struct entry *e = &strings->entries.items[strings->table[i] - 1];

		if (e->hash == hash && e->length == length && !memcmp(e->string, string, length))
			break;
	}
	return i;
}

static int table_grow(struct mt_strings *strings)
{
	size_t slots = strings->table ? (strings->mask + 1) * 2 : 256;
	uint32_t *table = mt_alloc(slots, sizeof(*table));

	if (!table)
		return -1;
	free(strings->table);
	strings->table = table;
	strings->mask = slots - 1;
	for (size_t id = 0; id < strings->entries.count; id++) {
		const struct entry *e = &strings->entries.items[id];

		table[slot_of(strings, e->string, e->length, e->hash)] = (uint32_t)id + 1;
	}
	return 0;
}

uint32_t mt_strings_intern(struct mt_strings *strings, const char *string, size_t length)
{
	uint32_t hash = (uint32_t)mt_hash_bytes(string, length, 0);
	struct entry *e;
	const char *stored;
	size_t slot;

	if (length >= UINT32_MAX - 1 || strings->entries.count >= UINT32_MAX - 2) {
		mt_memory_failed();
		return MT_STRING_NONE;
	}
	if (!strings->table || strings->entries.count + 1 > (strings->mask + 1) / 4 * 3) {
		if (table_grow(strings))
			return MT_STRING_NONE;
	}
	slot = slot_of(strings, string, length, hash);
	if (strings->table[slot])
		return strings->table[slot] - 1;
	if (!mt_array_reserve(&strings->entries, strings->entries.count + 1))
		return MT_STRING_NONE;
	stored = store_bytes(strings, string, length);
	if (!stored)
		return MT_STRING_NONE;
	e = mt_array_push(&strings->entries);
	*e = (struct entry){.string = stored, .length = (uint32_t)length, .hash = hash};
	strings->table[slot] = (uint32_t)strings->entries.count;
	return (uint32_t)strings->entries.count - 1;
}

const char *mt_strings_get(const struct mt_strings *strings, uint32_t id)
{
	return strings->entries.items[id].string;
}

size_t mt_strings_count(const struct mt_strings *strings)
{
	return strings->entries.count;
}
