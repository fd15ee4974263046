/*
 * FORMAT.md section 8: a chunk is opened when its first time is reached and let go when its last
 * record is out; a heap over the open chunks says whose turn it is. Where the chunks that overlap
 * need more memory than there is, a chunk waits until one is let go, and what comes too late by
 * that is counted as disordered.
 */
#include "formats/merge.h"

#include <stdlib.h>

#include "formats/base/err.h"
#include "formats/chunk.h"
#include "formats/reader.h"

void mt_merge_init(struct mt_merge *merge, struct mt_loader *loader, size_t memory_limit)
{
	*merge = (struct mt_merge){.loader = loader, .memory_limit = memory_limit};
}

static void payload_free(struct mt_payload *payload)
{
	mt_payload_deinit(payload);
	free(payload);
}

static void merge_clear(struct mt_merge *merge)
{
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
	mt_array_deinit(&merge->waiting);
	mt_array_deinit(&merge->open);
	mt_array_deinit(&merge->idle);
}

/* Equal times go by stream, then by place in the file. */
static bool ref_before(const struct mt_chunk_ref *a, const struct mt_chunk_ref *b)
{
	return a->stream < b->stream || (a->stream == b->stream && a->offset < b->offset);
}

static int compare_first_times(const void *a, const void *b)
{
	const struct mt_chunk_ref *x = *(const struct mt_chunk_ref *const *)a,
				  *y = *(const struct mt_chunk_ref *const *)b;

	if (x->first_time != y->first_time)
		return x->first_time < y->first_time ? -1 : 1;
	return ref_before(x, y) ? -1 : ref_before(y, x);
}

struct mt_error *mt_merge_begin(struct mt_merge *merge, const struct mt_chunk_ref *refs,
				size_t count)
{
	merge_clear(merge);
	for (size_t i = 0; i < count; i++) {
		const struct mt_chunk_ref **ref;

		if (refs[i].type != MT_CHUNK_DATA)
			continue;
		ref = mt_array_push(&merge->waiting);
		if (!ref)
			return mt_error_nomem();
		*ref = &refs[i];
	}
	if (merge->waiting.count)
		qsort(merge->waiting.items, merge->waiting.count, sizeof(*merge->waiting.items),
		      compare_first_times);
	return NULL;
}

/* The heap. */

static bool payload_before(const struct mt_payload *a, const struct mt_payload *b)
{
	uint64_t x = mt_payload_key(a), y = mt_payload_key(b);

	return x < y || (x == y && ref_before(a->ref, b->ref));
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

/* Payloads come and go. */

/* The idle one whose memory fits size: the first that is large enough, else the last. */
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
	return merge->idle.count ? idle_take(merge, size) : calloc(1, sizeof(struct mt_payload));
}

/* Takes the payload. */
static struct mt_error *payload_release(struct mt_merge *merge, struct mt_payload *payload)
{
	struct mt_payload **idle = mt_array_push(&merge->idle);

	if (!idle) {
		payload_free(payload);
		return mt_error_nomem();
	}
	*idle = payload;
	merge->idle_memory += mt_payload_memory(payload);
	return NULL;
}

/* The chunk that waits first has to be opened before the heap's first record is given. */
static bool open_is_due(const struct mt_merge *merge)
{
	const struct mt_chunk_ref *ref;

	if (merge->next >= merge->waiting.count)
		return false;
	if (!merge->open.count)
		return true;
	ref = merge->waiting.items[merge->next];
	return ref->first_time <= mt_payload_key(merge->open.items[0]) &&
	       merge->open_memory + ref->raw_size <= merge->memory_limit;
}

/* Takes the payload: onto the heap, or aside where nothing is in it. */
static struct mt_error *payload_place(struct mt_merge *merge, struct mt_payload *payload)
{
	if (mt_payload_empty(payload))
		return payload_release(merge, payload);
	if (!mt_array_reserve(&merge->open, merge->open.count + 1)) {
		payload_free(payload);
		return mt_error_nomem();
	}
	merge->open.items[merge->open.count++] = payload;
	merge->open_memory += mt_payload_memory(payload);
	heap_rise(merge->open.items, merge->open.count - 1);
	return NULL;
}

static struct mt_error *open_next(struct mt_merge *merge, struct mt_damage *damage)
{
	const struct mt_chunk_ref *ref = merge->waiting.items[merge->next++];
	struct mt_payload *payload = payload_take(merge, ref->raw_size);
	struct mt_error *err;

	if (!payload)
		return mt_error_nomem();
	err = mt_payload_load(payload, merge->loader, ref, true, damage);
	if (!err)
		return payload_place(merge, payload);
	payload_free(payload);
	return err;
}

static struct mt_error *step_over_given(struct mt_merge *merge)
{
	struct mt_payload *payload;

	if (!merge->given)
		return NULL;
	merge->given = false;
	payload = merge->open.items[0];
	payload->next++;
	if (!mt_payload_empty(payload)) {
		heap_sink(merge->open.items, merge->open.count);
		return NULL;
	}
	merge->open_memory -= mt_payload_memory(payload);
	merge->open.items[0] = merge->open.items[--merge->open.count];
	if (merge->open.count)
		heap_sink(merge->open.items, merge->open.count);
	return payload_release(merge, payload);
}

struct mt_error *mt_merge_next(struct mt_merge *merge, struct mt_damage *damage,
			       struct mt_record *out, bool *more)
{
	struct mt_error *err = step_over_given(merge);
	uint64_t key;

	while (!err && open_is_due(merge))
		err = open_next(merge, damage);
	if (err)
		return err;
	*more = merge->open.count > 0;
	if (!*more)
		return NULL;
	mt_payload_get(merge->open.items[0], out);
	merge->given = true;
	key = mt_payload_key(merge->open.items[0]);
	damage->disordered += key < merge->last_key;
	merge->last_key = key > merge->last_key ? key : merge->last_key;
	return NULL;
}
