/*
 * The DATA chunks of one recording merged by time, with as few of them in memory as overlap in
 * time.
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

/* A chunk that is loaded before it is due, maybe by another thread. */
struct mt_ahead;

struct mt_merge {
	struct mt_loader *loaders; /* one for each worker of the pool */
	unsigned int loader_count;
	struct mt_pool *pool; /* borrowed; NULL: nothing is loaded ahead */
	size_t memory_limit;
	MT_ARRAY(struct mt_ahead *) ahead; /* of waiting, from `next` on, in order */
	/* DATA chunks by first time; from `next` on not yet opened */
	MT_ARRAY(const struct mt_chunk_ref *) waiting;
	size_t next;
	MT_ARRAY(struct mt_payload *) open; /* a heap: the earliest record first */
	MT_ARRAY(struct mt_payload *) idle; /* emptied, their memory kept for the next */
	size_t open_memory, idle_memory, ahead_memory;
	struct mt_held held; /* payloads that are empty but for the records given of them */
	bool given;	     /* the first record of the heap is out, and has to be stepped over */
	uint64_t last_key;   /* of the record given last */
};

/* Borrows input, and the options' pool. deinit also releases what an error left open. */
struct mt_error *mt_merge_init(struct mt_merge *merge, const struct mt_input *input,
			       const struct mt_reader_options *options);
void mt_merge_deinit(struct mt_merge *merge);

/*
 * Begins with the DATA chunks among these, which must outlive the merge; what was begun before is
 * dropped.
 */
struct mt_error *mt_merge_begin(struct mt_merge *merge, const struct mt_chunk_ref *refs,
				size_t count);

/* The next record in order of time; *more false at the end. Holds until the next call. */
struct mt_error *mt_merge_next(struct mt_merge *merge, struct mt_damage *damage,
			       struct mt_record *out, bool *more);

/*
 * Takes what is in the payload, to hold it as the merge holds its own: the last record given is in
 * it.
 */
struct mt_error *mt_merge_hold(struct mt_merge *merge, struct mt_payload *payload);

/* As mt_reader_release(). */
void mt_merge_release(struct mt_merge *merge, uint64_t serial);

#endif
