/*
 * STATE records on their way into the file: fills blocks of the spool and pushes them when full or
 * asked to. One thread at a time.
 */
#ifndef MT_RECORD_RINGS_STATE_H
#define MT_RECORD_RINGS_STATE_H

#include <stdbool.h>

#include "formats/chunks/chunk.h"
#include "record/rings/spool.h"

struct mt_state {
	struct mt_spool *spool;
	struct mt_block *block; /* NULL: none begun */
	enum mt_chunk_type type;
	/*
	 * Asked while the spool has no block: whether to wait no longer. All that is put from then
	 * on is dropped. NULL: wait for as long as it takes.
	 */
	bool (*give_up)(void *context);
	void *give_up_context;
	bool given_up;
	struct mt_block none; /* without room */
};

/*
 * Begins a block now, or says false where the spool has none: for those who must not wait for the
 * writer.
 */
bool mt_state_begin(struct mt_state *state);

/* The block to put into, begun where there is none. Waits for the spool, as give_up allows. */
struct mt_block *mt_state_block(struct mt_state *state);

/*
 * A WEIGHT that holds for the whole recording: a sample of the event stands for numerator /
 * denominator.
 */
void mt_state_put_weight(struct mt_state *state, uint32_t event, uint64_t numerator,
			 uint64_t denominator);

/* Hands the block on, if it holds anything. */
void mt_state_flush(struct mt_state *state);

/*
 * Puts one record by its encoder (mt_task_put, ...); a record that fits no empty block is dropped:
 * false.
 */
#define mt_state_put(state, put, record)           \
	((put)(mt_state_block(state), (record)) || \
	 (mt_state_flush(state), (put)(mt_state_block(state), (record))))

#endif
