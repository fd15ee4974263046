/*
 * The names a just-in-time compiler gives its code, in the form of /tmp/perf-PID.map: lines "START
 * SIZE name", the numbers hexadecimal, the name up to the line's end. Where lines overlap, the
 * later one holds: code is overwritten.
 */
#ifndef MT_SYMBOLS_NAMES_PERF_MAP_H
#define MT_SYMBOLS_NAMES_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>

struct mt_perf_map;

/*
 * Borrows text until destroyed. Lines of another form are passed over; NULL out of memory.
 */
struct mt_perf_map *mt_perf_map_create(const char *text, size_t size);
void mt_perf_map_destroy(struct mt_perf_map *map);

/*
 * The name of the code at an address, not NUL-terminated, and *offset within it; NULL where there
 * is none.
 */
const char *mt_perf_map_find(const struct mt_perf_map *map, uint64_t address, size_t *size,
			     uint64_t *offset);

#endif
