/*
 * Moves the records of one ring into blocks. This is the hot path of the recorder: it does not
 * allocate, and its only system call wakes the writer.
 */
#include "record/rings/stream.h"

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "formats/base/map64.h"
#include "formats/base/pages.h"
#include "formats/chunks/chunk.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "formats/stacks/sample_record.h"
#include "formats/stacks/stack_encoder.h"
#include "record/open/clock.h"
#include "record/open/ring.h"
#include "record/plan/plan.h"
#include "record/plan/variants.h"
#include "record/rings/prefault.h"
#include "record/rings/spool.h"
#include "record/rings/task_filter.h"
#include "record/rings/wake_thread.h"

/* Bytes after which room is given back to the kernel; also the size of a buddy's share. */
#define GIVE_BACK ((size_t)128 << 10)
#define IMAGES_FIRST 4 /* stack images allocated at the start */
#define LOSSES_MAX 256 /* intervals kept between two flushes; further losses widen the last one */
#define RECORD_ROOM (MT_RING_RECORD_MAX + 4096) /* size of one record, coded, in the worst case */
/*
 * Bound on the decoded bytes of a chunk, which a reader keeps in memory. FORMAT.md allows twice
 * that.
 */
#define CODED_FROM_MAX ((size_t)8 << 20)

#define HOLD_SPIN_NS 4000000 /* a virtual CPU may be descheduled for that long */
#define HOLD_SLEEP_US 100

/* Offset of common_flags in the fields of a tracepoint, and flags there. */
#define COMMON_FLAGS 2
#define FLAG_HARDIRQ 0x08
#define FLAG_SOFTIRQ 0x10

#define PAGE 4096
#define PRESSING ((size_t)4 << 20)

struct counters {
	_Atomic uint64_t samples, records, raw_bytes, lost, own, malformed, stalls, helped,
		left_out, coded, passes, ring_peak;
};

struct last_sample {
	uint32_t event, tid;
	uint64_t time;
};

struct mt_stream {
	atomic_flag held;
	struct mt_ring *ring;
	const struct mt_stream_config *config;
	uint32_t number;
	uint32_t only_software; /* the only software event; MT_EVENT_NONE: none or several */
	size_t id_offset;
	uint64_t last_id; /* cached, because most records of a ring are of one event */
	uint32_t last_event;
	struct last_sample last_sample;
	struct mt_block *block;	       /* being filled, or NULL */
	_Atomic bool has_shared_state; /* block has maps or names that other rings need */
	void (*before)(void *context);
	void *before_context;
	bool (*listener)(void *context);
	void *listener_context;
	struct mt_stack_encoder *encoder;
	size_t coded_from; /* bytes of the block's samples before coding */
	uint64_t last_time;
	struct mt_loss_record losses[LOSSES_MAX];
	size_t loss_count;
	struct counters counts;
	_Atomic uint64_t event_samples[]; /* by index in the plan */
};

/* Only the thread that holds the stream writes its counters, so no locked add is needed. */
static void count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static bool has_room(const struct mt_stream *stream)
{
	return stream->block->capacity - stream->block->used >= RECORD_ROOM &&
	       stream->coded_from < CODED_FROM_MAX;
}

static bool try_hold(struct mt_stream *stream)
{
	return !atomic_flag_test_and_set_explicit(&stream->held, memory_order_acquire);
}

/*
 * Waits until the stream is free, and holds it. A thread on another CPU holds a stream for
 * microseconds, so this spins, which keeps the producer off this CPU. After some time this sleeps,
 * because the other thread may wait for a thread that has to run here.
 */
static void hold(struct mt_stream *stream)
{
	uint64_t until = 0;

	while (!try_hold(stream)) {
		uint64_t now = mt_clock_monotonic();

		until = until ? until : now + HOLD_SPIN_NS;
		if (now > until) {
			usleep(HOLD_SLEEP_US);
			until = 0;
		}
	}
}

static void let_go(struct mt_stream *stream)
{
	atomic_flag_clear_explicit(&stream->held, memory_order_release);
}

/* Pushes the block, after the blocks of other streams that its samples need. */
static void push_block(struct mt_stream *stream)
{
	if (!stream->block || !stream->block->used)
		return;
	if (stream->before)
		stream->before(stream->before_context);
	count(&stream->counts.coded, stream->block->used);
	mt_spool_push(stream->config->spool, stream->block);
	stream->block = NULL;
	atomic_store_explicit(&stream->has_shared_state, false, memory_order_relaxed);
}

/* The block to fill, with room for one more record of any size; NULL if the spool is full. */
static struct mt_block *block_with_room(struct mt_stream *stream)
{
	struct mt_spool *spool = stream->config->spool;

	if (stream->block && has_room(stream))
		return stream->block;
	push_block(stream);
	stream->block = mt_spool_take(spool);
	if (stream->block) {
		mt_block_reset(stream->block, MT_CHUNK_DATA, stream->number);
		mt_stack_encoder_reset(stream->encoder);
		stream->coded_from = 0;
	}
	return stream->block;
}

/*
 * Finds the event of a record whose id is not ours. Since Linux 6.2 the kernel prepares a software
 * event's sample once for all who opened that event. So a record in our ring may have the id of
 * another recorder's event.
 */
static bool foreign_event(const struct mt_stream *stream, uint32_t *event)
{
	*event = stream->only_software;
	/* the enabled variant, because the id is not ours */
	if (*event != MT_EVENT_NONE)
		*event = mt_plan_variant(stream->config->plan, *event,
					 stream->config->levels[*event]);
	return *event != MT_EVENT_NONE;
}

static bool event_of(struct mt_stream *stream, const uint8_t *record, size_t size, uint32_t *event)
{
	uint64_t id, index;

	if (size < stream->id_offset + 8)
		return false;
	memcpy(&id, record + stream->id_offset, 8);
	if (id != stream->last_id) {
		if (!mt_map64_get(atomic_load(stream->config->ids), id, &index))
			return foreign_event(stream, event);
		stream->last_id = id;
		stream->last_event = (uint32_t)index;
	}
	*event = stream->last_event;
	return true;
}

/* Finds the sample's dump and the parts before and after it; false if it has no dump. */
static bool find_pieces(const struct mt_planned_event *planned, const uint8_t *record, size_t size,
			struct mt_sample_pieces *out)
{
	size_t at = mt_sample_stack_offset(&planned->decoded, record, size);
	uint64_t asked = at ? mt_get_le64(record + at) : 0, valid;

	if (!asked || asked > size - at - 16)
		return false;
	valid = mt_get_le64(record + at + 8 + asked);
	*out = (struct mt_sample_pieces){
		.head = record,
		.head_size = at + 8,
		.tail = record + at + 8 + asked,
		.tail_size = size - at - 8 - asked,
		.dump = record + at + 8,
		.dump_size = valid < asked ? valid : asked,
		.dump_asked = asked,
		.sp_back = 8 + planned->sp_back,
	};
	return true;
}

/* Reports a hole if the kernel stopped the dump at the end of a page. */
static void report_hole(struct mt_prefault *prefault, uint32_t pid,
			const struct mt_sample_pieces *pieces)
{
	uint64_t end = mt_sample_pieces_address(pieces) + pieces->dump_size;

	if (pieces->dump_size && !(end % PAGE))
		mt_prefault_request(prefault, pid, end);
}

/*
 * Samples without a dump have little in common with the last sample of their thread. They are coded
 * against the last sample of the same event instead.
 */
#define EVENT_AS_TID 0x80000000u

/* Puts a sample, with its dump cut to the valid bytes, coded against earlier samples. */
static bool put_sample(struct mt_stream *stream, const struct mt_planned_event *planned,
		       uint32_t event, uint64_t time, const uint8_t *record, size_t size)
{
	struct mt_sample_pieces pieces;

	if (find_pieces(planned, record, size, &pieces)) {
		pieces.tid = mt_get_le32(record + planned->pid_offset + 4);
		if (pieces.dump_size < pieces.dump_asked && stream->config->prefault)
			report_hole(stream->config->prefault,
				    mt_get_le32(record + planned->pid_offset), &pieces);
	} else {
		pieces = (struct mt_sample_pieces){
			.head = record, .head_size = size, .tid = EVENT_AS_TID | event};
	}
	pieces.event = event;
	pieces.encoder = stream->encoder;
	mt_ring_ask_end(stream->ring);
	stream->coded_from += pieces.head_size + pieces.tail_size + pieces.dump_size;
	return mt_sample_put(stream->block, time, &pieces);
}

/*
 * If the kernel prepares a software event's sample once for all who opened it, an event and its
 * seed record the same fault as two equal samples with one id. The second sample is then counted
 * for the other event.
 */
static uint32_t distinguish(struct mt_stream *stream, uint32_t event, uint32_t tid, uint64_t time)
{
	const struct mt_planned_event *planned = &stream->config->plan->events.items[event];
	struct last_sample *last = &stream->last_sample;
	bool again = last->event == event && last->tid == tid && last->time == time;

	*last = (struct last_sample){event, tid, time};
	if (!again || (!planned->seed && planned->role != MT_ROLE_SEED))
		return event;
	last->event = MT_EVENT_NONE;
	return planned->seed ? planned->seed : planned->pair;
}

/*
 * True if the tracepoint was hit in an interrupt, not by the interrupted thread. common_flags shows
 * this since Linux 2.6.
 */
static bool in_interrupt(const struct mt_planned_event *planned, const uint8_t *record, size_t size)
{
	struct mt_sample sample;

	return planned->decoded.type == PERF_TYPE_TRACEPOINT &&
	       mt_sample_decode(&planned->decoded, record, size, NULL, &sample) &&
	       sample.raw_size > COMMON_FLAGS &&
	       sample.raw[COMMON_FLAGS] & (FLAG_HARDIRQ | FLAG_SOFTIRQ);
}

static enum mt_task_verdict judge(const struct mt_stream *stream, bool own, uint32_t tid,
				  uint64_t time)
{
	if (own || !stream->config->filter)
		return MT_TASK_KEPT;
	return mt_task_filter_wants(stream->config->filter, tid, time);
}

/* Puts a sample of a known event that is to be kept. */
static void pass_sample(struct mt_stream *stream, uint32_t event, uint64_t time,
			const uint8_t *record, size_t size)
{
	const struct mt_planned_event *planned = &stream->config->plan->events.items[event];

	if (!put_sample(stream, planned, event, time, record, size)) {
		count(&stream->counts.malformed, 1);
		return;
	}
	stream->last_time = time;
	count(&stream->counts.records, 1);
	count(&stream->counts.raw_bytes, size);
	if (planned->role == MT_ROLE_SAMPLE)
		count(&stream->counts.samples, 1);
}

/* False, with nothing changed, if the filter does not know yet whether to keep the sample. */
static bool take_sample(struct mt_stream *stream, const uint8_t *record, size_t size)
{
	const struct mt_planned_event *planned;
	enum mt_task_verdict verdict;
	uint32_t event, pid, tid;
	uint64_t time;
	bool own;

	if (!event_of(stream, record, size, &event)) {
		count(&stream->counts.malformed, 1);
		return true;
	}
	planned = &stream->config->plan->events.items[event];
	if (size < planned->time_offset + 8) {
		count(&stream->counts.malformed, 1);
		return true;
	}
	time = mt_get_le64(record + planned->time_offset);
	pid = mt_get_le32(record + planned->pid_offset);
	tid = mt_get_le32(record + planned->pid_offset + 4);
	/* memory of other processes is often freed by RCU in an interrupt of the recorder */
	own = pid == (uint32_t)stream->config->self && !in_interrupt(planned, record, size);
	verdict = judge(stream, own, tid, time);
	if (verdict == MT_TASK_UNKNOWN)
		return false;
	event = distinguish(stream, event, tid, time);
	count(&stream->event_samples[event], 1);
	if (own)
		count(&stream->counts.own, 1);
	else if (verdict == MT_TASK_DROPPED)
		count(&stream->counts.left_out, 1);
	else
		pass_sample(stream, event, time, record, size);
	return true;
}

static void note_loss(struct mt_stream *stream, uint64_t id, uint64_t lost, uint64_t time)
{
	struct mt_loss_record *last =
		stream->loss_count ? &stream->losses[stream->loss_count - 1] : NULL;
	uint64_t event = MT_EVENT_NONE;

	count(&stream->counts.lost, lost);
	mt_map64_get(atomic_load(stream->config->ids), id, &event);
	if (stream->loss_count == LOSSES_MAX) {
		last->to = time;
		last->count += lost;
		last->event = last->event == event && last->stream == stream->number
				      ? last->event
				      : MT_EVENT_NONE;
		return;
	}
	stream->losses[stream->loss_count++] = (struct mt_loss_record){
		.stream = stream->number,
		.event = (uint32_t)event,
		.from = stream->last_time,
		.to = time,
		.count = lost,
		.source = MT_LOSS_KERNEL,
	};
}

/*
 * Takes a record other than a sample. Its time is in the sample_id trailer {pid, tid; time; id or
 * cpu; cpu or identifier}. False if the filter has not processed it yet.
 */
static bool take_other(struct mt_stream *stream, const struct perf_event_header *header)
{
	const uint8_t *record = (const uint8_t *)header;
	size_t size = header->size;
	uint64_t time;

	if (size < sizeof(*header) + 32) {
		count(&stream->counts.malformed, 1);
		return true;
	}
	time = mt_get_le64(record + size - 24);
	if (stream->config->filter &&
	    !mt_task_filter_see(stream->config->filter, record, size, time))
		return false;
	if (header->type == PERF_RECORD_LOST && size >= sizeof(*header) + 48)
		note_loss(stream, mt_get_le64(record + 8), mt_get_le64(record + 16), time);
	if (mt_kernel_put(stream->block, time, 0, record, size)) {
		atomic_store_explicit(&stream->has_shared_state, true, memory_order_relaxed);
		stream->last_time = time;
		count(&stream->counts.records, 1);
		count(&stream->counts.raw_bytes, size);
	}
	return true;
}

static bool take_record(struct mt_stream *stream, const struct perf_event_header *header)
{
	return header->type == PERF_RECORD_SAMPLE
		       ? take_sample(stream, (const uint8_t *)header, header->size)
		       : take_other(stream, header);
}

/* Gives room back to the kernel. If few stack images are left, requests more here, early enough. */
static void give_back(struct mt_stream *stream)
{
	mt_ring_give_back(stream->ring);
	if (mt_stack_encoder_wants(stream->encoder))
		mt_wake_thread_ask(stream->config->ahead);
}

/* Takes the next record. MT_STREAM_EMPTY: there may be another record. */
static enum mt_stream_result take_next(struct mt_stream *stream)
{
	struct mt_ring *ring = stream->ring;
	uint64_t before = ring->tail;
	const struct perf_event_header *header;

	if (!block_with_room(stream))
		return MT_STREAM_STALLED;
	header = mt_ring_next(ring);
	if (!header) {
		count(&stream->counts.malformed, 1);
		return MT_STREAM_EMPTY;
	}
	mt_ring_ask_begin(ring);
	if (take_record(stream, header))
		return MT_STREAM_EMPTY;
	ring->tail = before;
	return MT_STREAM_UNREPORTED;
}

/* Takes records up to the head, at most about `limit` bytes. Gives room back at intervals. */
static enum mt_stream_result take_records(struct mt_stream *stream, uint64_t limit)
{
	struct mt_ring *ring = stream->ring;
	uint64_t began = ring->tail, given_back = began, found = ring->head - began;
	enum mt_stream_result result = MT_STREAM_EMPTY;

	count(&stream->counts.passes, 1);
	if (stream->listener && found && !stream->listener(stream->listener_context))
		return MT_STREAM_UNREPORTED;
	if (found > stream->counts.ring_peak)
		count(&stream->counts.ring_peak, found - stream->counts.ring_peak);
	while (ring->tail != ring->head && result == MT_STREAM_EMPTY) {
		result = ring->tail - began >= limit ? MT_STREAM_MORE : take_next(stream);
		if (ring->tail - given_back >= GIVE_BACK) {
			give_back(stream);
			given_back = ring->tail;
		}
	}
	give_back(stream);
	if (result == MT_STREAM_STALLED)
		count(&stream->counts.stalls, 1);
	return result;
}

enum mt_stream_result mt_stream_drain(struct mt_stream *stream)
{
	enum mt_stream_result result = MT_STREAM_EMPTY;

	hold(stream);
	while (result == MT_STREAM_EMPTY && mt_ring_begin(stream->ring))
		result = take_records(stream, UINT64_MAX);
	let_go(stream);
	return result;
}

bool mt_stream_worth_help(const struct mt_stream *stream)
{
	return mt_ring_used(stream->ring) >= GIVE_BACK;
}

uint64_t mt_stream_written(const struct mt_stream *stream)
{
	return mt_ring_written(stream->ring);
}

bool mt_stream_pressing(const struct mt_stream *stream)
{
	size_t size = stream->ring->size, least = PRESSING < size / 2 ? PRESSING : size / 2;

	return mt_ring_used(stream->ring) >= (size / 4 > least ? size / 4 : least);
}

enum mt_stream_result mt_stream_help(struct mt_stream *stream)
{
	enum mt_stream_result result = MT_STREAM_EMPTY;

	if (!mt_stream_worth_help(stream) || !try_hold(stream))
		return MT_STREAM_EMPTY;
	if (mt_ring_begin(stream->ring)) {
		count(&stream->counts.helped, 1);
		result = take_records(stream, GIVE_BACK);
	}
	let_go(stream);
	return result;
}

void mt_stream_notify(struct mt_stream *stream)
{
	if ((!mt_ring_used(stream->ring) &&
	     !atomic_load_explicit(&stream->has_shared_state, memory_order_relaxed)) ||
	    !try_hold(stream))
		return;
	if (mt_ring_begin(stream->ring))
		(void)take_records(stream, GIVE_BACK);
	if (atomic_load_explicit(&stream->has_shared_state, memory_order_relaxed))
		push_block(stream);
	let_go(stream);
}

/* Pushes the losses since the last flush, as STATE; false if no block is free. */
static bool push_losses(struct mt_stream *stream)
{
	struct mt_block *block;

	if (!stream->loss_count)
		return true;
	block = mt_spool_take(stream->config->spool);
	if (!block)
		return false;
	mt_block_reset(block, MT_CHUNK_STATE, 0);
	for (size_t i = 0; i < stream->loss_count; i++)
		(void)mt_loss_put(block, &stream->losses[i]);
	stream->loss_count = 0;
	mt_spool_push(stream->config->spool, block);
	return true;
}

bool mt_stream_flush(struct mt_stream *stream)
{
	bool whole;

	hold(stream);
	push_block(stream);
	whole = push_losses(stream);
	let_go(stream);
	return whole;
}

static uint32_t find_only_software(const struct mt_plan *plan, enum mt_event_class class)
{
	uint32_t found = MT_EVENT_NONE;

	for (uint32_t i = 1; i < plan->events.count; i++) {
		const struct mt_planned_event *event = &plan->events.items[i];

		if (event->attr.type != PERF_TYPE_SOFTWARE || event->class != class ||
		    event->full != i || event->role == MT_ROLE_SEED)
			continue;
		if (found != MT_EVENT_NONE)
			return MT_EVENT_NONE;
		found = i;
	}
	return found;
}

struct mt_stream *mt_stream_create(struct mt_ring *ring, uint32_t number, enum mt_event_class class,
				   const struct mt_stream_config *config)
{
	struct mt_stream *stream = calloc(
		1, sizeof(*stream) + config->plan->events.count * sizeof(stream->event_samples[0]));

	if (!stream)
		return NULL;
	mt_pages_ready(stream, sizeof(*stream));
	stream->encoder = mt_stack_encoder_create(config->images);
	if (!stream->encoder) {
		free(stream);
		return NULL;
	}
	mt_stack_encoder_populate(stream->encoder, IMAGES_FIRST);
	atomic_flag_clear(&stream->held);
	stream->ring = ring;
	stream->config = config;
	stream->number = number;
	stream->only_software = find_only_software(config->plan, class);
	stream->id_offset = config->plan->events.items[0].id_offset;
	stream->last_id = UINT64_MAX;
	return stream;
}

void mt_stream_before(struct mt_stream *stream, void (*before)(void *context), void *context)
{
	stream->before = before;
	stream->before_context = context;
}

void mt_stream_set_listener(struct mt_stream *stream, bool (*listener)(void *context),
			    void *context)
{
	stream->listener = listener;
	stream->listener_context = context;
}

void mt_stream_destroy(struct mt_stream *stream)
{
	if (!stream)
		return;
	if (stream->block)
		mt_spool_release(stream->config->spool, stream->block);
	mt_stack_encoder_destroy(stream->encoder);
	free(stream);
}

uint64_t mt_stream_event_samples(const struct mt_stream *stream, uint32_t event)
{
	return stream->event_samples[event];
}

void mt_stream_grow(struct mt_stream *stream)
{
	unsigned slots = mt_stack_encoder_wants(stream->encoder);

	if (slots)
		mt_stack_encoder_populate(stream->encoder, slots);
}

int mt_stream_fd(const struct mt_stream *stream)
{
	return stream->ring->fd;
}

void mt_stream_add_counts(const struct mt_stream *stream, struct mt_stream_counts *sum)
{
	sum->samples += stream->counts.samples;
	sum->records += stream->counts.records;
	sum->raw_bytes += stream->counts.raw_bytes;
	sum->lost += stream->counts.lost;
	sum->own += stream->counts.own;
	sum->left_out += stream->counts.left_out;
	sum->coded += stream->counts.coded;
	sum->passes += stream->counts.passes;
	if (stream->counts.ring_peak > sum->ring_peak)
		sum->ring_peak = stream->counts.ring_peak;
	if (mt_stack_encoder_slots(stream->encoder) > sum->images)
		sum->images = mt_stack_encoder_slots(stream->encoder);
	sum->malformed += stream->counts.malformed;
	sum->stalls += stream->counts.stalls;
	sum->helped += stream->counts.helped;
}
