/*
 * Payloads: loads a chunk from the file, checks it, and lists its records, DATA by time.
 */
#ifndef MT_FORMATS_READING_PAYLOAD_H
#define MT_FORMATS_READING_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/reading/source.h"

struct mt_error;
struct mt_input;
struct mt_stack_decoder;

/* A chunk's position and the header fields that reading needs; one for each chunk of the file. */
struct mt_chunk_ref {
	uint64_t offset; /* of its header */
	uint64_t sequence;
	uint64_t first_time;
	uint32_t stored_size, raw_size;
	uint32_t payload_crc;
	uint32_t stream;
	uint16_t type;
	uint8_t codec;
};

/* Buffers that loading reuses from chunk to chunk. */
struct mt_loader {
	const struct mt_input *input; /* borrowed */
	struct ZSTD_DCtx_s *zstd;
	uint8_t *stored;
	size_t stored_capacity;
	struct mt_stack_decoder *stacks; /* created for the first chunk with coded records */
	enum mt_reader_dumps dumps;	 /* the reader's option; initially 0 */
	uint8_t *passing;		 /* dump of the last record; allocated on first use */
};

/* Borrows the input. */
void mt_loader_init(struct mt_loader *loader, const struct mt_input *input);
void mt_loader_deinit(struct mt_loader *loader);

/*
 * Position of a record in its chunk. The key is its time; a record without a time has the key of
 * the previous record.
 */
struct mt_record_at {
	uint64_t key;
	uint32_t offset;
	uint32_t dump; /* coded: offset of the decoded record in `dumps`; else MT_NO_DUMP */
};

#define MT_NO_DUMP UINT32_MAX

/* A chunk in memory. All-zero is empty; may be loaded any number of times. */
struct mt_payload {
	struct mt_chunk_ref ref;
	uint8_t *raw;
	size_t raw_capacity;
	uint8_t *dumps; /* decoded records; if `apart`, PACKED ones without dumps */
	size_t dumps_used, dumps_capacity;
	bool apart;			 /* dumps are decoded record by record, or never */
	struct mt_stack_decoder *stacks; /* decodes the dumps in record order if `apart`; or NULL */
	MT_ARRAY(struct mt_record_at) records; /* in the order to be returned */
	size_t next;			       /* index of the next record */
};

void mt_payload_deinit(struct mt_payload *payload);

/* Bytes of memory that the payload holds. */
size_t mt_payload_memory(const struct mt_payload *payload);

/*
 * Reads the chunk at ref, and lists its records in file order or, with by_time, by time. Damaged
 * and unknown records are left out and added to damage. An error is a failed read.
 */
struct mt_error *mt_payload_load(struct mt_payload *payload, struct mt_loader *loader,
				 const struct mt_chunk_ref *ref, bool by_time,
				 struct mt_damage *damage);

static inline bool mt_payload_empty(const struct mt_payload *payload)
{
	return payload->next >= payload->records.count;
}

/* Key of the next record; there must be one. */
static inline uint64_t mt_payload_key(const struct mt_payload *payload)
{
	return payload->records.items[payload->next].key;
}

/* Views the next record without consuming it. */
void mt_payload_get(const struct mt_payload *payload, struct mt_record *out);

/*
 * Decodes the dump of a record into record->passing, if the loader's dumps are MT_DUMPS_PASSING.
 * Call once for each record, in order, before the next record is taken; the dump is valid until the
 * next call.
 */
void mt_payload_pass_dump(struct mt_payload *payload, struct mt_loader *loader,
			  struct mt_record *record);

#endif
