/*
 * Names of JIT code, in the form of /tmp/perf-PID.map: lines "START SIZE name", numbers in
 * hexadecimal, and the name up to the end of the line. Where ranges overlap, the later line is
 * used, because code is overwritten.
 */
#ifndef MT_SYMBOLS_NAMES_PERF_MAP_H
#define MT_SYMBOLS_NAMES_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>

struct mt_perf_map;

/* Borrows text until destroyed; malformed lines are skipped. NULL out of memory. */
struct mt_perf_map *mt_perf_map_create(const char *text, size_t size);
void mt_perf_map_destroy(struct mt_perf_map *map);

/*
 * The name of the code at an address, not NUL-terminated, and *offset in that code; NULL if there
 * is none.
 */
const char *mt_perf_map_find(const struct mt_perf_map *map, uint64_t address, size_t *size,
			     uint64_t *offset);

#endif
