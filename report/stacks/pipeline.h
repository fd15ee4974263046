/*
 * Unwinds selected samples. Samples are put in, walked in batches by all workers, and taken out in
 * the same order, so the output does not depend on the number of workers.
 */
#ifndef MT_REPORT_STACKS_PIPELINE_H
#define MT_REPORT_STACKS_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/records/sample.h"
#include "report/stacks/session_sample.h"
#include "report/stacks/spaces.h"
#include "report/stacks/unwind_worker.h"
#include "unwind/join/join.h"
#include "unwind/return_slots.h"

struct mt_image_map;
struct mt_pipeline;
struct mt_pool;

/* A sample, with copies of all state that may change after it was read. */
struct mt_piped {
	struct mt_session_sample sample; /* task and kernel point to the copies below */
	struct mt_task task;
	struct mt_sample kernel;
	struct mt_image_map *map; /* snapshot of the space's map */
	struct mt_walked walked;
	const struct mt_walk_words *words;
	struct mt_join_stack join;
	struct mt_return_slot returns[MT_RETURN_SLOTS]; /* sample.return_count of them are set */
};

/* Borrows the pool. */
struct mt_pipeline *mt_pipeline_create(struct mt_pool *pool,
				       const struct mt_walker_options *options);
void mt_pipeline_destroy(struct mt_pipeline *pipeline);

/* True if another sample may be put in before one is taken out. */
bool mt_pipeline_has_room(const struct mt_pipeline *pipeline);

/*
 * Copies the sample and its task, and takes a snapshot of its map. The data that `kernel` points to
 * must stay valid until the record is released, except for the dump with MT_PIPELINE_AT_ONCE.
 * `serial` is the serial number of the sample's record.
 */
void mt_pipeline_put(struct mt_pipeline *pipeline, const struct mt_session_sample *sample,
		     uint64_t serial);

/* Which workers walk the samples. */
enum mt_pipeline_way {
	MT_PIPELINE_WORKERS, /* all workers, one batch each at a time */
	MT_PIPELINE_ALONE,   /* the caller, one batch at a time */
	MT_PIPELINE_AT_ONCE, /* the caller, each sample as it is put in */
};

/*
 * Notes that a record of about `bytes` bytes without a selected sample was read. True if the
 * pipeline is empty, so that all records up to `serial` may be released.
 */
bool mt_pipeline_pass(struct mt_pipeline *pipeline, size_t bytes, uint64_t serial);

/* Starts another recording; the pipeline must be empty. */
void mt_pipeline_begin(struct mt_pipeline *pipeline, enum mt_pipeline_way way);

/* Waits until no worker runs. */
void mt_pipeline_settle(struct mt_pipeline *pipeline);

/*
 * Takes the next sample with its stack; *out is NULL if the pipeline is empty. Borrowed until the
 * next call. Records up to the serial number *released are no longer needed.
 */
void mt_pipeline_take(struct mt_pipeline *pipeline, const struct mt_piped **out,
		      uint64_t *released);

#endif
