/*
 * Between the pipeline and the joiner: what was walked, as stacks to join, and what was joined, as
 * if it had been walked so.
 */
#ifndef MT_REPORT_STACKS_JOIN_ADAPTER_H
#define MT_REPORT_STACKS_JOIN_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_join_adapter;
struct mt_piped;
struct mt_walk_words;

/* As in struct mt_walker_options, of the walker. NULL out of memory. */
struct mt_join_adapter *mt_join_adapter_create(uint32_t max_frames, bool addresses);
void mt_join_adapter_destroy(struct mt_join_adapter *adapter);

/* Learns from these samples, which were walked, who calls whom. False out of memory. */
bool mt_join_adapter_learn(struct mt_join_adapter *adapter, const struct mt_piped *samples,
			   size_t count);

/*
 * Shows the joiner these samples, which were walked, in order of time. They stay where they are
 * until mt_join_adapter_splice(). False out of memory.
 */
bool mt_join_adapter_see(struct mt_join_adapter *adapter, struct mt_piped *samples, size_t count);

/* Gives those that were joined their stacks, in `spliced`. False out of memory. */
bool mt_join_adapter_splice(struct mt_join_adapter *adapter, struct mt_piped *samples, size_t count,
			    struct mt_walk_words *spliced);

/* Forgets all stacks: another recording begins. */
void mt_join_adapter_begin(struct mt_join_adapter *adapter);

#endif
