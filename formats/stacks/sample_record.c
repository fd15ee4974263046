/*
 * Encodes and decodes samples. A recording has millions of them, so the fields are written out
 * instead of walked in a table.
 */
#include "formats/stacks/sample_record.h"

#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cursor.h"
#include "formats/chunks/chunk.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "formats/stacks/packed_body.h"
#include "formats/stacks/stack_encoder.h"

/* Offsets from the start of the record, FORMAT.md section 7. */
enum {
	OFF_EVENT = 16,
	OFF_KERNEL_SIZE = 20,
	OFF_KERNEL = 24, /* the kernel's bytes in a KERNEL record */
	OFF_CUT = 24,
	OFF_DUMP_ASKED = 28,
	OFF_DUMP_SIZE = 32,
	OFF_CODING = MT_SAMPLE_OFF_CODING,
	OFF_CODED_SIZE = 40,
	OFF_ZERO = 44,
	OFF_SAMPLE = 48, /* the kernel's bytes in a SAMPLE record */
	OFF_FRAMES = 32,
	OFF_END = 36,
	OFF_WALKED_END = 38,
	OFF_UNWOUND = 40, /* the kernel's bytes in a FRAMES record */
};

#define PERF_HEADER_SIZE 8
#define PERF_HEADER_OFF_SIZE 6

bool mt_kernel_put(struct mt_block *block, uint64_t time, uint32_t event, const void *kernel,
		   size_t kernel_size)
{
	uint8_t *to;

	if (kernel_size > MT_CHUNK_RAW_MAX)
		return false;
	to = mt_block_add(block, MT_RECORD_KERNEL, OFF_KERNEL + kernel_size, time);
	if (!to)
		return false;
	mt_put_le32(to + OFF_EVENT, event);
	mt_put_le32(to + OFF_KERNEL_SIZE, (uint32_t)kernel_size);
	memcpy(to + OFF_KERNEL, kernel, kernel_size);
	return true;
}

static bool pieces_fit(const struct mt_sample_pieces *pieces)
{
	return pieces->head_size <= MT_CHUNK_RAW_MAX && pieces->tail_size <= MT_CHUNK_RAW_MAX &&
	       pieces->dump_size <= MT_CHUNK_RAW_MAX;
}

/*
 * Appends a PACKED record; false if the sample cannot be coded. The caller checks that there is
 * room.
 */
static bool put_packed(struct mt_block *block, uint64_t time, const struct mt_sample_pieces *pieces)
{
	uint8_t *body = block->bytes + block->used + MT_RECORD_HEADER_SIZE;
	size_t size = pieces->encoder ? mt_stack_encode(pieces->encoder, time, pieces, body) : 0;

	return size && mt_block_add(block, MT_RECORD_PACKED, MT_RECORD_HEADER_SIZE + size, time);
}

static bool put_sample(struct mt_block *block, uint64_t time, const struct mt_sample_pieces *pieces)
{
	size_t kernel_size = pieces->head_size + pieces->tail_size;
	uint8_t *to = mt_block_add(block, MT_RECORD_SAMPLE,
				   OFF_SAMPLE + kernel_size + pieces->dump_size, time);

	if (!to)
		return false;
	mt_put_le32(to + OFF_EVENT, pieces->event);
	mt_put_le32(to + OFF_KERNEL_SIZE, (uint32_t)kernel_size);
	mt_put_le32(to + OFF_CUT, (uint32_t)pieces->head_size);
	mt_put_le32(to + OFF_DUMP_ASKED, (uint32_t)pieces->dump_asked);
	mt_put_le32(to + OFF_DUMP_SIZE, (uint32_t)pieces->dump_size);
	mt_put_le32(to + OFF_CODING, MT_CODING_PLAIN);
	mt_put_le32(to + OFF_CODED_SIZE, (uint32_t)pieces->dump_size);
	mt_put_le32(to + OFF_ZERO, 0);
	to += OFF_SAMPLE;
	memcpy(to, pieces->head, pieces->head_size);
	to += pieces->head_size;
	memcpy(to, pieces->tail, pieces->tail_size);
	if (pieces->dump_size)
		memcpy(to + pieces->tail_size, pieces->dump, pieces->dump_size);
	return true;
}

bool mt_sample_put(struct mt_block *block, uint64_t time, const struct mt_sample_pieces *pieces)
{
	size_t room = block->capacity - block->used;

	if (!pieces_fit(pieces))
		return false;
	if (MT_RECORD_HEADER_SIZE + MT_STACK_PACKED_BOUND(pieces->head_size + pieces->tail_size,
							  pieces->dump_size) <=
		    room &&
	    put_packed(block, time, pieces))
		return true;
	if (!pieces->dump_asked)
		return mt_kernel_put(block, time, pieces->event, pieces->head, pieces->head_size);
	return put_sample(block, time, pieces);
}

bool mt_sample_put_plain(struct mt_block *block, uint64_t time,
			 const struct mt_kernel_bytes *record)
{
	size_t cut = record->dump_asked ? record->cut : record->kernel_size;

	return mt_sample_put(block, time,
			     &(struct mt_sample_pieces){
				     .event = record->event,
				     .head = record->kernel,
				     .head_size = cut,
				     .tail = record->kernel + cut,
				     .tail_size = record->kernel_size - cut,
				     .dump = record->dump,
				     .dump_size = record->dump_size,
				     .dump_asked = record->dump_asked,
			     });
}

bool mt_kernel_get(const uint8_t *body, size_t size, struct mt_kernel_bytes *out)
{
	struct mt_cursor c = mt_cursor_init(body, size);

	*out = (struct mt_kernel_bytes){0};
	out->event = mt_cursor_u32(&c);
	out->kernel_size = mt_cursor_u32(&c);
	out->kernel = mt_cursor_bytes(&c, out->kernel_size);
	if (c.bad || out->kernel_size < PERF_HEADER_SIZE)
		return false;
	return mt_get_le16(out->kernel + PERF_HEADER_OFF_SIZE) == out->kernel_size;
}

/* Whether the kernel's record has a hole where the fields say that a dump was cut out. */
static bool cut_agrees(const struct mt_kernel_bytes *b)
{
	if (!b->dump_asked || b->kernel_size % 8 || b->cut % 8 || b->cut < PERF_HEADER_SIZE + 8 ||
	    b->cut > b->kernel_size || b->kernel_size - b->cut < 8)
		return false;
	return mt_get_le32(b->kernel) == MT_KERNEL_SAMPLE &&
	       mt_get_le16(b->kernel + PERF_HEADER_OFF_SIZE) ==
		       (uint64_t)b->kernel_size + b->dump_asked &&
	       mt_get_le64(b->kernel + b->cut - 8) == b->dump_asked &&
	       mt_get_le64(b->kernel + b->cut) <= b->dump_asked;
}

/* Whether the fields on the dump agree with the kernel's own bytes. */
static bool dump_agrees(const struct mt_kernel_bytes *b)
{
	return cut_agrees(b) && mt_get_le64(b->kernel + b->cut) == b->dump_size;
}

bool mt_sample_get(const uint8_t *body, size_t size, const uint8_t *decoded,
		   struct mt_kernel_bytes *out)
{
	struct mt_cursor c = mt_cursor_init(body, size);

	out->event = mt_cursor_u32(&c);
	out->kernel_size = mt_cursor_u32(&c);
	out->cut = mt_cursor_u32(&c);
	out->dump_asked = mt_cursor_u32(&c);
	out->dump_size = mt_cursor_u32(&c);
	out->coding = mt_cursor_u32(&c);
	out->coded_size = mt_cursor_u32(&c);
	mt_cursor_u32(&c);
	out->unwound = (struct mt_unwound){0};
	out->kernel = mt_cursor_bytes(&c, out->kernel_size);
	out->coded = mt_cursor_bytes(&c, out->coded_size);
	out->dump = out->coding == MT_CODING_PLAIN ? out->coded : decoded;
	if (c.bad || out->coding > MT_CODING_IMAGE)
		return false;
	return dump_agrees(out) &&
	       (out->coding != MT_CODING_PLAIN || out->coded_size == out->dump_size);
}

uint64_t mt_unwound_sp(const struct mt_unwound *unwound, uint32_t i, uint64_t inner)
{
	uint32_t step = mt_get_le32(unwound->steps + 4 * (size_t)i);

	if (step == MT_UNWOUND_NO_STEP || (i && !inner))
		return 0;
	return i ? inner + step : unwound->sp;
}

uint32_t mt_unwound_step(uint64_t inner, uint64_t sp)
{
	return sp && sp >= inner && sp - inner < MT_UNWOUND_NO_STEP ? (uint32_t)(sp - inner)
								    : MT_UNWOUND_NO_STEP;
}

/* Size of the pcs and sources, and of the stack pointers after them, if present. */
static size_t unwound_size(const struct mt_unwound *unwound)
{
	size_t count = unwound->count;

	return 9 * count + (unwound->steps ? (8 - count % 8) % 8 + 16 + 4 * count : 0);
}

static void put_places(uint8_t *to, const struct mt_unwound *unwound)
{
	to += (8 - unwound->count % 8) % 8;
	mt_put_le64(to, unwound->sp);
	mt_put_le64(to + 8, unwound->boundary);
	if (unwound->count)
		memcpy(to + 16, unwound->steps, 4 * (size_t)unwound->count);
}

bool mt_unwound_put(struct mt_block *block, uint64_t time, const struct mt_kernel_bytes *record)
{
	const struct mt_unwound *unwound = &record->unwound;
	uint8_t *to;

	if (record->kernel_size > MT_CHUNK_RAW_MAX || unwound->count > MT_UNWOUND_MAX)
		return false;
	to = mt_block_add(block, MT_RECORD_FRAMES,
			  OFF_UNWOUND + record->kernel_size + unwound_size(unwound), time);
	if (!to)
		return false;
	mt_put_le32(to + OFF_EVENT, record->event);
	mt_put_le32(to + OFF_KERNEL_SIZE, record->kernel_size);
	mt_put_le32(to + OFF_CUT, record->cut);
	mt_put_le32(to + OFF_DUMP_ASKED, record->dump_asked);
	mt_put_le32(to + OFF_FRAMES, unwound->count);
	mt_put_le16(to + OFF_END, unwound->end);
	mt_put_le16(to + OFF_WALKED_END, unwound->walked_end);
	to += OFF_UNWOUND;
	memcpy(to, record->kernel, record->kernel_size);
	to += record->kernel_size;
	for (uint32_t i = 0; i < unwound->count; i++)
		mt_put_le64(to + 8 * (size_t)i, unwound->pcs[i]);
	if (unwound->count)
		memcpy(to + 8 * (size_t)unwound->count, unwound->sources, unwound->count);
	if (unwound->steps)
		put_places(to + 9 * (size_t)unwound->count, unwound);
	return true;
}

static bool codes_known(const struct mt_unwound *unwound)
{
	for (uint32_t i = 0; i < unwound->count; i++) {
		if ((unwound->sources[i] & ~MT_UNWOUND_RETURN) >= MT_UNWOUND_SOURCES)
			return false;
	}
	return unwound->end < MT_UNWOUND_ENDS && unwound->walked_end < MT_UNWOUND_ENDS;
}

/* A sample without a dump: the kernel's record is complete. */
static bool is_whole(const struct mt_kernel_bytes *b)
{
	return !b->cut && !b->dump_asked && b->kernel_size >= PERF_HEADER_SIZE &&
	       b->kernel_size % 8 == 0 && mt_get_le32(b->kernel) == MT_KERNEL_SAMPLE &&
	       mt_get_le16(b->kernel + PERF_HEADER_OFF_SIZE) == b->kernel_size;
}

/* The stack pointers of the frames: after the sources, or absent. */
static void get_places(struct mt_cursor *c, struct mt_unwound *unwound)
{
	size_t count = unwound->count, gap = (8 - count % 8) % 8;

	if (mt_cursor_left(c) < gap + 16 + 4 * count)
		return;
	mt_cursor_bytes(c, gap);
	unwound->sp = mt_cursor_u64(c);
	unwound->boundary = mt_cursor_u64(c);
	unwound->steps = mt_cursor_bytes(c, 4 * count);
}

bool mt_unwound_get(const uint8_t *body, size_t size, struct mt_kernel_bytes *out)
{
	struct mt_cursor c = mt_cursor_init(body, size);

	*out = (struct mt_kernel_bytes){0};
	out->event = mt_cursor_u32(&c);
	out->kernel_size = mt_cursor_u32(&c);
	out->cut = mt_cursor_u32(&c);
	out->dump_asked = mt_cursor_u32(&c);
	out->unwound.count = mt_cursor_u32(&c);
	out->unwound.end = mt_cursor_u16(&c);
	out->unwound.walked_end = mt_cursor_u16(&c);
	if (c.bad || out->unwound.count > MT_UNWOUND_MAX)
		return false;
	out->kernel = mt_cursor_bytes(&c, out->kernel_size);
	out->unwound.pcs = (const void *)mt_cursor_bytes(&c, 8 * (size_t)out->unwound.count);
	out->unwound.sources = mt_cursor_bytes(&c, out->unwound.count);
	get_places(&c, &out->unwound);
	if (c.bad || !(out->dump_asked ? cut_agrees(out) : is_whole(out)))
		return false;
	return codes_known(&out->unwound);
}

bool mt_packed_get(const uint8_t *body, size_t size, const uint8_t *decoded,
		   struct mt_kernel_bytes *out)
{
	struct mt_packed_head head;

	*out = (struct mt_kernel_bytes){.coding = MT_CODING_PACKED};
	if (!decoded || !mt_packed_head_get(body, size, &head))
		return false;
	out->event = head.event;
	out->kernel = decoded;
	out->kernel_size = 8u * head.words;
	if (!head.tail)
		return is_whole(out);
	out->cut = 8u * (uint32_t)(head.words - head.tail);
	out->dump_asked = mt_get_le32(decoded + out->cut - 8);
	out->dump_size = mt_get_le32(decoded + out->cut);
	out->dump = decoded + out->kernel_size;
	return dump_agrees(out);
}
