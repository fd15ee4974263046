/*
 * Interned byte runs: each distinct run is stored once and compared by id. Stacks, frames and table
 * keys are kept in such sets. Runs are 8-byte aligned and never move. Ids count from 0 in order of
 * insertion.
 */
#ifndef MT_REPORT_TABLES_BYTE_RUNS_H
#define MT_REPORT_TABLES_BYTE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_byte_runs;

/* Creates an empty set, which mt_byte_runs_destroy() frees. */
struct mt_byte_runs *mt_byte_runs_create(void);
void mt_byte_runs_destroy(struct mt_byte_runs *runs);

/*
 * The id of these bytes, which are copied when they are new. More than 2^32 - 2 runs end the
 * program as out of memory.
 */
uint32_t mt_byte_runs_intern(struct mt_byte_runs *runs, const void *bytes, size_t size);

/* The same with a hash that the caller computed: the low half of mt_hash_bytes(bytes, size, 0). */
uint32_t mt_byte_runs_intern_hashed(struct mt_byte_runs *runs, const void *bytes, size_t size,
				    uint32_t hash);

/* Borrows a run's bytes until clear or destroy. */
const void *mt_byte_runs_get(const struct mt_byte_runs *runs, uint32_t id, size_t *size);

size_t mt_byte_runs_count(const struct mt_byte_runs *runs);

/* Bytes stored, with padding. */
size_t mt_byte_runs_bytes(const struct mt_byte_runs *runs);

/* Removes all runs but keeps their memory for new ones; ids start from 0 again. */
void mt_byte_runs_clear(struct mt_byte_runs *runs);

#endif
