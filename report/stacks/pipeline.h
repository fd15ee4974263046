/*
 * Selected samples on their way to their stacks: put in one after the other, walked in batches by
 * all workers, taken out in the order they were put in. So whatever the number of workers, what
 * comes out is the same.
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

struct mt_image_map;
struct mt_pipeline;
struct mt_pool;

/* A sample with all that may have changed since it was read. */
struct mt_piped {
	struct mt_session_sample sample; /* task and kernel are the copies here */
	struct mt_task task;
	struct mt_sample kernel;
	struct mt_image_map *map; /* a snapshot */
	struct mt_walked walked;
	const struct mt_walk_words *words;
	struct mt_join_stack join;
	struct mt_branch *stitched; /* its branch records with earlier ones behind; or NULL */
	size_t stitched_count;
};

/* NULL out of memory. Borrows the pool. */
struct mt_pipeline *mt_pipeline_create(struct mt_pool *pool,
				       const struct mt_walker_options *options);
void mt_pipeline_destroy(struct mt_pipeline *pipeline);

/* Whether another sample may be put in before one has to be taken out. */
bool mt_pipeline_has_room(const struct mt_pipeline *pipeline);

/*
 * Copies the sample, with its task, and takes a snapshot of its space's map; what its `kernel`
 * points to has to stay, the dump unless it is walked at once. `serial` is that of its
 * record in the reader. False out of memory.
 */
bool mt_pipeline_put(struct mt_pipeline *pipeline, const struct mt_session_sample *sample,
		     uint64_t serial);

/* Who walks the samples. */
enum mt_pipeline_way {
	MT_PIPELINE_WORKERS, /* all, a batch each at a time */
	MT_PIPELINE_ALONE,   /* the caller, a batch at a time */
	MT_PIPELINE_AT_ONCE, /* the caller, each as it is put in: its dump need not stay */
};

/*
 * A record of about so many bytes that nobody wants was read behind what was put in, and nothing is
 * needed of it. True where nothing waits: of all records up to it.
 */
bool mt_pipeline_pass(struct mt_pipeline *pipeline, size_t bytes, uint64_t serial);

/* Another recording begins, with nothing of the last one left. */
void mt_pipeline_begin(struct mt_pipeline *pipeline, enum mt_pipeline_way way);

/* Waits until nobody works on what was put in. */
void mt_pipeline_settle(struct mt_pipeline *pipeline);

/*
 * The next sample with its stack; *out is NULL where nothing is left. Borrowed until the next call,
 * as is what its kernel points to: of records up to *released nothing is needed any more. False out
 * of memory.
 */
bool mt_pipeline_take(struct mt_pipeline *pipeline, const struct mt_piped **out,
		      uint64_t *released);

/*
 * One that take() gives so many calls after the next, less than MT_PIPELINE_PEEK, where that is
 * known; else NULL. Borrowed as take()'s is.
 */
#define MT_PIPELINE_PEEK 3
const struct mt_piped *mt_pipeline_peek(const struct mt_pipeline *pipeline, size_t ahead);

#endif
