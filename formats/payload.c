/*
 * Loading one chunk: read, checksum, decompress, list the records, sort them if they need it. Which chunk, and when, is for others.
 */
#include "formats/payload.h"

#include <stdlib.h>
#include <zstd.h>

#include "formats/base/cursor.h"
#include "formats/base/err.h"
#include "formats/chunk.h"
#include "formats/input.h"
#include "formats/reader.h"

#define CAPACITY_STEP ((size_t)65536)

void mt_loader_init(struct mt_loader *loader, const struct mt_input *input)
{
	*loader = (struct mt_loader){.input = input};
}

void mt_loader_deinit(struct mt_loader *loader)
{
	ZSTD_freeDCtx(loader->zstd);
	free(loader->stored);
	*loader = (struct mt_loader){0};
}

void mt_payload_deinit(struct mt_payload *payload)
{
	free(payload->raw);
	mt_array_deinit(&payload->records);
	*payload = (struct mt_payload){0};
}

size_t mt_payload_memory(const struct mt_payload *payload)
{
	return payload->raw_capacity + payload->records.capacity * sizeof(*payload->records.items);
}

/* Makes a buffer hold size bytes; what was in it is lost. */
static struct mt_error *make_room(uint8_t **bytes, size_t *capacity, size_t size)
{
	size_t rounded = (size + CAPACITY_STEP - 1) / CAPACITY_STEP * CAPACITY_STEP;

	if (size <= *capacity)
		return NULL;
	free(*bytes);
	*capacity = 0;
	*bytes = malloc(rounded);
	if (!*bytes)
		return mt_error_nomem();
	*capacity = rounded;
	return NULL;
}

static struct mt_error *read_stored(const struct mt_loader *loader, const struct mt_chunk_ref *ref, uint8_t *to, bool *good)
{
	size_t got;
	struct mt_error *err = mt_input_read(loader->input, ref->offset + MT_CHUNK_HEADER_SIZE, to, ref->stored_size, &got);

	if (err)
		return err;
	*good = got == ref->stored_size && mt_crc32c(0, to, got) == ref->payload_crc;
	return NULL;
}

static struct mt_error *load_zstd(struct mt_loader *loader, const struct mt_chunk_ref *ref, uint8_t *raw, bool *good)
{
	struct mt_error *err = make_room(&loader->stored, &loader->stored_capacity, ref->stored_size);

	if (err)
		return err;
	if (!loader->zstd)
		loader->zstd = ZSTD_createDCtx();
	if (!loader->zstd)
		return mt_error_nomem();
	err = read_stored(loader, ref, loader->stored, good);
	if (err || !*good)
		return err;
	/* an error code of zstd is larger than any size */
	*good = ZSTD_decompressDCtx(loader->zstd, raw, ref->raw_size, loader->stored, ref->stored_size) == ref->raw_size;
	return NULL;
}

static struct mt_error *load_raw(struct mt_payload *payload, struct mt_loader *loader, const struct mt_chunk_ref *ref, bool *good)
{
	struct mt_error *err = make_room(&payload->raw, &payload->raw_capacity, ref->raw_size);

	if (err)
		return err;
	if (ref->codec == MT_CODEC_ZSTD)
		return load_zstd(loader, ref, payload->raw, good);
	return read_stored(loader, ref, payload->raw, good);
}

static bool record_known(uint32_t type)
{
	return (type >= MT_RECORD_HEADER && type <= MT_RECORD_NOTE) || type == MT_RECORD_KERNEL || type == MT_RECORD_SAMPLE;
}

/* Steps over one record; NULL at the end of the payload or, with cursor.bad, where there is none. */
static const uint8_t *take_record(struct mt_cursor *c, uint32_t *type, uint64_t *time)
{
	const uint8_t *record = c->pos;
	uint32_t size;

	if (!mt_cursor_left(c))
		return NULL;
	*type = mt_cursor_u32(c);
	size = mt_cursor_u32(c);
	*time = mt_cursor_u64(c);
	if (size < MT_RECORD_HEADER_SIZE || size % 8)
		c->bad = true;
	else
		mt_cursor_bytes(c, size - MT_RECORD_HEADER_SIZE);
	return c->bad ? NULL : record;
}

/* Lists the records. *refused where one is of a critical type that is not known. */
static struct mt_error *list_records(struct mt_payload *payload, bool *refused, struct mt_damage *damage)
{
	struct mt_cursor c = mt_cursor_init(payload->raw, payload->ref->raw_size);
	uint64_t time, key = payload->ref->first_time;
	struct mt_record_at *at;
	const uint8_t *record;
	uint32_t type;

	while ((record = take_record(&c, &type, &time))) {
		if (!record_known(type)) {
			*refused |= type & MT_RECORD_CRITICAL;
			damage->unknown_records++;
			continue;
		}
		at = mt_array_push(&payload->records);
		if (!at)
			return mt_error_nomem();
		key = time ? time : key;
		*at = (struct mt_record_at){.key = key, .offset = (uint32_t)(record - payload->raw)};
	}
	damage->damaged_records += c.bad;
	return NULL;
}

static bool comes_before(const struct mt_record_at *a, const struct mt_record_at *b)
{
	return a->key < b->key || (a->key == b->key && a->offset < b->offset);
}

static int compare_records(const void *a, const void *b)
{
	return comes_before(a, b) ? -1 : comes_before(b, a);
}

/* Rings are nearly sorted, and this costs next to nothing then; false, with the rest undone, where it costs too much. */
static bool sort_by_insertion(struct mt_record_at *items, size_t count)
{
	size_t moves = count * 8;

	for (size_t i = 1; i < count; i++) {
		struct mt_record_at item = items[i];
		size_t to = i;

		for (; to && moves && comes_before(&item, &items[to - 1]); to--, moves--)
			items[to] = items[to - 1];
		items[to] = item;
		if (!moves)
			return false;
	}
	return true;
}

static void sort_records(struct mt_payload *payload)
{
	if (!sort_by_insertion(payload->records.items, payload->records.count))
		qsort(payload->records.items, payload->records.count, sizeof(*payload->records.items), compare_records);
}

struct mt_error *mt_payload_load(struct mt_payload *payload, struct mt_loader *loader, const struct mt_chunk_ref *ref, bool by_time,
				 struct mt_damage *damage)
{
	bool good = false, refused = false;
	struct mt_error *err;

	payload->ref = ref;
	payload->next = payload->records.count = 0;
	err = load_raw(payload, loader, ref, &good);
	if (err)
		return err;
	if (!good) {
		damage->damaged_chunks++;
		damage->skipped_bytes += MT_CHUNK_HEADER_SIZE + (uint64_t)ref->stored_size;
		return NULL;
	}
	err = list_records(payload, &refused, damage);
	if (err)
		return err;
	if (refused) {
		payload->records.count = 0;
		damage->refused_chunks++;
	}
	if (by_time)
		sort_records(payload);
	return NULL;
}

void mt_payload_get(const struct mt_payload *payload, struct mt_record *out)
{
	const uint8_t *record = payload->raw + payload->records.items[payload->next].offset;

	*out = (struct mt_record){
		.type = mt_get_le32(record),
		.stream = payload->ref->stream,
		.time = mt_get_le64(record + 8),
		.body = record + MT_RECORD_HEADER_SIZE,
		.size = mt_get_le32(record + 4) - MT_RECORD_HEADER_SIZE,
	};
}
