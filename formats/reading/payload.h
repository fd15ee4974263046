/*
 * Payloads: from a chunk's place in the file to its records in memory, checked and, for DATA, in
 * order of time.
 */
#ifndef MT_FORMATS_READING_PAYLOAD_H
#define MT_FORMATS_READING_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/reader.h"

struct mt_error;
struct mt_input;
struct mt_stack_decoder;

/*
 * Where a chunk lies and what its header says, as far as reading needs it: one for each chunk of
 * the file.
 */
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

/* What loading needs and keeps from one chunk to the next. */
struct mt_loader {
	const struct mt_input *input; /* borrowed */
	struct ZSTD_DCtx_s *zstd;
	uint8_t *stored;
	size_t stored_capacity;
	struct mt_stack_decoder *stacks; /* made when a chunk has coded records */
	enum mt_reader_dumps dumps;	 /* as the reader's options have it; 0 at first */
	uint8_t *passing;		 /* the dump of the record given last; made when needed */
};

/* Borrows the input. */
void mt_loader_init(struct mt_loader *loader, const struct mt_input *input);
void mt_loader_deinit(struct mt_loader *loader);

/*
 * Where a record stands in its chunk; key is its time, or that of the record before it where it has
 * none.
 */
struct mt_record_at {
	uint64_t key;
	uint32_t offset;
	uint32_t dump; /* of what it decodes to in `dumps`; MT_NO_DUMP where it is not coded */
};

#define MT_NO_DUMP UINT32_MAX

/* A chunk in memory. All zero is an empty one; it may be loaded again and again. */
struct mt_payload {
	const struct mt_chunk_ref *ref; /* borrowed */
	uint8_t *raw;
	size_t raw_capacity;
	uint8_t *dumps; /* coded records, decoded; of PACKED ones without their dumps, if apart */
	size_t dumps_used, dumps_capacity;
	bool apart;			 /* dumps are decoded as records are given, or never */
	struct mt_stack_decoder *stacks; /* for that, and where it stands; or NULL */
	MT_ARRAY(struct mt_record_at) records; /* those to be given, in order */
	size_t next;			       /* the one to be given next */
};

void mt_payload_deinit(struct mt_payload *payload);

/* Bytes of memory it holds. */
size_t mt_payload_memory(const struct mt_payload *payload);

/*
 * Reads the chunk at ref, which must outlive the payload, and lists its records: in the order of
 * the file or, with by_time, of time. What is damaged or not known is left out and added to damage.
 * An error is one of the system: out of memory, a file that cannot be read.
 */
struct mt_error *mt_payload_load(struct mt_payload *payload, struct mt_loader *loader,
				 const struct mt_chunk_ref *ref, bool by_time,
				 struct mt_damage *damage);

static inline bool mt_payload_empty(const struct mt_payload *payload)
{
	return payload->next >= payload->records.count;
}

/* The key of the record to be given next; there must be one. */
static inline uint64_t mt_payload_key(const struct mt_payload *payload)
{
	return payload->records.items[payload->next].key;
}

/* Views the record to be given next, without stepping on. */
void mt_payload_get(const struct mt_payload *payload, struct mt_record *out);

/*
 * Once for each record, as it is given, before the next is asked for: its dump, where the loader is
 * to have it pass; it holds until this is called again. False out of memory.
 */
bool mt_payload_pass_dump(struct mt_payload *payload, struct mt_loader *loader,
			  struct mt_record *record);

#endif
