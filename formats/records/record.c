/*
 * Encodes and decodes the recording's own records. One table of fields for each record type serves
 * both directions.
 */
#include "formats/records/record.h"

#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cursor.h"
#include "formats/chunks/chunk.h"

enum field_kind {
	FIELD_END,
	FIELD_U16,
	FIELD_U32, /* u32 or i32 */
	FIELD_U64,
	FIELD_ID,   /* 16 bytes */
	FIELD_ZERO, /* u32 in the file, nothing in the struct */
	FIELD_TEXT,
	FIELD_APPENDED, /* a text that earlier writers omit: then it is empty */
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
#define APPENDED(type, member) FIELD_OF(FIELD_APPENDED, type, member)
#define ZERO                       \
	{                          \
		.kind = FIELD_ZERO \
	}
#define END                       \
	{                         \
		.kind = FIELD_END \
	}

/* Size of the body of `record`; SIZE_MAX if a string is larger than any chunk. */
static size_t fields_size(const struct field *fields, const void *record)
{
	static const uint8_t fixed[] = {
		[FIELD_U16] = 2,  [FIELD_U32] = 4,  [FIELD_U64] = 8,	  [FIELD_ID] = 16,
		[FIELD_ZERO] = 4, [FIELD_TEXT] = 4, [FIELD_APPENDED] = 4,
	};
	size_t size = 0;

	for (const struct field *f = fields; f->kind != FIELD_END; f++) {
		size += fixed[f->kind];
		if (f->kind == FIELD_TEXT || f->kind == FIELD_APPENDED) {
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

/* Writes one field; returns where the next one begins. */
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
	case FIELD_APPENDED:
		*(struct mt_text *)value = (struct mt_text){0};
		if (mt_cursor_left(c) < 4)
			break;
		text_decode(c, value);
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

/* Defines the put and get functions of a record type that always has time 0. */
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
	U32(event, index),
	U32(event, role),
	U32(event, pair),
	U32(event, class),
	TEXT(event, name),
	TEXT(event, alias),
	TEXT(event, unit),
	TEXT(event, attr),
	TEXT(event, format),
	APPENDED(event, account),
	END,
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
	U32(image, major),	  U32(image, minor),
	U64(image, inode),	  U64(image, inode_generation),
	U64(image, size),	  TEXT(image, path),
	TEXT(image, build_id),	  TEXT(image, problem),
	APPENDED(image, started), END,
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

static const struct field blocks_fields[] = {
	U64(blocks, from),
	U32(blocks, one_in),
	ZERO,
	END,
};
DEFINE_UNTIMED(blocks, MT_RECORD_BLOCKS)

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

/* Fields before the content, and fields after it. */
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
	block->used = begins + front; /* the caller writes the remaining bytes */
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
