/*
 * Strips held blocks: applies the map records in order of time, then unwinds the samples of each
 * block with the map of their process at their time.
 */
#include "record/write/stripper.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/pages.h"
#include "formats/chunks/chunk.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "formats/stacks/sample_record.h"
#include "formats/stacks/stack_decoder.h"
#include "formats/stacks/stripping.h"
#include "record/open/clock.h"
#include "record/plan/plan.h"
#include "record/rings/spool.h"
#include "record/write/code_maps.h"
#include "unwind/sample_stack.h"

#define FRAMES_MAX 8192 /* a dump of 65,528 bytes cannot hold more return addresses */

/* A held block. */
struct held {
	size_t at, size; /* in the arena */
	uint32_t stream;
	uint64_t done; /* records below this time were put */
	bool through;  /* all records were put */
};

/* A map record in the arena. */
struct map_record {
	uint64_t time;
	uint32_t stream;
	const uint8_t *record;
};

struct mt_strip {
	struct mt_strip_config config;
	struct mt_code_images *images;
	struct mt_code_maps *maps;
	struct mt_unwinder *unwinder;
	struct mt_stack_decoder *decoder;
	uint8_t *decoded; /* MT_STACK_UNPACKED_MAX bytes */
	struct mt_stripping stripping;
	struct mt_frame *frames; /* FRAMES_MAX of them; the three arrays below encode them */
	uint64_t *pcs;
	uint8_t *sources, *steps;
	MT_ARRAY(uint32_t) kept; /* registers that are kept, by event */
	uint8_t *arena;		 /* config.hold bytes, populated on first use */
	size_t used;
	MT_ARRAY(struct held) held; /* in the order of the arena */
	MT_ARRAY(struct map_record) map_records;
	struct mt_block out;
	struct mt_strip_counts counts;
};

static bool create_parts(struct mt_strip *s)
{
	const struct mt_unwind_options options = {.max_frames = FRAMES_MAX};
	const struct mt_plan *plan = s->config.plan;

	s->unwinder = mt_unwinder_create(&options);
	s->decoder = mt_stack_decoder_create();
	s->decoded = malloc(MT_STACK_UNPACKED_MAX);
	s->frames = calloc(FRAMES_MAX, sizeof(*s->frames));
	s->pcs = calloc(FRAMES_MAX, sizeof(*s->pcs));
	s->sources = calloc(FRAMES_MAX, 1);
	s->steps = calloc(FRAMES_MAX, 4);
	s->arena = mmap(NULL, s->config.hold, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	if (s->arena == MAP_FAILED)
		s->arena = NULL;
	s->images = mt_code_images_create(s->config.files, s->config.tables);
	s->maps = s->images ? mt_code_maps_create(mt_code_images_set(s->images)) : NULL;
	s->out = (struct mt_block){.bytes = mt_pages_map(MT_SPOOL_BLOCK),
				   .capacity = MT_SPOOL_BLOCK};
	if (!s->maps || !s->unwinder || !s->decoder || !s->decoded || !s->frames || !s->pcs ||
	    !s->arena || !s->sources || !s->steps || !s->out.bytes ||
	    !mt_array_reserve(&s->kept, plan->events.count))
		return false;
	for (size_t i = 0; i < plan->events.count; i++) {
		const char *name = plan->events.items[i].name;

		s->kept.items[s->kept.count++] =
			mt_stripping_registers(&(struct mt_text){name, name ? strlen(name) : 0});
	}
	return true;
}

struct mt_strip *mt_strip_create(const struct mt_strip_config *config)
{
	struct mt_strip *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->config = *config;
	if (!create_parts(s)) {
		mt_strip_destroy(s);
		return NULL;
	}
	return s;
}

void mt_strip_destroy(struct mt_strip *s)
{
	if (!s)
		return;
	if (s->arena)
		munmap(s->arena, s->config.hold);
	mt_array_deinit(&s->held);
	mt_array_deinit(&s->map_records);
	mt_array_deinit(&s->kept);
	mt_code_maps_destroy(s->maps);
	mt_unwinder_destroy(s->unwinder);
	mt_code_images_destroy(s->images);
	mt_stack_decoder_destroy(s->decoder);
	mt_stripping_deinit(&s->stripping);
	if (s->out.bytes)
		munmap(s->out.bytes, MT_SPOOL_BLOCK);
	free(s->decoded);
	free(s->frames);
	free(s->pcs);
	free(s->sources);
	free(s->steps);
	free(s);
}

void mt_strip_learn(struct mt_strip *s, const struct mt_image_record *record)
{
	mt_code_images_learn(s->images, record);
}

void mt_strip_see(struct mt_strip *s, const struct mt_block *block)
{
	struct mt_task_record task;
	struct mt_map_record map;
	size_t size;

	for (size_t at = 0; at < block->used; at += size) {
		const uint8_t *body = block->bytes + at + MT_RECORD_HEADER_SIZE;
		uint32_t type = mt_get_le32(block->bytes + at);

		size = mt_get_le32(block->bytes + at + 4);
		if (type == MT_RECORD_TASK &&
		    mt_task_get(body, size - MT_RECORD_HEADER_SIZE, &task))
			(void)mt_code_maps_add_task(s->maps, &task);
		else if (type == MT_RECORD_MAP &&
			 mt_map_get(body, size - MT_RECORD_HEADER_SIZE, &map))
			(void)mt_code_maps_add_map(s->maps, &map);
	}
}

/* ---- Mappings ---- */

static bool kernel_bytes(const uint8_t *record, struct mt_kernel_bytes *out)
{
	return mt_get_le32(record) == MT_RECORD_KERNEL &&
	       mt_kernel_get(record + MT_RECORD_HEADER_SIZE,
			     mt_get_le32(record + 4) - MT_RECORD_HEADER_SIZE, out);
}

static bool is_map_record(const uint8_t *record)
{
	struct mt_kernel_bytes bytes;
	uint32_t type = kernel_bytes(record, &bytes) ? mt_get_le32(bytes.kernel) : 0;

	return type == MT_KERNEL_MMAP || type == MT_KERNEL_MMAP2 || type == MT_KERNEL_COMM ||
	       type == MT_KERNEL_FORK || type == MT_KERNEL_EXIT;
}

/* Returns true if a record of this time was not put yet and is below `below`. */
static bool is_due(const struct held *held, uint64_t time, uint64_t below)
{
	return time >= held->done && time < below;
}

static bool list_map_records(struct mt_strip *s, const struct held *held, uint64_t below)
{
	size_t size;

	for (size_t at = 0; at < held->size; at += size) {
		const uint8_t *record = s->arena + held->at + at;
		uint64_t time = mt_get_le64(record + 8);

		size = mt_get_le32(record + 4);
		if (is_due(held, time, below) && is_map_record(record) &&
		    !mt_array_append(&s->map_records,
				     (struct map_record){time, held->stream, record}))
			return false;
	}
	return true;
}

/* Orders map records as a reader reads them. */
static int compare_map_records(const void *a, const void *b)
{
	const struct map_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return (x->record > y->record) - (x->record < y->record);
}

/*
 * Applies the map records that are due. If memory runs out, some are not applied: maps are then
 * incomplete, and stacks end where a mapping is missing.
 */
static void apply_map_records(struct mt_strip *s, uint64_t below)
{
	const struct mt_attr *attr = &s->config.plan->events.items[0].decoded;
	struct mt_kernel_record record;
	struct mt_kernel_bytes bytes;

	s->map_records.count = 0;
	for (size_t i = 0; i < s->held.count; i++) {
		if (!list_map_records(s, &s->held.items[i], below))
			break;
	}
	if (s->map_records.count)
		qsort(s->map_records.items, s->map_records.count, sizeof(struct map_record),
		      compare_map_records);
	for (size_t i = 0; i < s->map_records.count; i++) {
		const struct map_record *listed = &s->map_records.items[i];

		if (kernel_bytes(listed->record, &bytes) &&
		    mt_kernel_record_decode(attr, bytes.kernel, bytes.kernel_size, &record))
			(void)mt_code_maps_apply(s->maps, &record, listed->time);
	}
}

/* ---- Samples ---- */

/* Puts the output block. Excludes the time of compressing it from the counts. */
static void put_out(struct mt_strip *s)
{
	uint64_t began;

	if (s->out.used) {
		began = mt_clock_thread_ns();
		s->config.put(s->config.context, &s->out);
		s->counts.ns -= mt_clock_thread_ns() - began;
	}
	mt_block_reset(&s->out, MT_CHUNK_DATA, s->out.stream);
}

/* Copies a record that is not a sample. */
static void put_same(struct mt_strip *s, const uint8_t *record, size_t size)
{
	uint8_t *to;

	for (int i = 0; i < 2; i++) {
		to = mt_block_add(&s->out, mt_get_le32(record), size, mt_get_le64(record + 8));
		if (to) {
			memcpy(to + MT_RECORD_HEADER_SIZE, record + MT_RECORD_HEADER_SIZE,
			       size - MT_RECORD_HEADER_SIZE);
			return;
		}
		put_out(s);
	}
}

/* Encodes the frames of a stack as in a FRAMES record. */
static struct mt_unwound spell(struct mt_strip *s, const struct mt_stack *stack)
{
	struct mt_unwound unwound = {
		.pcs = s->pcs,
		.sources = s->sources,
		.count = (uint32_t)stack->count,
		.end = (uint16_t)stack->end,
		.walked_end = (uint16_t)stack->end,
		.sp = stack->count ? stack->frames[0].sp : 0,
		.boundary = stack->boundary,
		.steps = s->steps,
	};
	uint64_t inner = unwound.sp;

	for (size_t i = 0; i < stack->count; i++) {
		const struct mt_frame *frame = &stack->frames[i];
		bool chain = frame->source == MT_FRAME_CHAIN;

		s->pcs[i] = mt_frame_address(frame);
		s->sources[i] =
			frame->source | (chain && frame->call_return ? MT_UNWOUND_RETURN : 0);
		mt_put_le32(s->steps + 4 * i, mt_unwound_step(inner, frame->sp));
		inner = frame->sp;
	}
	return unwound;
}

static struct mt_unwound unwind(struct mt_strip *s, const struct mt_attr *attr,
				const struct mt_sample *sample, uint64_t time)
{
	const struct mt_chain_halves halves = mt_chain_split(sample);
	struct mt_stack stack = {.frames = s->frames, .capacity = FRAMES_MAX};
	const struct mt_sample_stack from = {
		.attr = attr,
		.sample = sample,
		.halves = &halves,
		.map = mt_code_maps_find(s->maps, sample->pid, time),
	};

	mt_sample_stack_unwind(s->unwinder, &mt_unwind_methods[0], &from, &stack);
	s->counts.stacks++;
	s->counts.frames += stack.count;
	s->counts.ends[stack.end]++;
	return spell(s, &stack);
}

static bool put_stripped(struct mt_strip *s, uint64_t time, const struct mt_kernel_bytes *b)
{
	return b->dump_asked ? mt_unwound_put(&s->out, time, b)
			     : mt_kernel_put(&s->out, time, b->event, b->kernel, b->kernel_size);
}

/* Puts the stripped sample; false if it does not decode, or out of memory. */
static bool strip_sample(struct mt_strip *s, uint64_t time, struct mt_kernel_bytes *b)
{
	const struct mt_attr *attr;
	struct mt_sample sample;

	if (b->event >= s->config.plan->events.count)
		return false;
	attr = &s->config.plan->events.items[b->event].decoded;
	if (!mt_stripping_understand(attr, b, &sample))
		return false;
	if (sample.dump_asked)
		b->unwound = unwind(s, attr, &sample, time);
	if (!mt_stripping_take_out(&s->stripping, attr, s->kept.items[b->event], &sample, b))
		return false;
	if (put_stripped(s, time, b))
		return true;
	put_out(s);
	return put_stripped(s, time, b);
}

/*
 * Decodes a sample of any record type; false if the record is not a sample. *good is set to false
 * if the sample does not decode.
 */
static bool get_sample(struct mt_strip *s, const uint8_t *record, size_t size,
		       struct mt_kernel_bytes *b, bool *good)
{
	const uint8_t *body = record + MT_RECORD_HEADER_SIZE;
	uint32_t type = mt_get_le32(record);
	size_t decoded;

	size -= MT_RECORD_HEADER_SIZE;
	switch (type) {
	case MT_RECORD_PACKED:
		*good = mt_stack_unpack(s->decoder, mt_get_le64(record + 8), body, size, s->decoded,
					&decoded) &&
			mt_packed_get(body, size, s->decoded, b);
		return true;
	case MT_RECORD_SAMPLE:
		*good = mt_sample_get(body, size, NULL, b);
		return true;
	case MT_RECORD_KERNEL:
		*good = mt_kernel_get(body, size, b);
		return !*good || mt_get_le32(b->kernel) == MT_KERNEL_SAMPLE;
	default:
		return false;
	}
}

/*
 * Puts the due records of a held block; true if none is left. Unpacks all packed records, because
 * each depends on earlier ones.
 */
static bool put_due(struct mt_strip *s, const struct held *held, uint64_t below)
{
	bool rest = false;
	size_t size;

	if (s->out.stream != held->stream) {
		put_out(s);
		s->out.stream = held->stream;
	}
	mt_stack_decoder_reset(s->decoder);
	for (size_t at = 0; at < held->size; at += size) {
		const uint8_t *record = s->arena + held->at + at;
		uint64_t time = mt_get_le64(record + 8);
		struct mt_kernel_bytes b = {0};
		bool good = true, sample;

		size = mt_get_le32(record + 4);
		sample = get_sample(s, record, size, &b, &good);
		rest |= time >= below;
		if (!is_due(held, time, below))
			continue;
		if (!sample)
			put_same(s, record, size);
		else if (!good || !strip_sample(s, time, &b))
			s->counts.left_out++;
	}
	return !rest;
}

/* Puts the due records stream by stream, so that chunks are large. */
static void put_held(struct mt_strip *s, uint64_t below)
{
	for (size_t i = 0; i < s->held.count; i++) {
		uint32_t stream = s->held.items[i].stream;

		for (size_t k = i; k < s->held.count; k++) {
			struct held *held = &s->held.items[k];

			if (held->stream != stream || held->through || held->done == below)
				continue;
			held->through = put_due(s, held, below);
			held->done = below;
		}
	}
	put_out(s);
}

/* Removes finished blocks from the arena. */
static void close_gaps(struct mt_strip *s)
{
	size_t kept = 0;

	s->used = 0;
	for (size_t i = 0; i < s->held.count; i++) {
		struct held held = s->held.items[i];

		if (held.through)
			continue;
		memmove(s->arena + s->used, s->arena + held.at, held.size);
		held.at = s->used;
		s->used += held.size;
		s->held.items[kept++] = held;
	}
	s->held.count = kept;
}

void mt_strip_put(struct mt_strip *s, uint64_t below)
{
	uint64_t began = mt_clock_thread_ns();

	apply_map_records(s, below);
	mt_block_reset(&s->out, MT_CHUNK_DATA, 0);
	put_held(s, below);
	close_gaps(s);
	mt_code_maps_settle(s->maps);
	s->counts.ns += mt_clock_thread_ns() - began;
}

void mt_strip_end(struct mt_strip *s)
{
	mt_strip_put(s, UINT64_MAX);
}

void mt_strip_hold(struct mt_strip *s, const struct mt_block *block)
{
	if (block->used > s->config.hold - s->used) {
		s->counts.early++;
		mt_strip_put(s, UINT64_MAX);
	}
	if (!mt_array_append(&s->held, (struct held){.at = s->used,
						     .size = block->used,
						     .stream = block->stream})) {
		s->counts.left_out += block->records; /* out of memory for a few bytes */
		return;
	}
	memcpy(s->arena + s->used, block->bytes, block->used);
	s->used += block->used;
}

size_t mt_strip_held(const struct mt_strip *s)
{
	return s->used;
}

struct mt_strip_counts mt_strip_counts(const struct mt_strip *s)
{
	struct mt_strip_counts counts = s->counts;

	counts.images = mt_code_images_counts(s->images);
	return counts;
}
