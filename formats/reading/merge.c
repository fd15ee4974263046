/*
 * Merges chunks by time (FORMAT.md section 9): a chunk is opened when its first time is reached and
 * released after its last record; a heap of open chunks has the earliest record on top. If
 * overlapping chunks exceed the memory limit, a chunk waits until another one is released; its late
 * records count as disordered.
 *
 * With a pool, the next chunks are loaded before they are due. That changes neither when a chunk is
 * opened nor the order of records.
 */
#include "formats/reading/merge.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/base/pool.h"
#include "formats/chunks/chunk.h"
#include "formats/reading/source.h"

enum {
	AHEAD_PER_WORKER = 2,	/* chunks */
	AHEAD_BYTES = 64 << 20, /* of the chunks loaded ahead, decompressed */
};

struct mt_ahead {
	struct mt_job job; /* first: run_ahead() gets a pointer to it */
	struct mt_merge *merge;
	const struct mt_chunk_ref *ref;
	struct mt_payload *payload;
	struct mt_damage damage;
	struct mt_error *err;
};

void mt_merge_init(struct mt_merge *merge, const struct mt_input *input,
		   const struct mt_reader_options *options)
{
	*merge = (struct mt_merge){
		.pool = options->pool,
		.memory_limit = options->memory_limit,
		.held.keep = options->keep,
		.loader_count = options->pool ? mt_pool_size(options->pool) : 1,
	};
	merge->loaders = mt_alloc(merge->loader_count, sizeof(*merge->loaders));
	for (unsigned int i = 0; i < merge->loader_count; i++) {
		mt_loader_init(&merge->loaders[i], input);
		merge->loaders[i].dumps = options->dumps;
	}
}

static void payload_free(struct mt_payload *payload)
{
	mt_payload_deinit(payload);
	free(payload);
}

/* Waits for a chunk that is being loaded ahead; the caller gets its payload. */
static struct mt_ahead ahead_take(struct mt_merge *merge)
{
	struct mt_ahead *ahead = merge->ahead.items[0], taken;

	mt_pool_wait(merge->pool, &ahead->job);
	merge->ahead.count--;
	memmove(merge->ahead.items, merge->ahead.items + 1,
		merge->ahead.count * sizeof(struct mt_ahead *));
	merge->ahead_memory -= ahead->ref->raw_size;
	taken = *ahead;
	free(ahead);
	return taken;
}

static void drop_ahead(struct mt_merge *merge)
{
	while (merge->ahead.count) {
		struct mt_ahead ahead = ahead_take(merge);

		payload_free(ahead.payload);
		mt_error_destroy(ahead.err);
	}
}

static void merge_clear(struct mt_merge *merge)
{
	struct mt_payload *payload;

	drop_ahead(merge);
	while ((payload = mt_held_take(&merge->held, UINT64_MAX)))
		payload_free(payload);
	for (size_t i = 0; i < merge->open.count; i++)
		payload_free(merge->open.items[i]);
	merge->open.count = merge->open_memory = 0;
	merge->waiting.count = merge->next = 0;
	merge->given = false;
	merge->last_key = 0;
}

static void drop_idle(struct mt_merge *merge)
{
	for (size_t i = 0; i < merge->idle.count; i++)
		payload_free(merge->idle.items[i]);
	merge->idle.count = merge->idle_memory = 0;
}

void mt_merge_deinit(struct mt_merge *merge)
{
	merge_clear(merge);
	drop_idle(merge);
	for (unsigned int i = 0; merge->loaders && i < merge->loader_count; i++)
		mt_loader_deinit(&merge->loaders[i]);
	free(merge->loaders);
	mt_array_deinit(&merge->ahead);
	mt_array_deinit(&merge->held.things);
	mt_array_deinit(&merge->waiting);
	mt_array_deinit(&merge->open);
	mt_array_deinit(&merge->idle);
}

/* Orders equal times by stream, then by position in the file. */
static bool ref_before(const struct mt_chunk_ref *a, const struct mt_chunk_ref *b)
{
	return a->stream < b->stream || (a->stream == b->stream && a->offset < b->offset);
}

static int compare_first_times(const void *a, const void *b)
{
	const struct mt_chunk_ref *x = a, *y = b;

	if (x->first_time != y->first_time)
		return x->first_time < y->first_time ? -1 : 1;
	return ref_before(x, y) ? -1 : ref_before(y, x);
}

void mt_merge_begin(struct mt_merge *merge, const struct mt_chunk_ref *refs, size_t count)
{
	merge_clear(merge);
	merge->limit = UINT64_MAX;
	mt_merge_add(merge, refs, count);
}

/* Drops the chunks loaded ahead, because new chunks may come before them. */
void mt_merge_add(struct mt_merge *merge, const struct mt_chunk_ref *refs, size_t count)
{
	drop_ahead(merge);
	for (size_t i = 0; i < count; i++) {
		if (refs[i].type == MT_CHUNK_DATA)
			(void)mt_array_append(&merge->waiting, refs[i]);
	}
	if (merge->waiting.count > merge->next)
		qsort(merge->waiting.items + merge->next, merge->waiting.count - merge->next,
		      sizeof(*merge->waiting.items), compare_first_times);
}

/* ---- The heap ---- */

static bool payload_before(const struct mt_payload *a, const struct mt_payload *b)
{
	uint64_t x = mt_payload_key(a), y = mt_payload_key(b);

	return x < y || (x == y && ref_before(&a->ref, &b->ref));
}

static void heap_rise(struct mt_payload **heap, size_t i)
{
	struct mt_payload *payload = heap[i];

	for (; i && payload_before(payload, heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = payload;
}

static void heap_sink(struct mt_payload **heap, size_t count)
{
	struct mt_payload *payload = heap[0];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < count; i = child) {
		if (child + 1 < count && payload_before(heap[child + 1], heap[child]))
			child++;
		if (payload_before(payload, heap[child]))
			break;
		heap[i] = heap[child];
	}
	heap[i] = payload;
}

/* ---- Payloads ---- */

/* The idle payload whose memory fits size: the first that is large enough, else the last. */
static struct mt_payload *idle_take(struct mt_merge *merge, size_t size)
{
	struct mt_payload *taken;
	size_t i = 0;

	while (i + 1 < merge->idle.count && merge->idle.items[i]->raw_capacity < size)
		i++;
	taken = merge->idle.items[i];
	merge->idle.items[i] = merge->idle.items[--merge->idle.count];
	merge->idle_memory -= mt_payload_memory(taken);
	return taken;
}

static struct mt_payload *payload_take(struct mt_merge *merge, size_t size)
{
	if (merge->open_memory + merge->idle_memory + size > merge->memory_limit)
		drop_idle(merge);
	return merge->idle.count ? idle_take(merge, size) : mt_alloc(1, sizeof(struct mt_payload));
}

/* Keeps the payload's memory for the next chunk. */
static void payload_release(struct mt_merge *merge, struct mt_payload *payload)
{
	(void)mt_array_append(&merge->idle, payload);
	merge->idle_memory += mt_payload_memory(payload);
}

/* Whether the first waiting chunk has to be opened before the heap's first record is returned. */
static bool open_is_due(const struct mt_merge *merge)
{
	const struct mt_chunk_ref *ref;

	if (merge->next >= merge->waiting.count)
		return false;
	if (!merge->open.count)
		return true;
	ref = &merge->waiting.items[merge->next];
	return ref->first_time <= mt_payload_key(merge->open.items[0]) &&
	       merge->open_memory + ref->raw_size <= merge->memory_limit;
}

/* Takes the payload: puts it on the heap, or among the idle ones if it is empty. */
static void payload_place(struct mt_merge *merge, struct mt_payload *payload)
{
	if (mt_payload_empty(payload)) {
		payload_release(merge, payload);
		return;
	}
	(void)mt_array_append(&merge->open, payload);
	merge->open_memory += mt_payload_memory(payload);
	heap_rise(merge->open.items, merge->open.count - 1);
}

static void run_ahead(struct mt_job *job, unsigned int worker)
{
	struct mt_ahead *ahead = (struct mt_ahead *)job;

	ahead->err = mt_payload_load(ahead->payload, &ahead->merge->loaders[worker], ahead->ref,
				     true, &ahead->damage);
}

/* Starts to load one more chunk. */
static void load_ahead(struct mt_merge *merge, const struct mt_chunk_ref *ref)
{
	struct mt_ahead *ahead = mt_alloc(1, sizeof(*ahead));

	*ahead = (struct mt_ahead){
		.job.run = run_ahead,
		.merge = merge,
		.ref = ref,
		.payload = payload_take(merge, ref->raw_size),
	};
	(void)mt_array_append(&merge->ahead, ahead);
	merge->ahead_memory += ref->raw_size;
	mt_pool_submit(merge->pool, &ahead->job);
}

static void look_ahead(struct mt_merge *merge)
{
	size_t most = (size_t)merge->loader_count * AHEAD_PER_WORKER, i;

	if (merge->loader_count < 2)
		return;
	while ((i = merge->next + merge->ahead.count) < merge->waiting.count &&
	       merge->ahead.count < most &&
	       merge->ahead_memory + merge->waiting.items[i].raw_size <= AHEAD_BYTES)
		load_ahead(merge, &merge->waiting.items[i]);
}

static void add_damage(struct mt_damage *to, const struct mt_damage *of)
{
	to->skipped_bytes += of->skipped_bytes;
	to->damaged_chunks += of->damaged_chunks;
	to->refused_chunks += of->refused_chunks;
	to->damaged_records += of->damaged_records;
	to->unknown_records += of->unknown_records;
}

static struct mt_error *open_next(struct mt_merge *merge, struct mt_damage *damage)
{
	const struct mt_chunk_ref *ref = &merge->waiting.items[merge->next];
	struct mt_payload *payload;
	struct mt_error *err;

	look_ahead(merge);
	merge->next++;
	if (merge->ahead.count) {
		struct mt_ahead ahead = ahead_take(merge);

		add_damage(damage, &ahead.damage);
		payload = ahead.payload;
		err = ahead.err;
	} else {
		payload = payload_take(merge, ref->raw_size);
		err = mt_payload_load(payload, &merge->loaders[0], ref, true, damage);
	}
	if (err)
		payload_free(payload);
	else
		payload_place(merge, payload);
	return err;
}

static void step_over_given(struct mt_merge *merge)
{
	struct mt_payload *payload;

	if (!merge->given)
		return;
	merge->given = false;
	payload = merge->open.items[0];
	payload->next++;
	if (mt_payload_empty(payload)) {
		merge->open_memory -= mt_payload_memory(payload);
		merge->open.items[0] = merge->open.items[--merge->open.count];
		if (merge->held.keep)
			mt_held_put(&merge->held, payload);
		else
			payload_release(merge, payload);
	}
	if (merge->open.count)
		heap_sink(merge->open.items, merge->open.count);
}

void mt_merge_hold(struct mt_merge *merge, struct mt_payload *payload)
{
	struct mt_payload *held = mt_alloc(1, sizeof(*held));

	*held = *payload;
	*payload = (struct mt_payload){0};
	mt_held_put(&merge->held, held);
}

void mt_merge_release(struct mt_merge *merge, uint64_t serial)
{
	struct mt_payload *payload;

	while ((payload = mt_held_take(&merge->held, serial)))
		payload_release(merge, payload);
}

struct mt_error *mt_merge_next(struct mt_merge *merge, struct mt_damage *damage,
			       struct mt_record *out, bool *more)
{
	struct mt_error *err = NULL;
	uint64_t key;

	step_over_given(merge);
	while (!err && open_is_due(merge))
		err = open_next(merge, damage);
	if (err)
		return err;
	*more = merge->open.count && mt_payload_key(merge->open.items[0]) <= merge->limit;
	if (!*more)
		return NULL;
	mt_payload_get(merge->open.items[0], out);
	mt_payload_pass_dump(merge->open.items[0], &merge->loaders[0], out);
	merge->given = true;
	key = mt_payload_key(merge->open.items[0]);
	damage->disordered += key < merge->last_key;
	merge->last_key = key > merge->last_key ? key : merge->last_key;
	return NULL;
}
