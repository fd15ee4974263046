/*
 * Orders the records of a perf.data file. perf copies its rings one after the other, in rounds. A
 * record may be older than records of the previous round, but not older than records of the round
 * before that. So a record waits, at the longest, for the end of the next round. Without rounds,
 * records wait for the end of the file or for a memory limit.
 *
 * Each ring is sorted, so the queue consists of a few sorted runs, which are merged.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/perfdata/perfdata.h"

void mt_perf_queue_clear(struct mt_perf_queue *queue)
{
	for (size_t i = queue->next; i < queue->waiting.count; i++)
		mt_perf_piece_release(queue->waiting.items[i].piece);
	queue->waiting.count = queue->next = queue->sorted = 0;
	queue->sequence = queue->limit = queue->round_time = queue->last_time = 0;
	queue->open = queue->round_ended = false;
}

void mt_perf_queue_deinit(struct mt_perf_queue *queue)
{
	mt_perf_queue_clear(queue);
	mt_array_deinit(&queue->waiting);
	mt_array_deinit(&queue->spare);
}

void mt_perf_queue_put(struct mt_perf_queue *queue, const struct mt_perf_record *record,
		       uint64_t time, uint32_t event)
{
	const struct mt_perf_waiting waiting = {
		.time = time,
		.sequence = queue->sequence++,
		.bytes = record->bytes,
		.piece = record->piece,
		.size = (uint32_t)record->size,
		.event = event,
	};

	(void)mt_array_append(&queue->waiting, waiting);
	record->piece->references++;
	if (time > queue->last_time)
		queue->last_time = time;
}

static bool is_before(const struct mt_perf_waiting *a, const struct mt_perf_waiting *b)
{
	return a->time < b->time || (a->time == b->time && a->sequence < b->sequence);
}

/* The end of the sorted run that begins at `from`. */
static size_t run_end(const struct mt_perf_waiting *items, size_t from, size_t count)
{
	size_t to = from + 1;

	while (to < count && !is_before(&items[to], &items[to - 1]))
		to++;
	return to < count ? to : count;
}

static void merge_runs(const struct mt_perf_waiting *items, size_t from, size_t middle, size_t to,
		       struct mt_perf_waiting *out)
{
	size_t a = from, b = middle;

	for (size_t at = from; at < to; at++) {
		if (b >= to || (a < middle && is_before(&items[a], &items[b])))
			out[at] = items[a++];
		else
			out[at] = items[b++];
	}
}

/* Merges neighbouring runs into `out`; returns how many runs there were. */
static size_t merge_pass(const struct mt_perf_waiting *items, size_t count,
			 struct mt_perf_waiting *out)
{
	size_t runs = 0;

	for (size_t from = 0; from < count;) {
		size_t middle = run_end(items, from, count);
		size_t to = middle < count ? run_end(items, middle, count) : count;

		merge_runs(items, from, middle, to, out);
		runs += 1 + (middle < count);
		from = to;
	}
	return runs;
}

/* Removes the records that were taken. */
static void compact(struct mt_perf_queue *queue)
{
	if (queue->next)
		memmove(queue->waiting.items, queue->waiting.items + queue->next,
			(queue->waiting.count - queue->next) * sizeof(*queue->waiting.items));
	queue->waiting.count -= queue->next;
	queue->sorted -= queue->sorted < queue->next ? queue->sorted : queue->next;
	queue->next = 0;
}

static void sort(struct mt_perf_queue *queue)
{
	size_t count;

	compact(queue);
	count = queue->waiting.count;
	if (queue->sorted == count)
		return;
	(void)mt_array_reserve(&queue->spare, count);
	for (size_t runs = 2; runs > 1;) {
		__typeof__(queue->waiting) swap = queue->waiting;

		runs = merge_pass(queue->waiting.items, count, queue->spare.items);
		queue->waiting.items = queue->spare.items;
		queue->waiting.capacity = queue->spare.capacity;
		queue->spare.items = swap.items;
		queue->spare.capacity = swap.capacity;
		if (runs <= 2)
			break;
	}
	queue->sorted = count;
}

static void allow(struct mt_perf_queue *queue, uint64_t limit)
{
	queue->limit = queue->open && queue->limit > limit ? queue->limit : limit;
	queue->open = true;
}

void mt_perf_queue_end_round(struct mt_perf_queue *queue)
{
	if (queue->round_ended) {
		allow(queue, queue->round_time);
		sort(queue);
	}
	queue->round_ended = true;
	queue->round_time = queue->last_time;
}

void mt_perf_queue_give_half(struct mt_perf_queue *queue)
{
	sort(queue);
	if (queue->waiting.count)
		allow(queue, queue->waiting.items[queue->waiting.count / 2].time);
}

void mt_perf_queue_give_all(struct mt_perf_queue *queue)
{
	allow(queue, UINT64_MAX);
	sort(queue);
}

bool mt_perf_queue_take(struct mt_perf_queue *queue, struct mt_perf_waiting *out)
{
	/* records queued since the last sort wait for the next one */
	if (!queue->open || queue->next >= queue->sorted ||
	    queue->waiting.items[queue->next].time > queue->limit)
		return false;
	*out = queue->waiting.items[queue->next++];
	return true;
}
