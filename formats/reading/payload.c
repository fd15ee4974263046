/*
 * Loads one chunk: reads, verifies and decompresses it, lists its records and sorts them if needed.
 * The callers decide which chunk, and when.
 */
#include "formats/reading/payload.h"

#include <stdlib.h>
#include <zstd.h>

#include "formats/base/cursor.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/chunks/chunk.h"
#include "formats/reading/input.h"
#include "formats/reading/source.h"
#include "formats/stacks/packed_body.h"
#include "formats/stacks/planes_pack.h"
#include "formats/stacks/sample_record.h"
#include "formats/stacks/stack_decoder.h"

#define CAPACITY_STEP ((size_t)65536)

void mt_loader_init(struct mt_loader *loader, const struct mt_input *input)
{
	*loader = (struct mt_loader){.input = input};
}

void mt_loader_deinit(struct mt_loader *loader)
{
	ZSTD_freeDCtx(loader->zstd);
	mt_stack_decoder_destroy(loader->stacks);
	free(loader->stored);
	free(loader->passing);
	*loader = (struct mt_loader){0};
}

void mt_payload_deinit(struct mt_payload *payload)
{
	free(payload->raw);
	free(payload->dumps);
	mt_stack_decoder_destroy(payload->stacks);
	mt_array_deinit(&payload->records);
	*payload = (struct mt_payload){0};
}

size_t mt_payload_memory(const struct mt_payload *payload)
{
	size_t stacks = payload->stacks ? mt_stack_decoder_memory(payload->stacks) : 0;

	return payload->raw_capacity + payload->dumps_capacity + stacks +
	       payload->records.capacity * sizeof(*payload->records.items);
}

/* Makes a buffer hold size bytes; its contents are lost. */
static void make_room(uint8_t **bytes, size_t *capacity, size_t size)
{
	size_t rounded = (size + CAPACITY_STEP - 1) / CAPACITY_STEP * CAPACITY_STEP;

	if (size <= *capacity)
		return;
	free(*bytes);
	*bytes = malloc(rounded); /* not zeroed: all of it is written */
	if (!*bytes)
		mt_memory_failed();
	*capacity = rounded;
}

static struct mt_error *read_stored(const struct mt_loader *loader, const struct mt_chunk_ref *ref,
				    uint8_t *to, bool *good)
{
	size_t got;
	struct mt_error *err = mt_input_read(loader->input, ref->offset + MT_CHUNK_HEADER_SIZE, to,
					     ref->stored_size, &got);

	if (err)
		return err;
	*good = got == ref->stored_size && mt_crc32c(0, to, got) == ref->payload_crc;
	return NULL;
}

/* Unpacks an intact payload. */
static struct mt_error *unpack(struct mt_loader *loader, const struct mt_chunk_ref *ref,
			       uint8_t *raw, bool *good)
{
	bool no_memory = false;

	if (ref->codec == MT_CODEC_PLANES)
		*good = mt_planes_unpack(loader->zstd, loader->stored, ref->stored_size, raw,
					 ref->raw_size, &no_memory);
	else /* an error code of zstd is larger than any size */
		*good = ZSTD_decompressDCtx(loader->zstd, raw, ref->raw_size, loader->stored,
					    ref->stored_size) == ref->raw_size;
	return no_memory ? mt_error_nomem() : NULL;
}

static struct mt_error *load_packed(struct mt_loader *loader, const struct mt_chunk_ref *ref,
				    uint8_t *raw, bool *good)
{
	struct mt_error *err;

	make_room(&loader->stored, &loader->stored_capacity, ref->stored_size);
	if (!loader->zstd)
		loader->zstd = ZSTD_createDCtx();
	if (!loader->zstd)
		mt_memory_failed();
	err = read_stored(loader, ref, loader->stored, good);
	return err || !*good ? err : unpack(loader, ref, raw, good);
}

static struct mt_error *load_raw(struct mt_payload *payload, struct mt_loader *loader,
				 const struct mt_chunk_ref *ref, bool *good)
{
	make_room(&payload->raw, &payload->raw_capacity, ref->raw_size);
	if (ref->codec == MT_CODEC_STORED)
		return read_stored(loader, ref, payload->raw, good);
	return load_packed(loader, ref, payload->raw, good);
}

static bool record_known(uint32_t type)
{
	return type >= MT_RECORD_HEADER && type <= MT_RECORD_BLOCKS;
}

/*
 * Steps over one record. NULL at the end of the payload, and, with cursor.bad set, at a malformed
 * record.
 */
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

/* Reserves `size` more bytes for decoded records. */
static void decoded_reserve(struct mt_payload *payload, size_t size)
{
	(void)mt_array_grow((void **)&payload->dumps, &payload->dumps_capacity,
			    payload->dumps_used + size, 1);
}

/*
 * True for a SAMPLE record whose dump refers to a stack image, even if its other fields are wrong.
 */
static bool rests_on_image(const uint8_t *record)
{
	return (mt_get_le32(record) & ~MT_RECORD_CRITICAL) == MT_RECORD_SAMPLE &&
	       mt_get_le32(record + 4) >= MT_SAMPLE_OFF_CODING + 4 &&
	       mt_get_le32(record + MT_SAMPLE_OFF_CODING) == MT_CODING_IMAGE;
}

static bool is_packed(const uint8_t *record)
{
	return (mt_get_le32(record) & ~MT_RECORD_CRITICAL) == MT_RECORD_PACKED;
}

/* The coded records of a chunk while they are decoded, in the order of the chunk. */
struct decoding {
	struct mt_payload *payload;
	struct mt_stack_decoder *stacks;
	size_t total; /* total of decoded bytes, with dumps wherever they are stored */
};

/* Bytes that one record decodes to: stored after the others, and stored apart. */
struct decoded {
	size_t size, apart;
};

static bool decode_dump(struct decoding *d, const uint8_t *body, size_t size, struct decoded *out)
{
	struct mt_payload *payload = d->payload;
	struct mt_kernel_bytes b;

	if (!mt_sample_get(body, size, NULL, &b))
		return false;
	decoded_reserve(payload, b.dump_size);
	out->size = b.dump_size;
	return mt_stack_decode(d->stacks, b.coded, b.coded_size,
			       payload->dumps + payload->dumps_used, b.dump_size);
}

/* Decodes a PACKED record. Also reserves the image's memory for a dump that is decoded apart. */
static bool decode_packed(struct decoding *d, const uint8_t *record, size_t size,
			  struct decoded *out)
{
	const uint8_t *body = record + MT_RECORD_HEADER_SIZE;
	struct mt_payload *payload = d->payload;
	uint64_t time = mt_get_le64(record + 8);
	struct mt_kernel_bytes b;
	uint8_t *to;

	decoded_reserve(payload, MT_STACK_UNPACKED_MAX);
	to = payload->dumps + payload->dumps_used;
	if (!payload->apart)
		return mt_stack_unpack(d->stacks, time, body, size, to, &out->size) &&
		       mt_packed_get(body, size, to, &b);
	if (!mt_stack_unpack_kernel(d->stacks, time, body, size, to, &out->size, &out->apart) ||
	    !mt_packed_get(body, size, to, &b))
		return false;
	return !out->apart || !payload->stacks ||
	       mt_stack_decoder_reserve(payload->stacks, body, size);
}

/* Decodes one record; false if it is damaged. */
static bool decode_record(struct decoding *d, const uint8_t *record, struct decoded *out)
{
	size_t size = mt_get_le32(record + 4) - MT_RECORD_HEADER_SIZE;

	*out = (struct decoded){0};
	if (is_packed(record) ? !decode_packed(d, record, size, out)
			      : !decode_dump(d, record + MT_RECORD_HEADER_SIZE, size, out))
		return false;
	d->total += out->size + out->apart;
	return d->total <= MT_STACK_DECODED_MAX;
}

static bool is_coded(const struct mt_payload *payload, const struct mt_record_at *at)
{
	const uint8_t *record = payload->raw + at->offset;

	return is_packed(record) || rests_on_image(record);
}

/*
 * Whether the dumps of PACKED records can be decoded later: each is returned once, in the order of
 * the chunk, and no SAMPLE record refers to one. Dumps that are left out need no order.
 */
static bool can_go_apart(const struct mt_payload *payload, enum mt_reader_dumps dumps)
{
	const struct mt_record_at *items = payload->records.items;

	if (dumps == MT_DUMPS_WITH_RECORDS)
		return false;
	for (size_t i = 0; i < payload->records.count; i++) {
		if (rests_on_image(payload->raw + items[i].offset) ||
		    (dumps == MT_DUMPS_PASSING && i && items[i].key < items[i - 1].key))
			return false;
	}
	return true;
}

static bool begin_decoder(struct mt_stack_decoder **decoder)
{
	if (!*decoder)
		*decoder = mt_stack_decoder_create();
	if (*decoder)
		mt_stack_decoder_reset(*decoder);
	return *decoder;
}

/* Prepares the decoding of the chunk's coded records; false out of memory. */
static bool begin_decoding(struct mt_payload *payload, struct mt_loader *loader,
			   struct decoding *out)
{
	bool passing;

	payload->dumps_used = 0;
	payload->apart = can_go_apart(payload, loader->dumps);
	passing = payload->apart && loader->dumps == MT_DUMPS_PASSING;
	if (!passing) {
		mt_stack_decoder_destroy(payload->stacks);
		payload->stacks = NULL;
	}
	*out = (struct decoding){.payload = payload};
	if (!begin_decoder(passing ? &payload->stacks : &loader->stacks))
		return false;
	out->stacks = passing ? payload->stacks : loader->stacks;
	return true;
}

/*
 * Decodes the coded records in the order of the chunk. After a damaged record no later one can be
 * trusted, so all later ones are left out.
 */
static void decode_records(struct mt_payload *payload, struct mt_loader *loader,
			   struct mt_damage *damage)
{
	struct decoding decoding = {0};
	struct decoded decoded;
	bool begun = false, good = true;
	size_t kept = 0;

	for (size_t i = 0; i < payload->records.count; i++) {
		struct mt_record_at at = payload->records.items[i];

		at.dump = MT_NO_DUMP;
		if (is_coded(payload, &at)) {
			good = good && (begun || begin_decoding(payload, loader, &decoding));
			begun = true;
			good = good && decode_record(&decoding, payload->raw + at.offset, &decoded);
			if (!good) {
				damage->damaged_records++;
				continue;
			}
			at.dump = (uint32_t)payload->dumps_used;
			payload->dumps_used += decoded.size;
		}
		payload->records.items[kept++] = at;
	}
	payload->records.count = kept;
}

/* Lists the records. *refused is set for a record of an unknown critical type. */
static void list_records(struct mt_payload *payload, bool *refused, struct mt_damage *damage)
{
	struct mt_cursor c = mt_cursor_init(payload->raw, payload->ref.raw_size);
	uint64_t time, key = payload->ref.first_time;
	const uint8_t *record;
	uint64_t unknown = 0;
	uint32_t type;

	while ((record = take_record(&c, &type, &time))) {
		if (!record_known(type & ~MT_RECORD_CRITICAL)) {
			*refused |= type & MT_RECORD_CRITICAL;
			unknown++;
			continue;
		}
		key = time ? time : key;
		(void)mt_array_append(&payload->records,
				      (struct mt_record_at){key, (uint32_t)(record - payload->raw),
							    0});
	}
	if (*refused)
		return;
	damage->damaged_records += c.bad;
	damage->unknown_records += unknown;
}

static bool comes_before(const struct mt_record_at *a, const struct mt_record_at *b)
{
	return a->key < b->key || (a->key == b->key && a->offset < b->offset);
}

static int compare_records(const void *a, const void *b)
{
	return comes_before(a, b) ? -1 : comes_before(b, a);
}

/*
 * Insertion sort: rings are nearly sorted, so it costs next to nothing. False, with the remaining
 * records unsorted, if it costs too much.
 */
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
		qsort(payload->records.items, payload->records.count,
		      sizeof(*payload->records.items), compare_records);
}

struct mt_error *mt_payload_load(struct mt_payload *payload, struct mt_loader *loader,
				 const struct mt_chunk_ref *ref, bool by_time,
				 struct mt_damage *damage)
{
	bool good = false, refused = false;
	struct mt_error *err;

	payload->ref = *ref;
	payload->next = payload->records.count = 0;
	payload->apart = false;
	err = load_raw(payload, loader, ref, &good);
	if (err)
		return err;
	if (!good) {
		damage->damaged_chunks++;
		damage->skipped_bytes += MT_CHUNK_HEADER_SIZE + (uint64_t)ref->stored_size;
		return NULL;
	}
	list_records(payload, &refused, damage);
	if (refused) {
		payload->records.count = 0;
		damage->refused_chunks++;
	}
	decode_records(payload, loader, damage);
	if (by_time)
		sort_records(payload);
	return NULL;
}

void mt_payload_get(const struct mt_payload *payload, struct mt_record *out)
{
	const struct mt_record_at *at = &payload->records.items[payload->next];
	const uint8_t *record = payload->raw + at->offset;

	*out = (struct mt_record){
		.type = mt_get_le32(record) & ~MT_RECORD_CRITICAL,
		.stream = payload->ref.stream,
		.place = {payload->ref.offset, at->offset},
		.time = mt_get_le64(record + 8),
		.body = record + MT_RECORD_HEADER_SIZE,
		.size = mt_get_le32(record + 4) - MT_RECORD_HEADER_SIZE,
		.dump = at->dump == MT_NO_DUMP ? NULL : payload->dumps + at->dump,
		.apart = payload->apart,
	};
}

void mt_payload_pass_dump(struct mt_payload *payload, struct mt_loader *loader,
			  struct mt_record *record)
{
	const size_t size = (MT_STACK_DUMP_MAX + 63) / 64 * 64;
	bool got = false;

	if (!record->dump || !payload->apart || !payload->stacks)
		return;
	if (!loader->passing)
		loader->passing = aligned_alloc(64, size);
	if (!loader->passing || !mt_stack_unpack_dump(payload->stacks, record->body, record->size,
						      record->dump, loader->passing, &got))
		mt_memory_failed();
	record->passing = got ? loader->passing : NULL;
}
