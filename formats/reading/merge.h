/*
 * Merges the DATA chunks of one recording by time; only chunks that overlap in time are in memory.
 */
#ifndef MT_FORMATS_READING_MERGE_H
#define MT_FORMATS_READING_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/reading/held.h"
#include "formats/reading/payload.h"

struct mt_input;
struct mt_pool;
struct mt_reader_options;

/* A chunk loaded before it is due, possibly by another thread. */
struct mt_ahead;

struct mt_merge {
	struct mt_loader *loaders; /* one for each worker of the pool */
	unsigned int loader_count;
	struct mt_pool *pool; /* borrowed; NULL: chunks are not loaded ahead */
	size_t memory_limit;
	MT_ARRAY(struct mt_ahead *) ahead; /* chunks of `waiting`, from `next` on, in order */
	/* DATA chunks by first time; those from `next` on are not open yet. */
	MT_ARRAY(struct mt_chunk_ref) waiting;
	size_t next;
	MT_ARRAY(struct mt_payload *) open; /* a heap, the earliest record first */
	MT_ARRAY(struct mt_payload *) idle; /* emptied payloads, for reuse of their memory */
	size_t open_memory, idle_memory, ahead_memory;
	struct mt_held held; /* consumed payloads whose records may still be in use */
	bool given;	     /* the heap's first record was returned and must be consumed */
	uint64_t last_key;   /* key of the record returned last */
	uint64_t limit;	     /* records with a later key are not returned yet */
};

/* Borrows input and the options' pool. deinit also frees the state that an error leaves. */
void mt_merge_init(struct mt_merge *merge, const struct mt_input *input,
		   const struct mt_reader_options *options);
void mt_merge_deinit(struct mt_merge *merge);

/*
 * Starts on the DATA chunks among refs, without a limit; drops the state of an earlier start.
 */
void mt_merge_begin(struct mt_merge *merge, const struct mt_chunk_ref *refs, size_t count);

/*
 * Adds the DATA chunks among refs: none may have a record with a lower key than a record that was
 * returned.
 */
void mt_merge_add(struct mt_merge *merge, const struct mt_chunk_ref *refs, size_t count);

/*
 * The next record by time, valid until the next call; *more is false at the end, or at the limit.
 */
struct mt_error *mt_merge_next(struct mt_merge *merge, struct mt_damage *damage,
			       struct mt_record *out, bool *more);

/*
 * Takes over the payload's memory, which has the record returned last, and holds it like that of
 * the merge.
 */
void mt_merge_hold(struct mt_merge *merge, struct mt_payload *payload);

/* As mt_reader_release(). */
void mt_merge_release(struct mt_merge *merge, uint64_t serial);

#endif
