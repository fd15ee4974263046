/*
 * A scan finds the chunks. Chunks without changes are copied as stored after a checksum test; the
 * others are unpacked, rewritten and packed. Chunk numbers and their gaps are kept, except after
 * added chunks.
 */
#include "formats/rewrite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/chunks/chunk.h"
#include "formats/reader.h"
#include "formats/reading/chunk_scan.h"
#include "formats/reading/input.h"
#include "formats/stacks/sample_record.h"
#include "formats/writer.h"

enum {
	LEVEL = 9,
	LIST_MEMORY = 256 << 20,
};

struct rewriter {
	const struct mt_rewrite *how;
	struct mt_rewrite_counts counts;
	int fd;
	struct mt_input input;
	struct mt_loader loader;
	struct mt_scan scan;
	struct mt_payload payload;
	struct mt_block block;
	uint8_t *stored;
	size_t stored_capacity;
	struct mt_writer *writer; /* writes the current recording */
	uint64_t added;		  /* chunks added to it */
	uint64_t dropped; /* chunks removed from it on purpose, which leave no gap in the numbers */
};

MT_DEFINE_CLEANUP(mt_writer, struct mt_writer)

static void rewriter_deinit(struct rewriter *r)
{
	mt_writer_destroy(r->writer);
	mt_payload_deinit(&r->payload);
	mt_scan_deinit(&r->scan);
	mt_loader_deinit(&r->loader);
	mt_input_deinit(&r->input);
	free(r->block.bytes);
	free(r->stored);
}

/* ---- A chunk without changes ---- */

/* Reads a chunk's header again, and its payload; *good is false if it is damaged. */
static struct mt_error *read_stored(struct rewriter *r, const struct mt_chunk_ref *ref,
				    struct mt_chunk_header *header, bool *good)
{
	uint8_t bytes[MT_CHUNK_HEADER_SIZE];
	struct mt_error *err;
	size_t got;

	if (!mt_array_grow((void **)&r->stored, &r->stored_capacity, (size_t)ref->stored_size + 1,
			   1))
		return mt_error_nomem();
	err = mt_input_read(&r->input, ref->offset, bytes, sizeof(bytes), &got);
	if (err)
		return err;
	*good = got == sizeof(bytes) && mt_chunk_header_decode(bytes, header) &&
		header->stored_size == ref->stored_size;
	if (!*good)
		return NULL;
	err = mt_input_read(&r->input, ref->offset + sizeof(bytes), r->stored, ref->stored_size,
			    &got);
	*good = !err && got == ref->stored_size &&
		mt_crc32c(0, r->stored, got) == header->payload_crc;
	return err;
}

static struct mt_error *copy_chunk(struct rewriter *r, const struct mt_chunk_ref *ref)
{
	struct mt_chunk_header header;
	struct mt_error *err;
	bool good;

	err = read_stored(r, ref, &header, &good);
	if (err)
		return err;
	if (good)
		return mt_writer_write_packed(r->writer, &header, r->stored);
	r->counts.damaged++;
	return NULL;
}

/* ---- A chunk of records ---- */

static bool is_data(const struct mt_record *record)
{
	return record->type >= MT_RECORD_KERNEL && record->type <= MT_RECORD_PACKED;
}

static bool block_reserve(struct mt_block *block, size_t capacity)
{
	return mt_array_grow((void **)&block->bytes, &block->capacity, capacity, 1);
}

/*
 * The record that a PACKED record refers to may have changed, so the PACKED record is encoded
 * again.
 */
static bool put_same(struct mt_block *block, const struct mt_record *record)
{
	const uint8_t *from = record->body - MT_RECORD_HEADER_SIZE;
	size_t size = record->size + MT_RECORD_HEADER_SIZE;
	struct mt_kernel_bytes bytes;
	uint8_t *to;

	if (record->type == MT_RECORD_PACKED)
		return !mt_record_kernel_get(record, &bytes) ||
		       mt_sample_put_plain(block, record->time, &bytes);
	to = mt_block_add(block, record->type, size, record->time);
	if (to)
		memcpy(to, from, size); /* with its critical bit */
	return to;
}

/* Puts one record in its new form; *changed if that differs from the old one. */
static bool put_record(struct rewriter *r, const struct mt_record *record, bool *changed)
{
	bool same = true;

	if (is_data(record) && !r->how->data(r->how->context, record, &r->block, &same))
		return false;
	*changed |= !same;
	return !same || put_same(&r->block, record);
}

/*
 * Puts the records of the payload into the block. A record may grow: frames may take more bytes
 * than a dump that hardly differs from the previous one.
 */
static struct mt_error *put_records(struct rewriter *r, const struct mt_chunk_ref *ref,
				    bool *changed)
{
	struct mt_error *err = NULL;
	struct mt_record record;

	mt_block_reset(&r->block, (enum mt_chunk_type)ref->type, ref->stream);
	for (r->payload.next = 0; !err && !mt_payload_empty(&r->payload); r->payload.next++) {
		mt_payload_get(&r->payload, &record);
		if (ref->type == MT_CHUNK_DATA && !is_data(&record) && r->how->statement)
			err = r->how->statement(r->how->context, &record);
		while (!err && !put_record(r, &record, changed)) {
			size_t more = r->block.capacity * 2;

			if (r->block.capacity < MT_CHUNK_RAW_MAX) {
				if (more > MT_CHUNK_RAW_MAX)
					more = MT_CHUNK_RAW_MAX;
				if (!block_reserve(&r->block, more))
					return mt_error_nomem();
				r->block.capacity = more;
				continue;
			}
			return mt_error_create(MT_ERR_FORMAT,
					       "a chunk would become larger than 64 MiB");
		}
	}
	return err;
}

static struct mt_error *load(struct rewriter *r, const struct mt_chunk_ref *ref,
			     struct mt_damage *damage)
{
	*damage = (struct mt_damage){0};
	return mt_payload_load(&r->payload, &r->loader, ref, false, damage);
}

static struct mt_error *rewrite_records(struct rewriter *r, const struct mt_chunk_ref *ref,
					const struct mt_damage *damage)
{
	bool changed = damage->damaged_records || damage->unknown_records;
	struct mt_error *err;

	if (damage->damaged_chunks || damage->refused_chunks) {
		r->counts.damaged++;
		return NULL;
	}
	r->counts.records_left_out += damage->damaged_records + damage->unknown_records;
	err = put_records(r, ref, &changed);
	if (err)
		return err;
	r->dropped += changed && !r->block.used;
	return changed ? mt_writer_write(r->writer, &r->block, LEVEL) : copy_chunk(r, ref);
}

/* The first record of a MARK chunk defines it, whatever else the chunk contains. */
static struct mt_error *rewrite_mark(struct rewriter *r)
{
	struct mt_record record;

	mt_block_reset(&r->block, MT_CHUNK_MARK, 0);
	r->payload.next = 0;
	if (!mt_payload_empty(&r->payload)) {
		mt_payload_get(&r->payload, &record);
		if (record.type == MT_RECORD_MARK && !put_same(&r->block, &record))
			return mt_error_nomem();
	}
	r->counts.damaged += !r->block.used;
	return mt_writer_write(r->writer, &r->block, 0);
}

static struct mt_error *rewrite_chunk(struct rewriter *r, const struct mt_chunk_ref *ref)
{
	struct mt_damage damage;
	struct mt_error *err = load(r, ref, &damage);

	if (err)
		return err;
	return ref->type >= MT_CHUNK_MARK ? rewrite_mark(r) : rewrite_records(r, ref, &damage);
}

/* ---- One recording ---- */

static struct mt_error *report_statements(struct rewriter *r, const struct mt_scanned *scanned)
{
	struct mt_error *err = NULL;
	struct mt_damage damage;
	struct mt_record record;

	for (size_t i = 0; i < scanned->chunks && !err; i++) {
		const struct mt_chunk_ref *ref = &r->scan.chunks.items[scanned->first_chunk + i];

		if (ref->type == MT_CHUNK_DATA)
			continue;
		err = load(r, ref, &damage);
		for (; !err && !mt_payload_empty(&r->payload); r->payload.next++) {
			mt_payload_get(&r->payload, &record);
			if (!is_data(&record))
				err = r->how->statement(r->how->context, &record);
		}
	}
	return err;
}

/* END has the number of bytes before it. */
static struct mt_error *write_end(struct rewriter *r, const struct mt_recording *recording)
{
	struct mt_end_record end = recording->end;

	end.written = mt_writer_counts(r->writer).written;
	mt_block_reset(&r->block, MT_CHUNK_END, 0);
	if (!mt_end_put(&r->block, &end))
		return mt_error_nomem();
	return mt_writer_write(r->writer, &r->block, 0);
}

/* Lets the callback write additional chunks, if there is one. */
static struct mt_error *add_chunks(struct rewriter *r, size_t recording,
				   struct mt_error *(*add)(void *, size_t, struct mt_writer *))
{
	uint64_t before = mt_writer_counts(r->writer).chunks;
	struct mt_error *err = NULL;

	if (add)
		err = add(r->how->context, recording, r->writer);
	r->added += mt_writer_counts(r->writer).chunks - before;
	return err;
}

static struct mt_error *copy_records(struct rewriter *r, size_t recording,
				     const struct mt_chunk_ref *ref)
{
	struct mt_error *err = r->how->data ? rewrite_chunk(r, ref) : copy_chunk(r, ref);

	if (!err && ref->type == MT_CHUNK_HEAD)
		err = add_chunks(r, recording, r->how->head);
	return err;
}

static struct mt_error *rewrite_one(struct rewriter *r, size_t recording,
				    const struct mt_chunk_ref *ref)
{
	const struct mt_recording *known = &r->scan.recordings.items[recording].recording;
	struct mt_error *err = NULL;

	r->counts.chunks++;
	if (ref->type == MT_CHUNK_END)
		err = add_chunks(r, recording, r->how->finish);
	if (err)
		return err;
	if (!ref->type && r->how->data) { /* the contents are unknown */
		r->dropped++;
		r->counts.unknown++;
		return NULL;
	}
	mt_writer_set_sequence(r->writer, ref->sequence + r->added - r->dropped);
	if (ref->type == MT_CHUNK_END && known->has_end)
		return write_end(r, known);
	if (!ref->raw_size || !ref->type || ref->type == MT_CHUNK_FILE)
		return copy_chunk(r, ref);
	return copy_records(r, recording, ref);
}

/* The lists of a recording's chunks, from the next chunk on. */
struct lists {
	const struct mt_chunk_ref *at[3], *end[3];
};

static const struct mt_chunk_ref *next_ref(struct lists *lists)
{
	int first = -1;

	for (int i = 0; i < 3; i++) {
		if (lists->at[i] < lists->end[i] &&
		    (first < 0 || lists->at[i]->offset < lists->at[first]->offset))
			first = i;
	}
	return first < 0 ? NULL : lists->at[first]++;
}

static struct lists lists_of(const struct mt_scan *scan, const struct mt_scanned *scanned)
{
	const struct mt_chunk_ref *const from[3] = {
		scanned->chunks ? scan->chunks.items + scanned->first_chunk : NULL,
		scanned->files ? scan->files.items + scanned->first_file : NULL,
		scanned->others ? scan->others.items + scanned->first_other : NULL,
	};
	const size_t counts[3] = {scanned->chunks, scanned->files, scanned->others};
	struct lists lists = {0};

	for (int i = 0; i < 3; i++) {
		if (!counts[i])
			continue;
		lists.at[i] = from[i];
		lists.end[i] = from[i] + counts[i];
	}
	return lists;
}

static struct mt_error *rewrite_recording(struct rewriter *r, size_t i)
{
	const struct mt_scanned *scanned = &r->scan.recordings.items[i];
	MT_CLEANUP(mt_writer_destroy_p) struct mt_writer *writer = NULL;
	struct lists lists = lists_of(&r->scan, scanned);
	const struct mt_chunk_ref *ref;
	struct mt_error *err = NULL;
	bool ended = false;

	if (r->how->begin)
		err = r->how->begin(r->how->context, i);
	if (!err && r->how->statement)
		err = report_statements(r, scanned);
	err = err ? err : mt_writer_create(r->fd, MT_CHUNK_RAW_MAX, &writer);
	r->writer = writer;
	r->added = r->dropped = 0;
	while (!err && (ref = next_ref(&lists))) {
		ended |= ref->type == MT_CHUNK_END;
		err = rewrite_one(r, i, ref);
	}
	if (!err && !ended)
		err = add_chunks(r, i, r->how->finish);
	if (writer)
		r->counts.written += mt_writer_counts(writer).written;
	r->writer = NULL;
	return err;
}

static bool is_pipe(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISFIFO(status.st_mode);
}

static struct mt_error *open_input(const char *path, struct rewriter *r)
{
	struct mt_reader *probe = NULL;
	struct mt_error *err;
	bool foreign;

	if (!strcmp(path, "-") || is_pipe(path))
		return mt_error_create(MT_ERR_USAGE, "%s cannot be copied: it is read twice",
				       strcmp(path, "-") ? path : "standard input");
	/* if the file is not a recording, the error names its kind */
	err = mt_reader_open(path, NULL, &probe);
	if (err)
		return err;
	foreign = mt_reader_recording(probe, 0)->foreign;
	mt_reader_destroy(probe);
	if (foreign)
		return mt_error_create(MT_ERR_USAGE,
				       "%s: is perf's: only recordings of mtrec can "
				       "be copied",
				       path);
	err = mt_input_open(path, &r->input);
	return err ? mt_error_context(err, "%s", path) : NULL;
}

struct mt_error *mt_rewrite_file(const char *path, int fd, const struct mt_rewrite *how,
				 struct mt_rewrite_counts *out)
{
	MT_CLEANUP(rewriter_deinit) struct rewriter r = {.how = how, .fd = fd, .input = {.fd = -1}};
	struct mt_error *err = open_input(path, &r);

	if (err)
		return err;
	mt_loader_init(&r.loader, &r.input);
	if (!block_reserve(&r.block, 1 << 20))
		return mt_error_nomem();
	err = mt_scan_file(&r.loader, LIST_MEMORY, &r.scan);
	for (size_t i = 0; !err && i < r.scan.recordings.count; i++)
		err = rewrite_recording(&r, i);
	if (err)
		return err;
	r.counts.read = r.input.size;
	*out = r.counts;
	return NULL;
}
