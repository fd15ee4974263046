/*
 * Cache events by any name that perf knows them by: a cache, and what was done there with what
 * result.
 */
#ifndef MT_FORMATS_CACHE_NAMES_H
#define MT_FORMATS_CACHE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * L1-dcache-loads, l1d-read-miss, LLC-misses, bpu, ...: CACHE[-OPERATION][-RESULT], in either
 * order; reads where no operation is named, accesses where no result is. Gives the config of a
 * PERF_TYPE_HW_CACHE event; false where the name is none, or no cache counts that.
 */
bool mt_cache_name_parse(const char *name, size_t length, uint64_t *config);

#endif
