/* An interval table of the lines of a perf map, in which later lines rank higher. */
#include "symbols/names/perf_map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "symbols/tables/interval_table.h"

#define NAME_MAX_SIZE 4096 /* most bytes of a name, because all of it is stored and printed */
#define LINES_MAX 33554432

struct entry {
	uint64_t start;
	const char *name;
	size_t size;
};

struct mt_perf_map {
	MT_ARRAY(struct entry) entries;
	struct mt_interval_table *table;
};

void mt_perf_map_destroy(struct mt_perf_map *map)
{
	if (!map)
		return;
	mt_interval_table_destroy(map->table);
	mt_array_deinit(&map->entries);
	free(map);
}

/* Reads a hexadecimal number and the blanks after it; false if there is none. */
static bool take_number(const char **at, const char *end, uint64_t *out)
{
	const char *p = *at;
	uint64_t value = 0;
	size_t digits = 0;

	if (end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x')
		p += 2;
	for (; p < end; p++, digits++) {
		char c = *p | 0x20;

		if (*p >= '0' && *p <= '9')
			value = value << 4 | (uint64_t)(*p - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	if (!digits || digits > 16 || p == end || (*p != ' ' && *p != '\t'))
		return false;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	*at = p;
	*out = value;
	return true;
}

struct intervals {
	struct mt_interval *items;
	size_t count, capacity;
};

/* Adds the interval of a line. False out of memory. */
static bool take_line(struct mt_perf_map *map, struct intervals *intervals, const char *at,
		      const char *end)
{
	uint64_t start, size;
	struct entry *entry;
	const char *stop;

	if (!take_number(&at, end, &start) || !take_number(&at, end, &size) || !size ||
	    size > UINT64_MAX - start)
		return true;
	stop = memchr(at, '\0', (size_t)(end - at));
	end = stop ? stop : end;
	while (end > at && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	if (end == at || map->entries.count >= LINES_MAX)
		return true;
	entry = mt_array_push(&map->entries);
	if (!entry || !mt_array_reserve(intervals, intervals->count + 1))
		return false;
	*entry = (struct entry){start, at, (size_t)(end - at)};
	entry->size = entry->size < NAME_MAX_SIZE ? entry->size : NAME_MAX_SIZE;
	intervals->items[intervals->count++] =
		(struct mt_interval){.start = start,
				     .end = start + size,
				     .rank = (uint32_t)map->entries.count,
				     .value = (uint32_t)map->entries.count - 1};
	return true;
}

static bool take_lines(struct mt_perf_map *map, const char *text, size_t size)
{
	struct intervals intervals = {0};
	const char *end = text + size;
	bool good = true;

	while (good && text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;

		good = take_line(map, &intervals, text, stop);
		text = newline ? newline + 1 : end;
	}
	if (good)
		map->table = mt_interval_table_create(intervals.items, intervals.count);
	free(intervals.items);
	return map->table;
}

struct mt_perf_map *mt_perf_map_create(const char *text, size_t size)
{
	struct mt_perf_map *map = calloc(1, sizeof(*map));

	if (map && take_lines(map, text, size))
		return map;
	mt_perf_map_destroy(map);
	return NULL;
}

const char *mt_perf_map_find(const struct mt_perf_map *map, uint64_t address, size_t *size,
			     uint64_t *offset)
{
	uint32_t i = mt_interval_table_find(map->table, address);

	if (i == MT_INTERVAL_NONE)
		return NULL;
	*size = map->entries.items[i].size;
	*offset = address - map->entries.items[i].start;
	return map->entries.items[i].name;
}
