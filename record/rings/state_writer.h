/*
 * Writes STATE records: fills blocks of the spool and pushes them when they are full or flushed.
 * One thread at a time.
 */
#ifndef MT_RECORD_RINGS_STATE_WRITER_H
#define MT_RECORD_RINGS_STATE_WRITER_H

#include <stdbool.h>

#include "formats/chunks/chunk.h"
#include "record/rings/spool.h"

struct mt_state {
	struct mt_spool *spool;
	struct mt_block *block; /* being filled; NULL: none */
	enum mt_chunk_type type;
	/*
	 * Called while the spool has no free block. True: stop waiting; all later records are
	 * dropped. NULL: wait without limit.
	 */
	bool (*give_up)(void *context);
	void *give_up_context;
	bool given_up;
	struct mt_block none; /* block of no capacity, after give_up */
};

/*
 * Begins a block; false if the spool has none. For threads that must not wait for the writer.
 */
bool mt_state_begin(struct mt_state *state);

/* The block being filled; takes one if there is none, waiting as long as give_up allows. */
struct mt_block *mt_state_block(struct mt_state *state);

/*
 * Puts a WEIGHT for the whole recording: a sample of the event represents numerator / denominator
 * events.
 */
void mt_state_put_weight(struct mt_state *state, uint32_t event, uint64_t numerator,
			 uint64_t denominator);

/* Pushes the block if it has records. */
void mt_state_flush(struct mt_state *state);

/*
 * Puts one record with its encoder (mt_task_put, ...). False if the record does not fit an empty
 * block and was dropped.
 */
#define mt_state_put(state, put, record)           \
	((put)(mt_state_block(state), (record)) || \
	 (mt_state_flush(state), (put)(mt_state_block(state), (record))))

#endif
