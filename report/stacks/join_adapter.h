/*
 * Converts walked samples of the pipeline to input of the joiner, and joined stacks to walked ones.
 */
#ifndef MT_REPORT_STACKS_JOIN_ADAPTER_H
#define MT_REPORT_STACKS_JOIN_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_join_adapter;
struct mt_piped;
struct mt_walk_words;

/* Options as in struct mt_walker_options. */
struct mt_join_adapter *mt_join_adapter_create(uint32_t max_frames, bool addresses);
void mt_join_adapter_destroy(struct mt_join_adapter *adapter);

/* Learns callers from walked samples. */
void mt_join_adapter_learn(struct mt_join_adapter *adapter, const struct mt_piped *samples,
			   size_t count);

/*
 * Adds walked samples to the joiner in order of time. They must not move until
 * mt_join_adapter_splice().
 */
void mt_join_adapter_see(struct mt_join_adapter *adapter, struct mt_piped *samples, size_t count);

/* Builds the stacks of joined samples in `spliced`, and releases all samples from the joiner. */
void mt_join_adapter_splice(struct mt_join_adapter *adapter, struct mt_piped *samples, size_t count,
			    struct mt_walk_words *spliced);

/* Drops all stacks at the start of another recording. */
void mt_join_adapter_begin(struct mt_join_adapter *adapter);

#endif
