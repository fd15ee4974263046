/*
 * Our own records to and from bytes. What FORMAT.md says of a body stands in one table of fields
 * per record, which its put and its get both walk; KERNEL and SAMPLE, of which there are millions,
 * are written out by hand.
 */
#include "formats/record.h"

#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cursor.h"
#include "formats/chunk.h"
#include "formats/packed_body.h"
#include "formats/sample.h"
#include "formats/stack_encoder.h"

enum field_kind {
	FIELD_END,
	FIELD_U16,
	FIELD_U32, /* i32 too */
	FIELD_U64,
	FIELD_ID,   /* 16 bytes */
	FIELD_ZERO, /* u32 in the file, nothing in the struct */
	FIELD_TEXT,
};

struct field {
	uint8_t kind; /* enum field_kind */
	uint8_t offset;
};

#define FIELD_OF(what, type, member)                                                  \
	{                                                                             \
		.kind = (what), .offset = offsetof(struct mt_##type##_record, member) \
	}
#define U16(type, member) FIELD_OF(FIELD_U16, type, member)
#define U32(type, member) FIELD_OF(FIELD_U32, type, member)
#define U64(type, member) FIELD_OF(FIELD_U64, type, member)
#define ID(type, member) FIELD_OF(FIELD_ID, type, member)
#define TEXT(type, member) FIELD_OF(FIELD_TEXT, type, member)
#define ZERO                       \
	{                          \
		.kind = FIELD_ZERO \
	}
#define END                       \
	{                         \
		.kind = FIELD_END \
	}

/* Bytes that the body of `record` takes; SIZE_MAX where a string is larger than any chunk. */
static size_t fields_size(const struct field *fields, const void *record)
{
	static const uint8_t fixed[] = {
		[FIELD_U16] = 2, [FIELD_U32] = 4,  [FIELD_U64] = 8,
		[FIELD_ID] = 16, [FIELD_ZERO] = 4, [FIELD_TEXT] = 4,
	};
	size_t size = 0;

	for (const struct field *f = fields; f->kind != FIELD_END; f++) {
		size += fixed[f->kind];
		if (f->kind == FIELD_TEXT) {
			const struct mt_text *text =
				(const void *)((const uint8_t *)record + f->offset);

			if (text->size > MT_CHUNK_RAW_MAX)
				return SIZE_MAX;
			size += text->size;
		}
	}
	return size;
}

static uint8_t *text_encode(uint8_t *to, const struct mt_text *text)
{
	mt_put_le32(to, (uint32_t)text->size);
	if (text->size)
		memcpy(to + 4, text->bytes, text->size);
	return to + 4 + text->size;
}

/* Writes one field, gives where the next begins. */
static uint8_t *field_encode(const struct field *field, const void *value, uint8_t *to)
{
	switch (field->kind) {
	case FIELD_U16:
		mt_put_le16(to, *(const uint16_t *)value);
		return to + 2;
	case FIELD_U32:
		mt_put_le32(to, *(const uint32_t *)value);
		return to + 4;
	case FIELD_U64:
		mt_put_le64(to, *(const uint64_t *)value);
		return to + 8;
	case FIELD_ID:
		memcpy(to, value, 16);
		return to + 16;
	case FIELD_ZERO:
		mt_put_le32(to, 0);
		return to + 4;
	default:
		return text_encode(to, value);
	}
}

static bool fields_put(struct mt_block *block, enum mt_record_type type, uint64_t time,
		       const struct field *fields, const void *record)
{
	size_t size = fields_size(fields, record);
	uint8_t *to;

	if (size > MT_CHUNK_RAW_MAX)
		return false;
	to = mt_block_add(block, type, MT_RECORD_HEADER_SIZE + size, time);
	if (!to)
		return false;
	to += MT_RECORD_HEADER_SIZE;
	for (const struct field *f = fields; f->kind != FIELD_END; f++)
		to = field_encode(f, (const uint8_t *)record + f->offset, to);
	return true;
}

static void text_decode(struct mt_cursor *c, struct mt_text *out)
{
	out->size = mt_cursor_u32(c);
	out->bytes = (const char *)mt_cursor_bytes(c, out->size);
}

static void field_decode(const struct field *field, struct mt_cursor *c, void *value)
{
	const uint8_t *id;

	switch (field->kind) {
	case FIELD_U16:
		*(uint16_t *)value = mt_cursor_u16(c);
		break;
	case FIELD_U32:
		*(uint32_t *)value = mt_cursor_u32(c);
		break;
	case FIELD_U64:
		*(uint64_t *)value = mt_cursor_u64(c);
		break;
	case FIELD_ID:
		id = mt_cursor_bytes(c, 16);
		if (id)
			memcpy(value, id, 16);
		break;
	case FIELD_ZERO:
		mt_cursor_u32(c);
		break;
	default:
		text_decode(c, value);
	}
}

static bool fields_get(const uint8_t *body, size_t size, const struct field *fields, void *out)
{
	struct mt_cursor c = mt_cursor_init(body, size);

	for (const struct field *f = fields; f->kind != FIELD_END; f++)
		field_decode(f, &c, (uint8_t *)out + f->offset);
	return !c.bad;
}

/* The put and the get of a record that always has time 0. */
#define DEFINE_UNTIMED(name, record_type)                                                     \
	bool mt_##name##_put(struct mt_block *block, const struct mt_##name##_record *record) \
	{                                                                                     \
		return fields_put(block, record_type, 0, name##_fields, record);              \
	}                                                                                     \
	DEFINE_GET(name)

#define DEFINE_GET(name)                                                                       \
	bool mt_##name##_get(const uint8_t *body, size_t size, struct mt_##name##_record *out) \
	{                                                                                      \
		return fields_get(body, size, name##_fields, out);                             \
	}

static const struct field header_fields[] = {
	U16(header, major), U16(header, minor), U32(header, clock), ID(header, id), END,
};
DEFINE_UNTIMED(header, MT_RECORD_HEADER)

static const struct field info_fields[] = {TEXT(info, key), TEXT(info, value), END};
DEFINE_UNTIMED(info, MT_RECORD_INFO)

static const struct field event_fields[] = {
	U32(event, index),   U32(event, role),
	U32(event, pair),    U32(event, class),
	TEXT(event, name),   TEXT(event, alias),
	TEXT(event, unit),   TEXT(event, attr),
	TEXT(event, format), END,
};
DEFINE_UNTIMED(event, MT_RECORD_EVENT)

static const struct field clock_fields[] = {
	U64(clock, recording),
	U64(clock, monotonic),
	U64(clock, realtime),
	U64(clock, boottime),
	END,
};
DEFINE_UNTIMED(clock, MT_RECORD_CLOCK)

static const struct field task_fields[] = {
	U32(task, pid),
	U32(task, tid),
	U32(task, ppid),
	U32(task, uid),
	U64(task, start_time),
	TEXT(task, comm),
	TEXT(task, exe),
	TEXT(task, cmdline),
	TEXT(task, cgroup),
	TEXT(task, nspid),
	END,
};
DEFINE_UNTIMED(task, MT_RECORD_TASK)

static const struct field map_fields[] = {
	U32(map, pid),
	U32(map, prot),
	U32(map, flags),
	U32(map, major),
	U32(map, minor),
	U64(map, inode),
	U64(map, start),
	U64(map, end),
	U64(map, offset),
	U64(map, before),
	U64(map, after),
	TEXT(map, path),
	END,
};
DEFINE_UNTIMED(map, MT_RECORD_MAP)

static const struct field image_fields[] = {
	U32(image, major),
	U32(image, minor),
	U64(image, inode),
	U64(image, inode_generation),
	U64(image, size),
	TEXT(image, path),
	TEXT(image, build_id),
	TEXT(image, problem),
	END,
};
DEFINE_UNTIMED(image, MT_RECORD_IMAGE)

static const struct field loss_fields[] = {
	U32(loss, stream),
	U32(loss, event),
	U64(loss, from),
	U64(loss, to),
	U64(loss, count),
	U32(loss, source),
	END,
};
DEFINE_UNTIMED(loss, MT_RECORD_LOSS)

static const struct field weight_fields[] = {
	U32(weight, event), ZERO, U64(weight, numerator), U64(weight, denominator), END,
};

bool mt_weight_get(const uint8_t *body, size_t size, struct mt_weight_record *out)
{
	return fields_get(body, size, weight_fields, out) && out->denominator;
}

bool mt_weight_put(struct mt_block *block, uint64_t time, const struct mt_weight_record *record)
{
	return fields_put(block, MT_RECORD_WEIGHT, time, weight_fields, record);
}

static const struct field mark_fields[] = {
	U64(mark, complete_below),
	U64(mark, samples),
	U64(mark, lost),
	END,
};
DEFINE_UNTIMED(mark, MT_RECORD_MARK)

static const struct field end_fields[] = {
	U64(end, start),
	U64(end, end),
	U64(end, samples),
	U64(end, lost),
	U64(end, raw_bytes),
	U64(end, written),
	U32(end, command_end),
	U32(end, command_status),
	END,
};
DEFINE_UNTIMED(end, MT_RECORD_END)

static const struct field note_fields[] = {U32(note, level), TEXT(note, text), END};
DEFINE_UNTIMED(note, MT_RECORD_NOTE)

/* In front of the bytes; those behind them. */
#define FILE_FIELDS                                                                                \
	U32(file, kind), U32(file, coding), U32(file, kept), U32(file, part), U32(file, parts),    \
		U32(file, major), U32(file, minor), U64(file, inode), U64(file, inode_generation), \
		U64(file, original_size), U64(file, size), U32(file, pid), TEXT(file, path),       \
		TEXT(file, build_id)

static const struct field file_fields[] = {FILE_FIELDS, TEXT(file, bytes), END};
static const struct field file_front_fields[] = {FILE_FIELDS, END};

bool mt_file_put(struct mt_block *block, uint64_t time, const struct mt_file_record *record)
{
	return fields_put(block, MT_RECORD_FILE, time, file_fields, record);
}

bool mt_file_set_part(struct mt_file_record *file, const uint8_t *content, uint32_t part)
{
	uint64_t at = (uint64_t)part * MT_FILE_PART_SIZE, left;

	if (at >= file->size)
		return false;
	left = file->size - at;
	file->part = part;
	file->parts = (uint32_t)((file->size + MT_FILE_PART_SIZE - 1) / MT_FILE_PART_SIZE);
	file->bytes = (struct mt_text){
		.bytes = (const char *)content + at,
		.size = left < MT_FILE_PART_SIZE ? left : MT_FILE_PART_SIZE,
	};
	return true;
}

bool mt_file_put_front(struct mt_block *block, uint64_t time, const struct mt_file_record *record)
{
	size_t front = MT_RECORD_HEADER_SIZE + fields_size(file_front_fields, record) + 4;
	size_t begins = block->used;
	uint8_t *to;

	if (front > MT_CHUNK_RAW_MAX || record->bytes.size > MT_CHUNK_RAW_MAX - front - 8)
		return false;
	to = mt_block_add(block, MT_RECORD_FILE, front, time);
	if (!to)
		return false;
	block->used = begins + front; /* what follows is the caller's */
	mt_put_le32(to + 4, (uint32_t)mt_align8(front + record->bytes.size));
	to += MT_RECORD_HEADER_SIZE;
	for (const struct field *f = file_front_fields; f->kind != FIELD_END; f++)
		to = field_encode(f, (const uint8_t *)record + f->offset, to);
	mt_put_le32(to, (uint32_t)record->bytes.size);
	return true;
}

static bool file_sound(const struct mt_file_record *file)
{
	return file->parts && file->part < file->parts && file->bytes.size <= file->size;
}

bool mt_file_get(const uint8_t *body, size_t size, struct mt_file_record *out)
{
	return fields_get(body, size, file_fields, out) && file_sound(out);
}

bool mt_file_get_fields(const uint8_t *body, size_t size, struct mt_file_record *out)
{
	size_t front;

	if (!fields_get(body, size, file_front_fields, out))
		return false;
	front = fields_size(file_front_fields, out);
	if (front > MT_FILE_FIELDS_MAX || size - front < 4)
		return false;
	out->bytes = (struct mt_text){.bytes = NULL, .size = mt_get_le32(body + front)};
	return file_sound(out);
}

static const struct field gauge_fields[] = {
	U32(gauge, pid),	ZERO,
	U64(gauge, start_time), U64(gauge, before),
	U64(gauge, after),	U64(gauge, value),
	TEXT(gauge, name),	END,
};
DEFINE_GET(gauge)

bool mt_gauge_put(struct mt_block *block, const struct mt_gauge_record *record)
{
	return fields_put(block, MT_RECORD_GAUGE, record->after, gauge_fields, record);
}

bool mt_reread_put(struct mt_block *block, const struct mt_map_record *record)
{
	return fields_put(block, MT_RECORD_REREAD, record->after, map_fields, record);
}

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

uint64_t mt_sample_pieces_address(const struct mt_sample_pieces *pieces)
{
	return mt_get_le64((const uint8_t *)pieces->head + pieces->head_size - pieces->sp_back);
}

/* As a PACKED record; false where it cannot be coded. There is room for it. */
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

/* The kernel's record has a hole where the fields say that a dump was taken out. */
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

/* What the fields say of the dump is what the kernel's own bytes say of it. */
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

/* Bytes of the pcs and sources, and of what stands behind them where stack pointers are told. */
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

/* A sample that had no dump: the kernel's record is whole. */
static bool is_whole(const struct mt_kernel_bytes *b)
{
	return !b->cut && !b->dump_asked && b->kernel_size >= PERF_HEADER_SIZE &&
	       b->kernel_size % 8 == 0 && mt_get_le32(b->kernel) == MT_KERNEL_SAMPLE &&
	       mt_get_le16(b->kernel + PERF_HEADER_OFF_SIZE) == b->kernel_size;
}

/* Where the frames stood: behind the sources, or not there. */
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
