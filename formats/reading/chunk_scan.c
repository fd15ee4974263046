/*
 * Finds chunks and recordings. FORMAT.md section 1 defines a chunk, damage, and where to
 * resynchronize; section 2 defines where a recording begins and ends. Reads headers by offset, a
 * few hundred bytes for each chunk.
 */
#include "formats/reading/chunk_scan.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/chunks/chunk.h"
#include "formats/reading/input.h"
#include "formats/records/record.h"

#define SEARCH_SIZE ((size_t)262144)
#define SMALL_PAYLOAD \
	((size_t)4096) /* MARK and END take a hundred bytes; a larger size means damage */
#define CHECK_BUDGET 4 /* multiple of the file's size that may be checksummed to verify sizes */

struct mt_scanner {
	struct mt_loader *loader;
	struct mt_scan *scan;
	size_t memory_limit;
	uint64_t size;		/* of the file */
	uint64_t offset;	/* of the next chunk */
	uint64_t check_left;	/* bytes of payload that may still be checksummed */
	uint8_t *check;		/* SEARCH_SIZE bytes, the buffer for reading them */
	uint8_t *window;	/* SEARCH_SIZE bytes, the buffer to search for magics */
	uint64_t window_offset; /* range of the file in the window */
	size_t window_size;
	struct {
		uint64_t offset;
		struct mt_chunk_header header;
		bool good, valid;
	} last;			   /* the header read last */
	struct mt_payload payload; /* of HEAD, MARK, END */
	bool inside;		   /* chunks belong to the last recording; false: to none */
	uint64_t begin;		   /* start of the last recording, 0 before the first */
	uint64_t good;		   /* bytes of good chunks since then */
	uint64_t sequence;	   /* of the last chunk */
	uint64_t damaged_next;	   /* sequence numbers after `sequence` that damaged chunks had */
};

static struct mt_scanned *current(const struct mt_scanner *s)
{
	return s->scan->recordings.count ? &s->scan->recordings.items[s->scan->recordings.count - 1]
					 : NULL;
}

static struct mt_damage *current_damage(struct mt_scanner *s)
{
	return current(s) ? &current(s)->recording.damage : &s->scan->before;
}

static bool window_holds(const struct mt_scanner *s, uint64_t offset, size_t size)
{
	return offset >= s->window_offset && offset - s->window_offset <= s->window_size &&
	       size <= s->window_size - (size_t)(offset - s->window_offset);
}

static struct mt_error *header_bytes_read(const struct mt_scanner *s, uint64_t offset,
					  uint8_t bytes[MT_CHUNK_HEADER_SIZE])
{
	size_t got;

	if (!window_holds(s, offset, MT_CHUNK_HEADER_SIZE))
		return mt_input_read(s->loader->input, offset, bytes, MT_CHUNK_HEADER_SIZE, &got);
	memcpy(bytes, s->window + (size_t)(offset - s->window_offset), MT_CHUNK_HEADER_SIZE);
	return NULL;
}

static struct mt_error *header_read(struct mt_scanner *s, uint64_t offset,
				    struct mt_chunk_header *out, bool *good)
{
	uint8_t bytes[MT_CHUNK_HEADER_SIZE] = {0};
	struct mt_error *err;

	if (!s->last.valid || s->last.offset != offset) {
		s->last.valid = false;
		err = s->size - offset < sizeof(bytes) ? NULL : header_bytes_read(s, offset, bytes);
		if (err)
			return err;
		s->last.offset = offset;
		s->last.good = mt_chunk_header_decode(bytes, &s->last.header);
		s->last.valid = true;
	}
	*out = s->last.header;
	*good = s->last.good;
	return NULL;
}

/*
 * Moves the window to `offset`, with enough bytes after it for a magic, up to the end of the file.
 */
static struct mt_error *window_move(struct mt_scanner *s, uint64_t offset)
{
	if (window_holds(s, offset, MT_CHUNK_MAGIC_SIZE))
		return NULL;
	s->window_offset = offset;
	s->window_size = 0;
	return mt_input_read(s->loader->input, offset, s->window, SEARCH_SIZE, &s->window_size);
}

/* Sets *out to the start of the next magic at or after offset, or to the end of the file. */
static struct mt_error *magic_find(struct mt_scanner *s, uint64_t offset, uint64_t *out)
{
	while (offset < s->size) {
		struct mt_error *err = window_move(s, offset);
		const uint8_t *from = s->window + (size_t)(offset - s->window_offset),
			      *end = s->window + s->window_size, *found;

		if (err)
			return err;
		found = memmem(from, (size_t)(end - from), MT_CHUNK_MAGIC, MT_CHUNK_MAGIC_SIZE);
		if (found) {
			*out = s->window_offset + (uint64_t)(found - s->window);
			return NULL;
		}
		if (end - from < MT_CHUNK_MAGIC_SIZE)
			break;
		offset = s->window_offset + s->window_size - (MT_CHUNK_MAGIC_SIZE - 1);
	}
	*out = s->size;
	return NULL;
}

static struct mt_error *checksum_check(struct mt_scanner *s, uint64_t offset,
				       const struct mt_chunk_header *header, bool *good)
{
	uint32_t crc = 0, left = header->stored_size;
	struct mt_error *err;
	size_t got;

	*good = false;
	if (s->check_left < left)
		return NULL;
	s->check_left -= left;
	for (offset += MT_CHUNK_HEADER_SIZE; left; left -= (uint32_t)got, offset += got) {
		err = mt_input_read(s->loader->input, offset, s->check,
				    left < SEARCH_SIZE ? left : SEARCH_SIZE, &got);
		if (err || !got)
			return err;
		crc = mt_crc32c(crc, s->check, got);
	}
	*good = crc == header->payload_crc;
	return NULL;
}

/*
 * Whether the payload ends where the header says. Another header or the end of the file at that
 * offset is sufficient proof, so an intact file is scanned by its headers alone.
 */
static struct mt_error *size_check(struct mt_scanner *s, uint64_t offset,
				   const struct mt_chunk_header *header, bool *good)
{
	uint64_t next = offset + MT_CHUNK_HEADER_SIZE + header->stored_size;
	struct mt_chunk_header unused;
	struct mt_error *err;

	*good = next == s->size;
	if (next >= s->size)
		return NULL;
	err = header_read(s, next, &unused, good);
	if (err || *good)
		return err;
	return checksum_check(s, offset, header, good);
}

/*
 * Closes the last recording, which ends at the start of the next one or at the end of the file. Its
 * bytes outside of good chunks count as skipped.
 */
static void recording_close(struct mt_scanner *s, uint64_t offset)
{
	struct mt_scanned *last = current(s);
	struct mt_damage *damage = current_damage(s);

	damage->skipped_bytes += offset - s->begin - s->good;
	if (!last)
		return;
	last->recording.size = offset - s->begin;
	last->chunks = s->scan->chunks.count - last->first_chunk;
	last->files = s->scan->files.count - last->first_file;
	last->others = s->scan->others.count - last->first_other;
	damage->cut_short = !last->recording.has_end;
	last->found = *damage;
}

static struct mt_error *refuse_version(const struct mt_header_record *header)
{
	struct mt_error *err = mt_error_create(
		MT_ERR_UNSUPPORTED,
		"is a recording in format version %u.%u; this reader knows version %u",
		header->major, header->minor, MT_FORMAT_MAJOR);

	return mt_error_hint(err, "use the mtreport that belongs to the mtrec that wrote it");
}

static struct mt_error *refuse_chunk(const struct mt_chunk_ref *ref, const char *what,
				     unsigned int number)
{
	struct mt_error *err =
		mt_error_create(MT_ERR_UNSUPPORTED, "chunk %llu: %s %u is not known to this reader",
				(unsigned long long)ref->sequence, what, number);

	return mt_error_hint(err, "use the mtreport that belongs to the mtrec that wrote it");
}

static struct mt_error *check_list(const struct mt_scanner *s)
{
	size_t bytes = (s->scan->chunks.count + s->scan->files.count + s->scan->others.count) *
			       sizeof(*s->scan->chunks.items) +
		       s->scan->recordings.count * sizeof(*s->scan->recordings.items);

	if (bytes <= s->memory_limit)
		return NULL;
	return mt_error_create(MT_ERR_NOMEM,
			       "the list of its chunks takes more than the %zu bytes allowed",
			       s->memory_limit);
}

/* The first record of s->payload, if it is of this type. */
static bool first_record(const struct mt_scanner *s, enum mt_record_type type,
			 struct mt_record *out)
{
	if (mt_payload_empty(&s->payload))
		return false;
	mt_payload_get(&s->payload, out);
	return out->type == (uint32_t)type;
}

static void recording_open(struct mt_scanner *s, const struct mt_chunk_ref *ref,
			   const struct mt_header_record *header)
{
	struct mt_scanned *scanned;

	recording_close(s, ref->offset);
	scanned = mt_array_push(&s->scan->recordings);
	scanned->recording.header = *header;
	scanned->first_chunk = s->scan->chunks.count;
	scanned->first_file = s->scan->files.count;
	scanned->first_other = s->scan->others.count;
	if (s->scan->recordings.count == 1)
		scanned->recording.damage = s->scan->before;
	s->begin = ref->offset;
	s->good = 0;
	s->inside = true;
	s->sequence = ref->sequence;
	s->damaged_next = 0;
}

/* Opens a recording; if this HEAD cannot be read, closes the previous recording. */
static struct mt_error *note_head(struct mt_scanner *s, const struct mt_chunk_ref *ref)
{
	struct mt_damage found = {
		0}; /* reported again by reading the recording, if HEAD can be read */
	struct mt_header_record header;
	struct mt_record record;
	struct mt_error *err;

	s->inside = false;
	err = mt_payload_load(&s->payload, s->loader, ref, false, &found);
	if (err)
		return err;
	if (!first_record(s, MT_RECORD_HEADER, &record) ||
	    !mt_header_get(record.body, record.size, &header)) {
		current_damage(s)->damaged_chunks++;
		return NULL;
	}
	if (header.major != MT_FORMAT_MAJOR)
		return refuse_version(&header);
	recording_open(s, ref, &header);
	return NULL;
}

static void decode_mark_or_end(const struct mt_scanner *s, struct mt_recording *recording)
{
	struct mt_mark_record mark;
	struct mt_end_record end;
	struct mt_record record;

	if (first_record(s, MT_RECORD_END, &record)) {
		recording->has_end = mt_end_get(record.body, record.size, &end);
		recording->damage.damaged_records += !recording->has_end;
		if (recording->has_end)
			recording->end = end;
	} else if (first_record(s, MT_RECORD_MARK, &record)) {
		if (mt_mark_get(record.body, record.size, &mark)) {
			recording->has_mark = true;
			recording->mark = mark;
		} else {
			recording->damage.damaged_records++;
		}
	}
}

/*
 * Lists the chunk so that it can be read later. There is one list for HEAD, STATE and DATA, one for
 * FILE, and one for all others.
 */
static struct mt_error *list_chunk(struct mt_scanner *s, const struct mt_chunk_ref *ref)
{
	mt_chunk_refs *list = &s->scan->others;

	if (ref->raw_size && ref->type && ref->type <= MT_CHUNK_DATA)
		list = &s->scan->chunks;
	else if (ref->raw_size && ref->type == MT_CHUNK_FILE)
		list = &s->scan->files;
	(void)mt_array_append(list, *ref);
	return check_list(s);
}

static struct mt_error *note_mark_or_end(struct mt_scanner *s, const struct mt_chunk_ref *ref)
{
	struct mt_recording *recording = &current(s)->recording;
	struct mt_error *err = list_chunk(s, ref);

	if (err)
		return err;
	if (ref->type == MT_CHUNK_END)
		s->inside = false;
	if (ref->raw_size > SMALL_PAYLOAD) {
		recording->damage.damaged_chunks++;
		recording->damage.skipped_bytes +=
			MT_CHUNK_HEADER_SIZE + (uint64_t)ref->stored_size;
		return NULL;
	}
	err = mt_payload_load(&s->payload, s->loader, ref, false, &recording->damage);
	if (!err)
		decode_mark_or_end(s, recording);
	return err;
}

static void note_times(struct mt_recording *recording, const struct mt_chunk_header *header)
{
	if (header->type != MT_CHUNK_DATA)
		return;
	if (header->first_time &&
	    (!recording->first_time || header->first_time < recording->first_time))
		recording->first_time = header->first_time;
	if (header->last_time > recording->last_time)
		recording->last_time = header->last_time;
}

/* Counts missing chunks. False if the chunk is a stray, like all chunks after it up to a HEAD. */
static bool sequence_check(struct mt_scanner *s, const struct mt_chunk_header *header)
{
	uint64_t gap;

	if (s->inside && header->sequence <= s->sequence)
		s->inside = false;
	if (!s->inside) {
		current_damage(s)->stray_chunks++;
		return false;
	}
	gap = header->sequence - s->sequence - 1;
	current_damage(s)->missing_chunks += gap > s->damaged_next ? gap - s->damaged_next : 0;
	s->sequence = header->sequence;
	s->damaged_next = 0;
	return true;
}

static bool chunk_critical(const struct mt_chunk_header *header)
{
	return header->flags & MT_CHUNK_CRITICAL || header->type == MT_CHUNK_HEAD ||
	       header->type == MT_CHUNK_STATE || header->type == MT_CHUNK_DATA;
}

/* Whether the chunk can be read; an error if it cannot be read but must not be skipped. */
static struct mt_error *known_check(const struct mt_chunk_header *header,
				    const struct mt_chunk_ref *ref, bool *known)
{
	bool type_known = header->type >= MT_CHUNK_HEAD && header->type <= MT_CHUNK_FILE;
	bool codec_known = header->codec == MT_CODEC_STORED || header->codec == MT_CODEC_ZSTD ||
			   (header->codec == MT_CODEC_PLANES && header->type == MT_CHUNK_DATA);

	*known = type_known && codec_known;
	if (*known || !chunk_critical(header))
		return NULL;
	return type_known ? refuse_chunk(ref, "codec", header->codec)
			  : refuse_chunk(ref, "type", header->type);
}

static struct mt_error *note_inside(struct mt_scanner *s, const struct mt_chunk_header *header,
				    const struct mt_chunk_ref *ref)
{
	struct mt_recording *recording = &current(s)->recording;

	recording->raw_bytes += header->raw_size;
	note_times(recording, header);
	switch (header->type) {
	case MT_CHUNK_HEAD:
	case MT_CHUNK_STATE:
	case MT_CHUNK_DATA:
	case MT_CHUNK_FILE:
		return list_chunk(s, ref);
	case MT_CHUNK_MARK:
	case MT_CHUNK_END:
		return note_mark_or_end(s, ref);
	default:
		return NULL;
	}
}

/* Handles a chunk with a good header and, as far as known, a complete payload. */
static struct mt_error *note_chunk(struct mt_scanner *s, const struct mt_chunk_header *header,
				   struct mt_chunk_ref *ref)
{
	struct mt_error *err;
	bool known;

	if (header->type == MT_CHUNK_HEAD) {
		err = note_head(s, ref);
		if (err || !s->inside)
			return err;
	} else if (!sequence_check(s, header)) {
		return NULL;
	}
	current(s)->recording.chunks++;
	s->good += MT_CHUNK_HEADER_SIZE + (uint64_t)header->stored_size;
	err = known_check(header, ref, &known);
	if (err)
		return err;
	if (known)
		return note_inside(s, header, ref);
	ref->type = 0; /* no reader knows that type */
	return list_chunk(s, ref);
}

/*
 * Handles a good header whose payload is cut off or fails its checksum. The header may come from a
 * search in the payload of a damaged chunk, where a stack dump may contain a header. So only the
 * next expected sequence number is trusted. Outside of any recording the chunk only counts as
 * skipped bytes.
 */
static void note_damaged(struct mt_scanner *s, const struct mt_chunk_header *header)
{
	current_damage(s)->damaged_chunks += s->inside || header->type == MT_CHUNK_HEAD;
	if (header->type == MT_CHUNK_HEAD) {
		s->inside = false;
	} else if (s->inside) {
		s->damaged_next += header->sequence == s->sequence + s->damaged_next + 1;
		current(s)->recording.chunks++;
	}
}

static struct mt_chunk_ref ref_of(const struct mt_chunk_header *header, uint64_t offset)
{
	return (struct mt_chunk_ref){
		.offset = offset,
		.sequence = header->sequence,
		.first_time = header->first_time,
		.stored_size = header->stored_size,
		.raw_size = header->raw_size,
		.payload_crc = header->payload_crc,
		.stream = header->stream,
		.type = header->type,
		.codec = header->codec,
	};
}

/* One step: reads the chunk at *offset, or searches for the next one after it. */
static struct mt_error *scan_step(struct mt_scanner *s, uint64_t *offset)
{
	struct mt_chunk_header header;
	struct mt_chunk_ref ref;
	struct mt_error *err;
	bool good, whole;

	err = header_read(s, *offset, &header, &good);
	if (err)
		return err;
	if (!good)
		return magic_find(s, *offset + 1, offset);
	err = size_check(s, *offset, &header, &whole);
	if (err)
		return err;
	if (!whole) {
		note_damaged(s, &header);
		return magic_find(s, *offset + MT_CHUNK_HEADER_SIZE, offset);
	}
	ref = ref_of(&header, *offset);
	*offset += MT_CHUNK_HEADER_SIZE + (uint64_t)header.stored_size;
	return note_chunk(s, &header, &ref);
}

static struct mt_error *scan_all(struct mt_scanner *s)
{
	struct mt_error *err = NULL;

	s->size = s->loader->input->size;
	s->check_left = s->size * CHECK_BUDGET;
	while (!err && s->offset < s->size)
		err = scan_step(s, &s->offset);
	recording_close(s, s->size);
	return err;
}

struct mt_scanner *mt_scanner_create(struct mt_loader *loader, size_t memory_limit,
				     struct mt_scan *out)
{
	struct mt_scanner *s = mt_alloc(1, sizeof(*s));

	s->loader = loader;
	s->scan = out;
	s->memory_limit = memory_limit;
	s->window = mt_alloc(SEARCH_SIZE, 2);
	s->check = s->window + SEARCH_SIZE;
	return s;
}

void mt_scanner_destroy(struct mt_scanner *s)
{
	if (!s)
		return;
	free(s->window);
	mt_payload_deinit(&s->payload);
	free(s);
}

bool mt_scanner_complete(const struct mt_scanner *s)
{
	return s->scan->recordings.count && !s->inside;
}

/* Scans as if the file ended after each chunk in turn. */
struct mt_error *mt_scanner_advance(struct mt_scanner *s)
{
	uint64_t size = s->loader->input->size, end = s->offset;
	struct mt_chunk_header header;
	struct mt_error *err = NULL;
	bool good;

	while (!err && !mt_scanner_complete(s) && size - s->offset >= MT_CHUNK_HEADER_SIZE) {
		s->size = s->offset + MT_CHUNK_HEADER_SIZE;
		err = header_read(s, s->offset, &header, &good);
		if (!err && !good)
			err = mt_error_create(MT_ERR_FORMAT,
					      "no chunk begins at byte %llu: it is no recording "
					      "of mtrec, is damaged, or became another file",
					      (unsigned long long)s->offset);
		if (err)
			return err;
		end = s->size + header.stored_size;
		if (end > size)
			break;
		s->size = end;
		err = scan_step(s, &s->offset);
	}
	recording_close(s, s->offset);
	return err;
}

struct mt_error *mt_scan_file(struct mt_loader *loader, size_t memory_limit, struct mt_scan *out)
{
	struct mt_scanner *s = mt_scanner_create(loader, memory_limit, out);
	struct mt_error *err = scan_all(s);

	mt_scanner_destroy(s);
	return err;
}

void mt_scan_deinit(struct mt_scan *scan)
{
	mt_array_deinit(&scan->chunks);
	mt_array_deinit(&scan->files);
	mt_array_deinit(&scan->others);
	mt_array_deinit(&scan->recordings);
}
