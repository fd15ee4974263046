/*
 * Parses perf's names of hardware cache events.
 */
#ifndef MT_FORMATS_CACHE_NAMES_H
#define MT_FORMATS_CACHE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Parses CACHE[-OPERATION][-RESULT], such as L1-dcache-loads, l1d-read-miss, LLC-misses or bpu;
 * operation and result in either order. Defaults are read and access. Sets the config of a
 * PERF_TYPE_HW_CACHE event; false for an unknown name, or a combination that the cache does not
 * count.
 */
bool mt_cache_name_parse(const char *name, size_t length, uint64_t *config);

#endif
