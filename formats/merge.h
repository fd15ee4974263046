/*
 * The DATA chunks of one recording merged by time, with as few of them in memory as overlap in
 * time.
 */
#ifndef MT_FORMATS_MERGE_H
#define MT_FORMATS_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/payload.h"

struct mt_merge {
	struct mt_loader *loader; /* borrowed */
	size_t memory_limit;
	/* DATA chunks by first time; from `next` on not yet opened */
	MT_ARRAY(const struct mt_chunk_ref *) waiting;
	size_t next;
	MT_ARRAY(struct mt_payload *) open; /* a heap: the earliest record first */
	MT_ARRAY(struct mt_payload *) idle; /* emptied, their memory kept for the next */
	size_t open_memory, idle_memory;
	bool given;	   /* the first record of the heap is out, and has to be stepped over */
	uint64_t last_key; /* of the record given last */
};

/* Borrows the loader. deinit also releases what an error left open. */
void mt_merge_init(struct mt_merge *merge, struct mt_loader *loader, size_t memory_limit);
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

#endif
