/*
 * What the files of the perf.data source share: the facts that a file tells about itself, its
 * records as they stand in it, and their order. Private to formats/perfdata/perfdata*.c; others see
 * a perf.data file through reader.h.
 *
 * Functions that return bool return false out of memory, unless they say otherwise. Bytes that make
 * no sense are left out, so that one odd feature does not cost the file.
 */
#ifndef MT_FORMATS_PERFDATA_PERFDATA_H
#define MT_FORMATS_PERFDATA_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/base/cursor.h"
#include "formats/base/map64.h"
#include "formats/chunks/chunk.h"
#include "formats/reader.h"
#include "formats/records/attr.h"

struct mt_error;
struct mt_input;

enum mt_perf_type { /* of perf's own records (enum perf_user_event_type) */
	MT_PERF_USER_FIRST = 64,
	MT_PERF_HEADER_ATTR = 64,
	MT_PERF_EVENT_TYPE = 65,
	MT_PERF_TRACING_DATA = 66,
	MT_PERF_BUILD_ID = 67,
	MT_PERF_FINISHED_ROUND = 68,
	MT_PERF_AUXTRACE = 71,
	MT_PERF_EVENT_UPDATE = 78,
	MT_PERF_FEATURE = 80,
	MT_PERF_COMPRESSED = 81,
	MT_PERF_COMPRESSED2 = 83,
	MT_PERF_USER_LAST = 84, /* the last one known here */
};

enum {
	MT_PERF_FEATURE_BITS = 256,
	MT_PERF_EVENTS_MAX = 65536,
	MT_PERF_IDS_MAX = 4 << 20,
	MT_PERF_FEATURE_MAX = 64 << 20, /* bytes of one feature */
	MT_PERF_FACTS_MAX = 64 << 20,	/* bytes kept of all of them, about */
	MT_PERF_PLACES_MAX = 16,
};

/* ---- Facts ---- */

struct mt_perf_event {
	struct mt_attr attr;
	uint8_t *bytes; /* the attr as it stands in the file */
	size_t size;
	char *name; /* as the file has it; NULL: to be made from the attr */
	/* Where a record has id and time: bytes from its start, or back from its end; 0 nowhere. */
	uint32_t sample_id_at, sample_time_at;
	uint32_t other_id_at, other_time_at;
};

struct mt_perf_pair {
	char *key, *value;
};

struct mt_perf_image {
	char *path;
	uint8_t build_id[20];
	uint8_t build_id_size;
};

struct mt_perf_number {
	uint64_t number;
	char *name;
};

struct mt_perf_format {
	uint64_t id;
	char *name; /* "sched:sched_switch" */
	char *text;
	size_t size;
};

struct mt_perf_facts {
	MT_ARRAY(struct mt_perf_event) events;
	struct mt_map64 event_of_id; /* index in events */
	/* the distinct places of ids in samples, and in other records */
	uint32_t sample_places[MT_PERF_PLACES_MAX], other_places[MT_PERF_PLACES_MAX];
	size_t sample_place_count, other_place_count;
	MT_ARRAY(struct mt_perf_pair) info;
	MT_ARRAY(struct mt_perf_image) images;
	MT_ARRAY(struct mt_perf_format) formats;
	MT_ARRAY(struct mt_perf_number) pmus;  /* by attr type */
	MT_ARRAY(struct mt_perf_number) types; /* tracepoints by config, of old files */
	bool has_times;
	uint64_t first_time, last_time; /* of samples */
	bool has_clock;
	struct mt_clock_record clock;
	uint32_t clock_id;
	char *kernel_symbol; /* the kernel's first one and its address, "_text ffffffff81000000" */
	bool split;	     /* its samples lie in other files beside it */
	bool limited;	     /* more than is kept */
	size_t kept;	     /* bytes, against MT_PERF_FACTS_MAX */
};

void mt_perf_facts_deinit(struct mt_perf_facts *facts);

/* False where `size` more bytes would be over the limit, which is noted. */
bool mt_perf_facts_room(struct mt_perf_facts *facts, size_t size);

/* A copy of `size` bytes with a NUL behind; NULL out of memory. */
char *mt_perf_copy(const void *bytes, size_t size);

/* Takes where the kernel was loaded from the MMAP or MMAP2 record that perf makes of it. */
bool mt_perf_see_kernel(struct mt_perf_facts *facts, const uint8_t *record, size_t size);

/* A perf_header_string: a u32 length, padding counted, and as many bytes with a NUL among them. */
const char *mt_perf_string(struct mt_cursor *c);

/* Adds an attr (bytes of it as they stand) with its ids, 8 bytes each. */
bool mt_perf_add_event(struct mt_perf_facts *facts, const uint8_t *attr, size_t size,
		       const uint8_t *ids, size_t id_count);
bool mt_perf_add_info(struct mt_perf_facts *facts, const char *key, const char *value);
bool mt_perf_add_number(struct mt_perf_facts *facts, bool pmu, uint64_t number, const char *name);

/* The event with one of these ids, or the one at that index; NULL for neither. */
struct mt_perf_event *mt_perf_event_by_ids(struct mt_perf_facts *facts, const uint8_t *ids,
					   size_t id_count, size_t index);
bool mt_perf_set_name(struct mt_perf_facts *facts, struct mt_perf_event *event, const char *name);

/* ---- Parsers of the parts: each adds to the facts what it finds ---- */

/* perfdata_features.c: the body of one feature. */
bool mt_perf_feature(struct mt_perf_facts *facts, uint32_t feature, const uint8_t *bytes,
		     size_t size);
/* A BUILD_ID record, header included; quirk: written by a perf that left out the pid. */
bool mt_perf_build_id(struct mt_perf_facts *facts, const uint8_t *record, size_t size, bool quirk);

/* perfdata_tracing.c: TRACING_DATA, a trace.dat header; keeps the formats of the events' ids. */
bool mt_perf_tracing(struct mt_perf_facts *facts, const uint8_t *bytes, size_t size);

/* perfdata_pipe.c: one of perf's own records, whole, and for TRACING_DATA the data behind it. */
bool mt_perf_user_record(struct mt_perf_facts *facts, const uint8_t *record, size_t size,
			 const uint8_t *data, size_t data_size);

/* perfdata_names.c: perf's name for the event; never fails but for a cut at `size`. */
void mt_perf_event_name(const struct mt_perf_facts *facts, const struct mt_perf_event *event,
			char *out, size_t size);

/* perfdata_header.c: where the data are, and the facts of a file's header and features. */
struct mt_perf_layout {
	bool piped;
	uint64_t begin, end; /* of the records */
	bool cut_short;
};
struct mt_error *mt_perf_header_read(const struct mt_input *input, struct mt_perf_facts *facts,
				     struct mt_perf_layout *out);

/* perfdata_state.c: the facts as records of ours in a block whose bytes the caller frees. */
bool mt_perf_state_make(struct mt_perf_facts *facts, struct mt_block *out);

/* ---- Records as they stand in the file (perfdata_records.c) ---- */

/*
 * A piece of the file, or of what its compressed records hold, in memory; counted, since records
 * that wait for their turn lie in it.
 */
struct mt_perf_piece {
	struct mt_perf_pool *pool;
	size_t references;
	size_t used;
	struct mt_perf_piece *next; /* among the idle */
	const uint8_t *bytes;	    /* in the view, or `own` */
	const void *view;	    /* of the file: view_size bytes; NULL without */
	size_t view_size;
	uint8_t own[] __attribute__((aligned(16))); /* without a view */
};

struct mt_perf_pool {
	struct mt_perf_piece *idle;
	size_t idle_count, pieces; /* without a view, idle ones included */
	size_t viewed;		   /* bytes of the file */
};

#define MT_PERF_PIECE_SIZE ((size_t)512 << 10)

/* Gives a reference back; NULL-safe. */
void mt_perf_piece_release(struct mt_perf_piece *piece);

struct mt_perf_record {
	const uint8_t *bytes; /* 8-byte aligned; its size field is `size` */
	size_t size;
	struct mt_perf_piece *piece; /* which it lies in: borrowed until the next record */
	const uint8_t *data;	     /* TRACING_DATA: what follows it; until the next record */
	size_t data_size;
};

/* A run of bytes cut into records. */
struct mt_perf_run {
	struct mt_perf_piece *piece; /* the present one, or NULL */
	size_t at;		     /* in it */
};

struct mt_perf_records {
	const struct mt_input *input; /* borrowed */
	struct mt_damage *damage;     /* borrowed */
	struct mt_perf_pool pool;
	uint64_t position, end;		   /* what is to be read next, and to where */
	struct mt_perf_run file, inflated; /* records as they stand, and out of COMPRESSED ones */
	struct ZSTD_DCtx_s *zstd;
	const uint8_t *packed; /* in file.piece: what zstd has not yet taken */
	size_t packed_size;
	bool packed_more;	     /* zstd may have more to give without more input */
	struct mt_perf_piece *moved; /* a copy of a record that was not aligned */
	uint8_t *data;
};

/* Borrows input and damage until deinit. */
void mt_perf_records_init(struct mt_perf_records *records, const struct mt_input *input,
			  struct mt_damage *damage);
void mt_perf_records_deinit(struct mt_perf_records *records);

/* Begins at [begin, end) of the file; pieces that others hold stay theirs. */
void mt_perf_records_begin(struct mt_perf_records *records, uint64_t begin, uint64_t end);

/*
 * The next record, of the kernel or of perf, compressed ones unpacked; *more false at the end. What
 * is damaged or cut off ends the records, and is counted.
 */
struct mt_error *mt_perf_records_next(struct mt_perf_records *records, struct mt_perf_record *out,
				      bool *more);

/* ---- Order (perfdata_queue.c) ---- */

struct mt_perf_waiting {
	uint64_t time, sequence;
	const uint8_t *bytes;
	struct mt_perf_piece *piece; /* holds a reference */
	uint32_t size, event;
};

struct mt_perf_queue {
	MT_ARRAY(struct mt_perf_waiting) waiting; /* from `next` on; sorted up to `sorted` */
	MT_ARRAY(struct mt_perf_waiting) spare;	  /* for merging */
	size_t next, sorted;
	uint64_t sequence;
	uint64_t limit;	     /* records up to this time may be given */
	bool open;	     /* limit holds */
	uint64_t round_time; /* the latest time when the last round ended */
	bool round_ended;
	uint64_t last_time; /* of all that was put in */
};

void mt_perf_queue_deinit(struct mt_perf_queue *queue);
/* Drops what waits. */
void mt_perf_queue_clear(struct mt_perf_queue *queue);

/* Takes a reference to the record's piece. */
bool mt_perf_queue_put(struct mt_perf_queue *queue, const struct mt_perf_record *record,
		       uint64_t time, uint32_t event);

/* A round has ended: what was before the one before it may go. */
bool mt_perf_queue_end_round(struct mt_perf_queue *queue);

/* The half with the earlier times may go; or all of it. */
bool mt_perf_queue_give_half(struct mt_perf_queue *queue);
bool mt_perf_queue_give_all(struct mt_perf_queue *queue);

/* The next that may go, with its reference; false where there is none. */
bool mt_perf_queue_take(struct mt_perf_queue *queue, struct mt_perf_waiting *out);

#endif
