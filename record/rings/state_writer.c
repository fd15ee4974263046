/* Fills blocks with STATE (or HEAD) records. */
#include "record/rings/state_writer.h"

#include <unistd.h>

#include "formats/records/record.h"

#define PATIENCE_US 10000

bool mt_state_begin(struct mt_state *state)
{
	state->block = mt_spool_take(state->spool);
	if (state->block)
		mt_block_reset(state->block, state->type, 0);
	return state->block;
}

/* Waits for a block; NULL after give_up. */
static struct mt_block *wait_for_block(struct mt_state *state)
{
	struct mt_block *block;

	if (!state->give_up)
		return mt_spool_take_wait(state->spool);
	while (!(block = mt_spool_take(state->spool))) {
		if (state->give_up(state->give_up_context))
			return NULL;
		usleep(PATIENCE_US);
	}
	return block;
}

struct mt_block *mt_state_block(struct mt_state *state)
{
	if (!state->block && !state->given_up)
		state->block = wait_for_block(state);
	if (!state->block) {
		state->given_up = true;
		state->block = &state->none;
	}
	if (!state->block->used)
		mt_block_reset(state->block, state->type, 0);
	return state->block;
}

void mt_state_flush(struct mt_state *state)
{
	if (!state->block || state->block == &state->none)
		return;
	if (state->block->used)
		mt_spool_push(state->spool, state->block);
	else
		mt_spool_release(state->spool, state->block);
	state->block = NULL;
}

void mt_state_put_weight(struct mt_state *state, uint32_t event, uint64_t numerator,
			 uint64_t denominator)
{
	struct mt_weight_record weight = {
		.event = event, .numerator = numerator, .denominator = denominator};

	if (!mt_weight_put(mt_state_block(state), 0, &weight)) {
		mt_state_flush(state);
		(void)mt_weight_put(mt_state_block(state), 0, &weight);
	}
}
