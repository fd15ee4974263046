/*
 * A ring of batches. A batch is filled, submitted to the pool, waited for and emptied; without
 * other workers there is one batch.
 *
 * With joining, a batch is emptied only after the joiner has seen the LOOK_AHEAD batches after it,
 * so that joined stacks do not depend on the number of workers.
 */
#include "report/stacks/pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/pool.h"
#include "formats/records/attr.h"
#include "formats/records/sample_type.h"
#include "report/stacks/join_adapter.h"
#include "symbols/images/image_map.h"

enum {
	BATCH_SAMPLES = 256,
	BATCH_BYTES = 4 << 20,	/* of dumps in a batch, which keep parts of the file in memory */
	AHEAD_PER_WORKER = 2,	/* batches */
	LOOK_AHEAD = 2,		/* batches, with joining */
	PASSED_BYTES = 8 << 20, /* of unwanted records after the last full batch */
};

struct batch {
	struct mt_job job; /* first: run() gets a pointer to it */
	struct mt_pipeline *pipeline;
	struct mt_piped *samples; /* BATCH_SAMPLES */
	size_t count, given;
	size_t bytes;	 /* of dumps, and of unwanted records between them */
	uint64_t serial; /* of the batch's last record, wanted or not */
	struct mt_walk_words words;
	bool submitted, waited;
	bool learned, seen; /* by the joiner */
	bool ready;	    /* may be emptied: the stacks are joined */
	bool last;	    /* must be emptied before another batch is filled */
};

struct mt_pipeline {
	struct mt_pool *pool;
	struct mt_walker_options options;
	struct mt_walker **walkers; /* one for each worker, created on first use */
	enum mt_pipeline_way way;
	struct batch *batches;
	size_t batch_count, batch_limit; /* all batches; at most this many are used at present */
	size_t first, used;		 /* index of the batch to empty; number of batches in use */
	uint64_t released;
	size_t passed; /* bytes of unwanted records since the last batch was filled */
	struct mt_join_adapter *adapter; /* NULL: no joining */
	struct mt_walk_words spliced;	 /* the joined stacks of the first batch */
};

/* Number of batches for the joiner, in addition to those that are filled or walked. */
static size_t batches_ahead(const struct mt_pipeline *pipeline)
{
	return pipeline->adapter ? LOOK_AHEAD + 1 : 0; /* one more: the first is being emptied */
}

static void create_batches(struct mt_pipeline *pipeline)
{
	unsigned int workers = mt_pool_size(pipeline->pool);

	pipeline->batch_count = workers > 1 ? (size_t)workers * AHEAD_PER_WORKER + 1 : 1;
	pipeline->batch_count += batches_ahead(pipeline);
	pipeline->batches = mt_alloc(pipeline->batch_count, sizeof(struct batch));
	for (size_t i = 0; i < pipeline->batch_count; i++) {
		struct batch *batch = &pipeline->batches[i];

		batch->pipeline = pipeline;
		batch->samples = mt_resize(NULL, BATCH_SAMPLES, sizeof(*batch->samples));
	}
}

struct mt_pipeline *mt_pipeline_create(struct mt_pool *pool,
				       const struct mt_walker_options *options)
{
	struct mt_pipeline *pipeline = mt_alloc(1, sizeof(*pipeline));

	pipeline->pool = pool;
	pipeline->options = *options;
	pipeline->walkers = mt_alloc(mt_pool_size(pool), sizeof(struct mt_walker *));
	if (options->joining)
		pipeline->adapter = mt_join_adapter_create(options->max_frames, options->addresses);
	create_batches(pipeline);
	return pipeline;
}

static void batch_clear(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		mt_joiner_release(&batch->samples[i].join);
		mt_image_map_release(batch->samples[i].map);
	}
	batch->count = batch->given = batch->bytes = batch->words.count = 0;
	batch->submitted = batch->waited = false;
	batch->learned = batch->seen = batch->ready = batch->last = false;
}

void mt_pipeline_destroy(struct mt_pipeline *pipeline)
{
	if (!pipeline)
		return;
	mt_pipeline_settle(pipeline);
	for (size_t i = 0; pipeline->batches && i < pipeline->batch_count; i++) {
		batch_clear(&pipeline->batches[i]);
		free(pipeline->batches[i].samples);
		mt_array_deinit(&pipeline->batches[i].words);
	}
	for (unsigned int i = 0; pipeline->walkers && i < mt_pool_size(pipeline->pool); i++)
		mt_walker_destroy(pipeline->walkers[i]);
	mt_array_deinit(&pipeline->spliced);
	mt_join_adapter_destroy(pipeline->adapter);
	free(pipeline->batches);
	free(pipeline->walkers);
	free(pipeline);
}

/* ---- On a worker ---- */

static void walk(struct mt_walker *walker, struct batch *batch, struct mt_piped *piped)
{
	const struct mt_walk_input input = {
		.attr = piped->sample.attr,
		.sample = &piped->kernel,
		.map = piped->map,
		.returns = piped->returns,
		.return_count = piped->sample.return_count,
		.returned = piped->sample.returned,
	};

	mt_walker_walk(walker, &input, &batch->words, &piped->walked);
}

/* The walker of a worker, created on first use. */
static struct mt_walker *walker_of(struct mt_pipeline *pipeline, unsigned int worker)
{
	struct mt_walker **walker = &pipeline->walkers[worker];

	if (!*walker)
		*walker = mt_walker_create(&pipeline->options);
	return *walker;
}

static void run_batch(struct mt_job *job, unsigned int worker)
{
	struct batch *batch = (struct batch *)job;
	struct mt_walker *walker = walker_of(batch->pipeline, worker);

	for (size_t i = 0; i < batch->count; i++)
		walk(walker, batch, &batch->samples[i]);
}

/* ---- In and out ---- */

/*
 * The ith batch in use; i is at most batch_count. Called five times for each sample, so a division
 * would cost noticeable time.
 */
static struct batch *batch_at(const struct mt_pipeline *pipeline, size_t i)
{
	size_t at = pipeline->first + i;

	return &pipeline->batches[at < pipeline->batch_count ? at : at - pipeline->batch_count];
}

static bool is_full(const struct batch *batch)
{
	return batch->count == BATCH_SAMPLES || batch->bytes >= BATCH_BYTES;
}

static void submit(struct batch *batch)
{
	if (batch->submitted)
		return;
	batch->submitted = true;
	batch->job.run = run_batch;
	if (batch->pipeline->way == MT_PIPELINE_WORKERS) {
		mt_pool_submit(batch->pipeline->pool, &batch->job);
		return;
	}
	if (batch->pipeline->way == MT_PIPELINE_ALONE)
		run_batch(&batch->job, 0);
	batch->waited = true;
}

static void wait_for(struct batch *batch)
{
	submit(batch);
	if (!batch->waited)
		mt_pool_wait(batch->pipeline->pool, &batch->job);
	batch->waited = true;
}

bool mt_pipeline_has_room(const struct mt_pipeline *pipeline)
{
	const struct batch *batch;

	if (!pipeline->used)
		return true;
	batch = batch_at(pipeline, pipeline->used - 1);
	return !batch->last && (pipeline->used < pipeline->batch_limit || !batch->submitted);
}

/*
 * Unwanted records count as bytes of a batch, so few samples can fill it. After PASSED_BYTES
 * without a wanted sample, the waiting batches are emptied. Batches always end at the same records,
 * because joined stacks may depend on that.
 */
bool mt_pipeline_pass(struct mt_pipeline *pipeline, size_t bytes, uint64_t serial)
{
	struct batch *batch;

	if (!pipeline->used) {
		pipeline->released = serial;
		return true;
	}
	batch = batch_at(pipeline, pipeline->used - 1);
	batch->serial = serial;
	if (batch->submitted) {
		pipeline->passed += bytes;
		batch->last = pipeline->passed >= PASSED_BYTES;
		return false;
	}
	batch->bytes += bytes;
	if (is_full(batch))
		submit(batch);
	return false;
}

/* Walks a sample while its dump is still in the CPU's cache. No other worker walks samples. */
static void walk_at_once(struct mt_pipeline *pipeline, struct batch *batch, struct mt_piped *piped)
{
	struct mt_walker *walker = walker_of(pipeline, 0);

	walk(walker, batch, piped);
	piped->kernel.dump = NULL;
	piped->kernel.dump_size = 0;
	if (is_full(batch))
		submit(batch);
}

void mt_pipeline_put(struct mt_pipeline *pipeline, const struct mt_session_sample *sample,
		     uint64_t serial)
{
	struct mt_image_map *map = mt_image_map_snapshot(sample->space->map);
	struct mt_piped *piped;
	struct batch *batch;

	if (!pipeline->used || batch_at(pipeline, pipeline->used - 1)->submitted)
		pipeline->used++;
	batch = batch_at(pipeline, pipeline->used - 1);
	piped = &batch->samples[batch->count++];
	piped->sample = *sample;
	piped->task = *sample->task;
	piped->kernel = *sample->kernel;
	piped->sample.task = &piped->task;
	piped->sample.kernel = &piped->kernel;
	piped->sample.map = map;
	piped->map = map;
	piped->words = &batch->words;
	piped->join = (struct mt_join_stack){0};
	for (size_t i = 0; i < sample->return_count; i++)
		piped->returns[i] = sample->returns[i];
	pipeline->passed = 0;
	batch->bytes += piped->kernel.dump_was; /* even if dropped, so that batches are the same */
	batch->serial = serial;
	if (pipeline->way == MT_PIPELINE_AT_ONCE) {
		walk_at_once(pipeline, batch, piped);
		return;
	}
	if (is_full(batch))
		submit(batch);
}

void mt_pipeline_settle(struct mt_pipeline *pipeline)
{
	for (size_t i = 0; i < pipeline->used; i++)
		wait_for(batch_at(pipeline, i));
}

void mt_pipeline_begin(struct mt_pipeline *pipeline, enum mt_pipeline_way way)
{
	pipeline->way = way;
	pipeline->batch_limit =
		way == MT_PIPELINE_WORKERS ? pipeline->batch_count : 1 + batches_ahead(pipeline);
	if (pipeline->adapter)
		mt_join_adapter_begin(pipeline->adapter);
}

/* Lets the joiner learn from a batch, once. */
static void learn(struct mt_pipeline *pipeline, struct batch *batch)
{
	if (batch->learned)
		return;
	wait_for(batch);
	batch->learned = true;
	mt_join_adapter_learn(pipeline->adapter, batch->samples, batch->count);
}

/* Passes the first batch and up to LOOK_AHEAD batches after it to the joiner. */
static void look_ahead(struct mt_pipeline *pipeline)
{
	for (size_t i = 0; i < pipeline->used && i <= LOOK_AHEAD; i++) {
		struct batch *batch = batch_at(pipeline, i);

		learn(pipeline, batch);
	}
	for (size_t i = 0; i < pipeline->used && i <= LOOK_AHEAD; i++) {
		struct batch *batch = batch_at(pipeline, i);

		if (!batch->seen)
			mt_join_adapter_see(pipeline->adapter, batch->samples, batch->count);
		batch->seen = true;
	}
}

/* Prepares the first batch for emptying. */
static void make_ready(struct mt_pipeline *pipeline, struct batch *batch)
{
	wait_for(batch);
	if (!pipeline->adapter || batch->ready)
		return;
	pipeline->spliced.count = 0;
	look_ahead(pipeline);
	mt_join_adapter_splice(pipeline->adapter, batch->samples, batch->count, &pipeline->spliced);
	batch->ready = true;
}

void mt_pipeline_take(struct mt_pipeline *pipeline, const struct mt_piped **out, uint64_t *released)
{
	struct batch *batch = batch_at(pipeline, 0);

	*out = NULL;
	if (pipeline->used && batch->waited && batch->given == batch->count) {
		pipeline->released = batch->serial;
		batch_clear(batch);
		pipeline->first = (pipeline->first + 1) % pipeline->batch_count;
		pipeline->used--;
		batch = batch_at(pipeline, 0);
	}
	*released = pipeline->released;
	if (!pipeline->used)
		return;
	make_ready(pipeline, batch);
	*out = &batch->samples[batch->given++];
}
