/*
 * Interned runs of bytes, each distinct run once, compared by id: the ground that stacks, frames
 * and groups stand on. Runs are kept 8-byte aligned and never move. Ids count from 0 in order of
 * first sight.
 */
#ifndef MT_REPORT_TABLES_BYTE_RUNS_H
#define MT_REPORT_TABLES_BYTE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_byte_runs;

#define MT_SEQUENCE_NONE UINT32_MAX

/* NULL out of memory. */
struct mt_byte_runs *mt_byte_runs_create(void);
void mt_byte_runs_destroy(struct mt_byte_runs *sequences);

/*
 * The id of these bytes, which are copied on first sight; MT_SEQUENCE_NONE out of memory or over 4
 * G runs.
 */
uint32_t mt_byte_runs_intern(struct mt_byte_runs *sequences, const void *bytes, size_t size);

/* The same for who has the low half of mt_hash_bytes(bytes, size, 0) already. */
uint32_t mt_byte_runs_intern_hashed(struct mt_byte_runs *sequences, const void *bytes, size_t size,
				    uint32_t hash);

/*
 * Brings what intern_hashed() will look at nearer, a part with each call: called with `ahead` 3, 2
 * and 1, so many calls of intern_hashed() before the one with this hash. Changes nothing.
 */
void mt_byte_runs_prefetch(const struct mt_byte_runs *sequences, uint32_t hash, unsigned int ahead);

/* Borrows the bytes of an id that intern gave; holds until clear or destroy. */
const void *mt_byte_runs_get(const struct mt_byte_runs *sequences, uint32_t id, size_t *size);

size_t mt_byte_runs_count(const struct mt_byte_runs *sequences);

/* How many bytes the runs have, padding with them. */
size_t mt_byte_runs_bytes(const struct mt_byte_runs *sequences);

/* Forgets all runs; ids start from 0 again. Keeps the memory for those to come. */
void mt_byte_runs_clear(struct mt_byte_runs *sequences);

#endif
