/*
 * The records of a perf.data file in file order, read piece by piece and decompressed. All
 * COMPRESSED records of a file are one zstd stream; a record may begin in one of them and end in
 * the next.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "formats/base/bytes.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/perfdata/perfdata.h"
#include "formats/reading/input.h"

enum {
	RECORD_HEADER = 8,
	RECORD_OFF_SIZE = 6,
	RECORD_MAX = 65535,
	RECORD_LARGE = 4096, /* records from this size on have a dump, mostly of the same size */
	RECORDS_AHEAD = 3,
	HEAD_SIZE = 320,     /* bytes to prefetch: the fields before a dump */
	VIEW_ALIGN = 65536,  /* a multiple of any page size */
	VIEW_SIZE = 8 << 20, /* about */
	VIEW_ENDS = 2 << 20, /* views end at multiples of this, so that huge pages stay whole */
};

/* ---- Pieces ---- */

static struct mt_perf_piece *piece_take(struct mt_perf_pool *pool)
{
	struct mt_perf_piece *piece = pool->idle;

	if (piece) {
		pool->idle = piece->next;
		pool->idle_count--;
	} else {
		piece = mt_alloc(1, sizeof(*piece) + MT_PERF_PIECE_SIZE);
		pool->pieces++;
		piece->pool = pool;
		piece->view = NULL;
		piece->bytes = piece->own;
	}
	piece->references = 1;
	piece->used = 0;
	return piece;
}

/* Maps the file from `at` to at most `end`; NULL if it has to be read instead. */
static struct mt_perf_piece *piece_view(struct mt_perf_pool *pool, const struct mt_input *input,
					uint64_t at, uint64_t end)
{
	uint64_t start = at & ~(uint64_t)(VIEW_ALIGN - 1);
	uint64_t full = (start + VIEW_ALIGN + VIEW_SIZE) & ~(uint64_t)(VIEW_ENDS - 1);
	size_t size = (size_t)((end < full ? end : full) - start);
	struct mt_perf_piece *piece = mt_alloc(1, sizeof(*piece));

	*piece = (struct mt_perf_piece){.pool = pool, .references = 1, .view_size = size};
	piece->view = mt_input_map(input, start, size);
	if (!piece->view) {
		free(piece);
		return NULL;
	}
	piece->bytes = (const uint8_t *)piece->view + (at - start);
	piece->used = size - (size_t)(at - start);
	pool->viewed += size;
	return piece;
}

void mt_perf_piece_release(struct mt_perf_piece *piece)
{
	if (!piece || --piece->references)
		return;
	if (piece->view) {
		mt_input_unmap(piece->view, piece->view_size);
		piece->pool->viewed -= piece->view_size;
		free(piece);
		return;
	}
	piece->next = piece->pool->idle;
	piece->pool->idle = piece;
	piece->pool->idle_count++;
}

static void pool_deinit(struct mt_perf_pool *pool)
{
	while (pool->idle) {
		struct mt_perf_piece *next = pool->idle->next;

		free(pool->idle);
		pool->idle = next;
	}
	pool->idle_count = pool->pieces = 0;
}

/* ---- Runs ---- */

static size_t run_left(const struct mt_perf_run *run)
{
	return run->piece ? run->piece->used - run->at : 0;
}

static void run_end(struct mt_perf_run *run)
{
	mt_perf_piece_release(run->piece);
	*run = (struct mt_perf_run){0};
}

/* Moves the remaining bytes to the start of a new piece. */
static void run_turn(struct mt_perf_run *run, struct mt_perf_pool *pool)
{
	struct mt_perf_piece *piece = piece_take(pool);
	size_t left = run_left(run);

	if (left)
		memcpy(piece->own, run->piece->bytes + run->at, left);
	piece->used = left;
	mt_perf_piece_release(run->piece);
	*run = (struct mt_perf_run){.piece = piece};
}

enum look {
	LOOK_WHOLE,
	LOOK_MORE, /* the record is incomplete */
	LOOK_BAD,
};

static enum look run_look(const struct mt_perf_run *run, size_t *size)
{
	size_t left = run_left(run);

	if (left < RECORD_HEADER)
		return LOOK_MORE;
	*size = mt_get_le16(run->piece->bytes + run->at + RECORD_OFF_SIZE);
	if (*size < RECORD_HEADER)
		return LOOK_BAD;
	return *size <= left ? LOOK_WHOLE : LOOK_MORE;
}

/* ---- The file ---- */

void mt_perf_records_init(struct mt_perf_records *records, const struct mt_input *input,
			  struct mt_damage *damage)
{
	*records = (struct mt_perf_records){.input = input, .damage = damage};
}

static void records_clear(struct mt_perf_records *records)
{
	run_end(&records->file);
	run_end(&records->inflated);
	mt_perf_piece_release(records->moved);
	records->moved = NULL;
	records->packed_size = 0;
	records->packed_more = false;
	free(records->data);
	records->data = NULL;
}

void mt_perf_records_deinit(struct mt_perf_records *records)
{
	records_clear(records);
	ZSTD_freeDCtx(records->zstd);
	records->zstd = NULL;
	pool_deinit(&records->pool);
}

void mt_perf_records_begin(struct mt_perf_records *records, uint64_t begin, uint64_t end)
{
	records_clear(records);
	records->position = begin;
	records->end = end;
	if (records->zstd)
		ZSTD_DCtx_reset(records->zstd, ZSTD_reset_session_only);
}

/* Maps the next view, which begins with the remaining bytes of a record; false if that fails. */
static bool file_view(struct mt_perf_records *records)
{
	uint64_t at = records->position - run_left(&records->file);
	struct mt_perf_piece *piece = piece_view(&records->pool, records->input, at, records->end);

	if (!piece)
		return false;
	run_end(&records->file);
	records->file.piece = piece;
	records->position = at + piece->used;
	return true;
}

/* Reads more bytes; *more is false at the end of the data. */
static struct mt_error *file_fill(struct mt_perf_records *records, bool *more)
{
	uint64_t left = records->end - records->position;
	struct mt_perf_piece *piece;
	struct mt_error *err;
	size_t room, got;

	*more = left && file_view(records);
	if (!left || *more)
		return NULL;
	run_turn(&records->file, &records->pool);
	piece = records->file.piece;
	room = MT_PERF_PIECE_SIZE - piece->used;
	err = mt_input_read(records->input, records->position, piece->own + piece->used,
			    left < room ? (size_t)left : room, &got);
	if (err)
		return err;
	piece->used += got;
	records->position = got ? records->position + got : records->end;
	*more = got;
	return NULL;
}

/* Skips n bytes, which may reach past the bytes read so far. */
static void file_skip(struct mt_perf_records *records, uint64_t n)
{
	size_t left = run_left(&records->file);

	if (n <= left) {
		records->file.at += n;
		return;
	}
	n -= left;
	records->file.at += left;
	if (n > records->end - records->position) {
		records->damage->cut_short = true;
		records->position = records->end;
		return;
	}
	records->position += n;
}

/* The size of the data after a TRACING_DATA record, which the record's own size excludes. */
static struct mt_error *file_data(struct mt_perf_records *records, uint64_t size,
				  struct mt_perf_record *out)
{
	uint64_t at = records->position - run_left(&records->file);
	struct mt_error *err;

	free(records->data);
	records->data = NULL;
	if (size && size <= records->end - at && size <= MT_PERF_FEATURE_MAX) {
		records->data = mt_alloc(size, 1);
		err = mt_input_read(records->input, at, records->data, size, &out->data_size);
		if (err)
			return err;
		out->data = records->data;
	}
	file_skip(records, size);
	return NULL;
}

/* Ends reading when the next record cannot be located any more. */
static void file_stop(struct mt_perf_records *records, bool damaged)
{
	uint64_t left = records->end - records->position + run_left(&records->file);

	records->damage->damaged_records += damaged;
	records->damage->cut_short |= !damaged && left;
	records->damage->skipped_bytes += left;
	records->position = records->end;
	run_end(&records->file);
}

/* ---- COMPRESSED ---- */

/* Finds the packed bytes of a COMPRESSED record; false if it is of another type. */
static bool unpack_begin(struct mt_perf_records *records, const struct mt_perf_record *record)
{
	uint32_t type = mt_get_le32(record->bytes);
	struct mt_cursor c = mt_cursor_init(record->bytes, record->size);
	size_t size;

	if (type != MT_PERF_COMPRESSED && type != MT_PERF_COMPRESSED2)
		return false;
	mt_cursor_bytes(&c, RECORD_HEADER);
	size = type == MT_PERF_COMPRESSED2 ? mt_cursor_u64(&c) : mt_cursor_left(&c);
	records->packed = mt_cursor_bytes(&c, size);
	records->packed_size = records->packed ? size : 0;
	records->damage->damaged_records += !records->packed;
	return true;
}

/* Ends the stream after an error: nothing more of it can be read. */
static void unpack_fail(struct mt_perf_records *records)
{
	records->damage->damaged_records++;
	records->packed_size = 0;
	records->packed_more = false;
	run_end(&records->inflated);
	ZSTD_DCtx_reset(records->zstd, ZSTD_reset_session_only);
}

/* Unpacks one more piece. */
static void unpack_more(struct mt_perf_records *records)
{
	struct mt_perf_run *run = &records->inflated;
	ZSTD_inBuffer in = {records->packed, records->packed_size, 0};
	ZSTD_outBuffer out;

	if (!records->zstd)
		records->zstd = ZSTD_createDCtx();
	if (!records->zstd)
		mt_memory_failed();
	if (!run->piece || MT_PERF_PIECE_SIZE - run->piece->used < RECORD_MAX)
		run_turn(run, &records->pool);
	out = (ZSTD_outBuffer){run->piece->own, MT_PERF_PIECE_SIZE, run->piece->used};
	if (ZSTD_isError(ZSTD_decompressStream(records->zstd, &out, &in))) {
		unpack_fail(records);
		return;
	}
	records->packed += in.pos;
	records->packed_size -= in.pos;
	/* zstd only keeps output back if there was no room for it */
	records->packed_more = out.pos == out.size;
	if (!in.pos && out.pos == run->piece->used && records->packed_size)
		unpack_fail(records); /* no progress */
	else
		run->piece->used = out.pos;
}

/* ---- Records ---- */

/* Prefetches the start of a later record: the processor does not prefetch past a record's dump. */
static void expect_later(const uint8_t *record, size_t size)
{
	const uint8_t *later = record + size * (size < RECORD_LARGE ? 1 : RECORDS_AHEAD);

	for (size_t i = 0; i < HEAD_SIZE; i += 64)
		__builtin_prefetch(later + i);
}

/* The current record, copied to aligned memory if necessary. */
static void record_take(struct mt_perf_records *records, struct mt_perf_run *run, size_t size,
			struct mt_perf_record *out)
{
	const uint8_t *bytes = run->piece->bytes + run->at;
	struct mt_perf_piece *moved = records->moved;

	*out = (struct mt_perf_record){.bytes = bytes, .size = size, .piece = run->piece};
	run->at += size;
	expect_later(bytes, size);
	if ((uintptr_t)bytes % 8 == 0)
		return;
	if (!moved || MT_PERF_PIECE_SIZE - moved->used < size) {
		mt_perf_piece_release(moved);
		moved = records->moved = piece_take(&records->pool);
	}
	out->bytes = memcpy(moved->own + moved->used, bytes, size);
	out->piece = moved;
	moved->used += mt_align8(size);
	if (moved->used > MT_PERF_PIECE_SIZE)
		moved->used = MT_PERF_PIECE_SIZE;
}

/* The next record out of COMPRESSED records; false if those read so far have no other. */
static bool inflated_next(struct mt_perf_records *records, struct mt_perf_record *out)
{
	size_t size = 0;
	enum look look;

	while ((look = run_look(&records->inflated, &size)) == LOOK_MORE) {
		if (!records->packed_size && !records->packed_more)
			return false;
		unpack_more(records);
	}
	if (look == LOOK_BAD)
		unpack_fail(records);
	else
		record_take(records, &records->inflated, size, out);
	return look != LOOK_BAD;
}

/* The next record that is stored uncompressed. */
static struct mt_error *file_next(struct mt_perf_records *records, struct mt_perf_record *out,
				  bool *more)
{
	struct mt_error *err = NULL;
	size_t size = 0;
	enum look look;

	*more = true;
	while ((look = run_look(&records->file, &size)) == LOOK_MORE && *more && !err)
		err = file_fill(records, more);
	if (err)
		return err;
	*more = look == LOOK_WHOLE;
	if (*more)
		record_take(records, &records->file, size, out);
	else
		file_stop(records, look == LOOK_BAD);
	return NULL;
}

/* Skips the data that follows a record beyond its size, as for AUXTRACE. */
static struct mt_error *take_after(struct mt_perf_records *records, struct mt_perf_record *record)
{
	uint32_t type = mt_get_le32(record->bytes);

	if (type == MT_PERF_TRACING_DATA && record->size >= 12)
		return file_data(records, mt_get_le32(record->bytes + 8), record);
	if (type == MT_PERF_AUXTRACE && record->size >= 16)
		file_skip(records, mt_get_le64(record->bytes + 8));
	return NULL;
}

struct mt_error *mt_perf_records_next(struct mt_perf_records *records, struct mt_perf_record *out,
				      bool *more)
{
	struct mt_error *err;

	for (;;) {
		*more = inflated_next(records, out);
		if (*more)
			return NULL;
		err = file_next(records, out, more);
		if (err || !*more)
			return err;
		if (!unpack_begin(records, out))
			return take_after(records, out);
	}
}
