/*
 * The drain thread. On the producer's own CPU and real-time it stops the producer while it copies,
 * so that a storm in user mode cannot overflow the ring.
 */
#include "record/drain.h"

#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/chunk.h"
#include "formats/record.h"
#include "formats/sample.h"
#include "formats/stack_image.h"
#include "record/plan.h"
#include "record/ring.h"
#include "record/spool.h"

#define POLL_MS 100
#define GIVE_BACK_BYTES (128u << 10) /* so often the kernel gets room back within a pass */
#define LOSSES_MAX 256 /* intervals kept between two flushes; later ones widen the last */
#define STALL_US 2000
#define STALL_SPINS 2000
#define RECORD_ROOM (MT_RING_RECORD_MAX + 4096) /* one record, coded in the worst case */
#define DUMPED_MAX                                                                               \
	((size_t)8 << 20) /* FORMAT.md allows twice that in a chunk; a reader holds it in memory \
			   */
#define IMAGES 64	  /* threads whose stacks are remembered: 4 MiB a stream */

struct stream {
	struct mt_ring *ring;
	uint32_t number;
	struct mt_block *block; /* being filled, or NULL */
	struct mt_stack_encoder *encoder;
	uint32_t only_software; /* the stream's only software event, where there is but one; else
				   MT_EVENT_NONE */
	size_t dumped;		/* bytes of dumps in the block, before they were coded */
	uint64_t last_time;
};

struct mt_drain {
	int cpu;
	const struct mt_drain_config *config;
	struct stream streams[MT_CLASSES];
	size_t id_offset;
	uint64_t last_id; /* most records of a ring are of one event */
	uint32_t last_event;
	struct mt_loss_record losses[LOSSES_MAX];
	size_t loss_count;
	pthread_t thread;
	int wake; /* eventfd */
	enum mt_priority priority;
	_Atomic uint64_t asked, done; /* flush numbers */
	_Atomic bool stop;
	_Atomic uint64_t samples, records, raw_bytes, lost, own, odd, stalls;
	pthread_mutex_t lock;
	pthread_cond_t flushed;
};

static void count(_Atomic uint64_t *counter, uint64_t n)
{
	/* one writer: no need for a locked add */
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static bool has_room(const struct stream *stream)
{
	return stream->block->capacity - stream->block->used >= RECORD_ROOM &&
	       stream->dumped < DUMPED_MAX;
}

/* The block to fill, with room for one more record of any size; NULL where the spool is full. */
static struct mt_block *block_with_room(struct mt_drain *drain, struct stream *stream)
{
	struct mt_spool *spool = drain->config->spool;

	if (stream->block && has_room(stream))
		return stream->block;
	if (stream->block) {
		mt_spool_push(spool, stream->block);
		stream->block = NULL;
	}
	stream->block = mt_spool_take(spool);
	if (stream->block) {
		mt_block_reset(stream->block, MT_CHUNK_DATA, stream->number);
		mt_stack_encoder_reset(stream->encoder);
		stream->dumped = 0;
	}
	return stream->block;
}

/*
 * Kernels from 6.2 on prepare a software event's sample once for all who opened that event: where
 * another recorder runs too, its id may stand in our records. They are ours all the same.
 */
static bool foreign_event(const struct stream *stream, uint32_t *event)
{
	*event = stream->only_software;
	return *event != MT_EVENT_NONE;
}

static bool event_of(struct mt_drain *drain, const struct stream *stream, const uint8_t *record,
		     size_t size, uint32_t *event)
{
	uint64_t id, index;

	if (size < drain->id_offset + 8)
		return false;
	memcpy(&id, record + drain->id_offset, 8);
	if (id != drain->last_id) {
		if (!mt_map64_get(drain->config->ids, id, &index))
			return foreign_event(stream, event);
		drain->last_id = id;
		drain->last_event = (uint32_t)index;
	}
	*event = drain->last_event;
	return true;
}

/* The sample's dump and what stands before and behind it; false where it has none. */
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
		.tid = mt_get_le32(record + planned->pid_offset + 4),
		.address = mt_get_le64(record + at - planned->sp_back),
	};
	return true;
}

/* Passes a sample on, its dump cut to the valid bytes and coded against the thread's last ones. */
static bool put_sample(struct stream *stream, const struct mt_planned_event *planned,
		       uint32_t event, uint64_t time, const uint8_t *record, size_t size)
{
	struct mt_sample_pieces pieces;

	if (!find_pieces(planned, record, size, &pieces))
		return mt_kernel_put(stream->block, time, event, record, size);
	pieces.event = event;
	pieces.encoder = stream->encoder;
	stream->dumped += pieces.dump_size;
	return mt_sample_put(stream->block, time, &pieces);
}

static void take_sample(struct mt_drain *drain, struct stream *stream, const uint8_t *record,
			size_t size)
{
	const struct mt_planned_event *planned;
	uint32_t event, pid;
	uint64_t time;

	if (!event_of(drain, stream, record, size, &event)) {
		count(&drain->odd, 1);
		return;
	}
	planned = &drain->config->plan->events.items[event];
	if (size < planned->time_offset + 8) {
		count(&drain->odd, 1);
		return;
	}
	pid = mt_get_le32(record + planned->pid_offset);
	if (pid == (uint32_t)drain->config->self) {
		count(&drain->own, 1);
		return;
	}
	time = mt_get_le64(record + planned->time_offset);
	if (!put_sample(stream, planned, event, time, record, size)) {
		count(&drain->odd, 1);
		return;
	}
	stream->last_time = time;
	count(&drain->records, 1);
	if (planned->role == MT_ROLE_SAMPLE)
		count(&drain->samples, 1);
}

static void note_loss(struct mt_drain *drain, struct stream *stream, uint64_t id, uint64_t lost,
		      uint64_t time)
{
	struct mt_loss_record *last =
		drain->loss_count ? &drain->losses[drain->loss_count - 1] : NULL;
	uint64_t event = MT_EVENT_NONE;

	count(&drain->lost, lost);
	mt_map64_get(drain->config->ids, id, &event);
	if (drain->loss_count == LOSSES_MAX) {
		last->to = time;
		last->count += lost;
		last->event = last->event == event && last->stream == stream->number
				      ? last->event
				      : MT_EVENT_NONE;
		return;
	}
	drain->losses[drain->loss_count++] = (struct mt_loss_record){
		.stream = stream->number,
		.event = (uint32_t)event,
		.from = stream->last_time,
		.to = time,
		.count = lost,
		.source = MT_LOSS_KERNEL,
	};
}

/*
 * A record that is no sample: its time stands in the sample_id trailer {pid, tid; time; id or cpu;
 * cpu or identifier}.
 */
static void take_other(struct mt_drain *drain, struct stream *stream,
		       const struct perf_event_header *header)
{
	const uint8_t *record = (const uint8_t *)header;
	size_t size = header->size;
	uint64_t time;

	if (size < sizeof(*header) + 32) {
		count(&drain->odd, 1);
		return;
	}
	time = mt_get_le64(record + size - 24);
	if (header->type == PERF_RECORD_LOST && size >= sizeof(*header) + 48)
		note_loss(drain, stream, mt_get_le64(record + 8), mt_get_le64(record + 16), time);
	if (mt_kernel_put(stream->block, time, 0, record, size)) {
		stream->last_time = time;
		count(&drain->records, 1);
	}
}

/* One pass over a ring; false where no block was free, and the rest stays in the ring. */
static bool drain_stream(struct mt_drain *drain, struct stream *stream)
{
	const struct perf_event_header *header;
	uint64_t given_back = stream->ring->tail;

	while (mt_ring_begin(stream->ring)) {
		while (stream->ring->tail != stream->ring->head) {
			if (!block_with_room(drain, stream)) {
				mt_ring_give_back(stream->ring);
				return false;
			}
			header = mt_ring_next(stream->ring);
			if (!header) {
				count(&drain->odd, 1);
				break;
			}
			count(&drain->raw_bytes, header->size);
			if (header->type == PERF_RECORD_SAMPLE)
				take_sample(drain, stream, (const uint8_t *)header, header->size);
			else
				take_other(drain, stream, header);
			if (stream->ring->tail - given_back >= GIVE_BACK_BYTES) {
				mt_ring_give_back(stream->ring);
				given_back = stream->ring->tail;
			}
		}
		mt_ring_give_back(stream->ring);
		given_back = stream->ring->tail;
	}
	return true;
}

static bool drain_all(struct mt_drain *drain)
{
	bool whole = true;

	for (size_t i = 0; i < MT_CLASSES; i++) {
		if (drain->streams[i].ring->page)
			whole &= drain_stream(drain, &drain->streams[i]);
	}
	if (!whole)
		count(&drain->stalls, 1);
	return whole;
}

/*
 * No block is free. While the writer gets on, holding the CPU for a moment is what keeps the ring
 * from overflowing: it holds the producer too. Where it does not get on (the output blocks),
 * sleeping loses records, but not the host.
 */
static void wait_for_block(struct mt_drain *drain)
{
	for (int i = 0; i < STALL_SPINS && drain->priority == MT_PRIORITY_REALTIME; i++) {
		if (mt_spool_has_free(drain->config->spool))
			return;
		sched_yield();
	}
	usleep(STALL_US);
}

/* The losses since the last flush, as STATE. */
static void push_losses(struct mt_drain *drain)
{
	struct mt_block *block;

	if (!drain->loss_count)
		return;
	block = mt_spool_take_wait(drain->config->spool);
	mt_block_reset(block, MT_CHUNK_STATE, 0);
	for (size_t i = 0; i < drain->loss_count; i++)
		(void)mt_loss_put(block, &drain->losses[i]);
	drain->loss_count = 0;
	mt_spool_push(drain->config->spool, block);
}

static void flush_blocks(struct mt_drain *drain)
{
	for (size_t i = 0; i < MT_CLASSES; i++) {
		struct stream *stream = &drain->streams[i];

		if (stream->block && stream->block->used) {
			mt_spool_push(drain->config->spool, stream->block);
			stream->block = NULL;
		}
	}
	push_losses(drain);
}

/* Answers a flush: everything that was in the rings when it was asked for is handed on. */
static void answer_flush(struct mt_drain *drain)
{
	uint64_t asked = atomic_load(&drain->asked);

	if (asked == atomic_load(&drain->done))
		return;
	while (!drain_all(drain))
		wait_for_block(drain);
	flush_blocks(drain);
	pthread_mutex_lock(&drain->lock);
	atomic_store(&drain->done, asked);
	pthread_cond_broadcast(&drain->flushed);
	pthread_mutex_unlock(&drain->lock);
}

/*
 * Pins the thread to its CPU and raises its priority as far as it may. An offline or forbidden CPU
 * leaves it unpinned.
 */
static enum mt_priority settle_down(int cpu)
{
	struct sched_param realtime = {.sched_priority = 1};
	cpu_set_t *set = CPU_ALLOC((size_t)cpu + 1);
	size_t size = CPU_ALLOC_SIZE((size_t)cpu + 1);

	if (set) {
		CPU_ZERO_S(size, set);
		CPU_SET_S((size_t)cpu, size, set);
		sched_setaffinity(0, size, set);
		CPU_FREE(set);
	}
	if (!sched_setscheduler(0, SCHED_FIFO, &realtime))
		return MT_PRIORITY_REALTIME;
	return setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -20) ? MT_PRIORITY_NORMAL
									 : MT_PRIORITY_NICE;
}

static void *drain_main(void *argument)
{
	struct mt_drain *drain = argument;
	struct pollfd fds[1 + MT_CLASSES] = {{.fd = drain->wake, .events = POLLIN}};
	uint64_t ignored;

	drain->priority = settle_down(drain->cpu);
	for (size_t i = 0; i < MT_CLASSES; i++)
		fds[1 + i] = (struct pollfd){
			.fd = drain->streams[i].ring->page ? drain->streams[i].ring->fd : -1,
			.events = POLLIN};
	while (!atomic_load(&drain->stop)) {
		poll(fds, 1 + MT_CLASSES, POLL_MS);
		if (fds[0].revents & POLLIN)
			(void)!read(drain->wake, &ignored, sizeof(ignored));
		while (!drain_all(drain) && !atomic_load(&drain->stop))
			wait_for_block(drain);
		answer_flush(drain);
	}
	return NULL;
}

static uint32_t find_only_software(const struct mt_plan *plan, enum mt_event_class class)
{
	uint32_t found = MT_EVENT_NONE;

	for (uint32_t i = 1; i < plan->events.count; i++) {
		const struct mt_planned_event *event = &plan->events.items[i];

		if (event->attr.type != PERF_TYPE_SOFTWARE || event->class != class)
			continue;
		if (found != MT_EVENT_NONE)
			return MT_EVENT_NONE;
		found = i;
	}
	return found;
}

static bool init_streams(struct mt_drain *drain, uint32_t slot, struct mt_ring rings[MT_CLASSES])
{
	for (size_t i = 0; i < MT_CLASSES; i++) {
		drain->streams[i].ring = &rings[i];
		drain->streams[i].number = MT_CLASSES * slot + (uint32_t)i;
		drain->streams[i].only_software =
			find_only_software(drain->config->plan, (enum mt_event_class)i);
		drain->streams[i].encoder = mt_stack_encoder_create(IMAGES);
		if (!drain->streams[i].encoder)
			return false;
	}
	return true;
}

static void drain_free(struct mt_drain *drain)
{
	for (size_t i = 0; i < MT_CLASSES; i++)
		mt_stack_encoder_destroy(drain->streams[i].encoder);
	if (drain->wake >= 0)
		close(drain->wake);
	free(drain);
}

struct mt_error *mt_drain_create(int cpu, uint32_t slot, struct mt_ring rings[MT_CLASSES],
				 const struct mt_drain_config *config, struct mt_drain **out)
{
	struct mt_drain *drain = calloc(1, sizeof(*drain));
	int failed;

	if (!drain)
		return mt_error_nomem();
	drain->cpu = cpu;
	drain->config = config;
	drain->id_offset = config->plan->events.items[0].id_offset;
	drain->last_id = UINT64_MAX;
	drain->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!init_streams(drain, slot, rings)) {
		drain_free(drain);
		return mt_error_nomem();
	}
	pthread_mutex_init(&drain->lock, NULL);
	pthread_cond_init(&drain->flushed, NULL);
	failed = pthread_create(&drain->thread, NULL, drain_main, drain);
	if (failed) {
		drain_free(drain);
		return mt_error_os(failed, "cannot start the thread that drains CPU %d", cpu);
	}
	*out = drain;
	return NULL;
}

static void wake(struct mt_drain *drain)
{
	uint64_t one = 1;

	(void)!write(drain->wake, &one, sizeof(one));
}

void mt_drain_flush(struct mt_drain *drain)
{
	atomic_fetch_add(&drain->asked, 1);
	wake(drain);
}

void mt_drain_wait(struct mt_drain *drain)
{
	uint64_t asked = atomic_load(&drain->asked);

	pthread_mutex_lock(&drain->lock);
	while (atomic_load(&drain->done) < asked)
		pthread_cond_wait(&drain->flushed, &drain->lock);
	pthread_mutex_unlock(&drain->lock);
}

void mt_drain_destroy(struct mt_drain *drain)
{
	if (!drain)
		return;
	mt_drain_flush(drain);
	mt_drain_wait(drain);
	atomic_store(&drain->stop, true);
	wake(drain);
	pthread_join(drain->thread, NULL);
	for (size_t i = 0; i < MT_CLASSES; i++) {
		if (drain->streams[i].block)
			mt_spool_release(drain->config->spool, drain->streams[i].block);
	}
	pthread_cond_destroy(&drain->flushed);
	pthread_mutex_destroy(&drain->lock);
	drain_free(drain);
}

struct mt_drain_counts mt_drain_counts(const struct mt_drain *drain)
{
	return (struct mt_drain_counts){
		.samples = drain->samples,
		.records = drain->records,
		.raw_bytes = drain->raw_bytes,
		.lost = drain->lost,
		.own = drain->own,
		.odd = drain->odd,
		.stalls = drain->stalls,
	};
}

enum mt_priority mt_drain_priority(const struct mt_drain *drain)
{
	return drain->priority;
}
