/*
 * Shared by the files of the perf.data source: the facts that a file states about itself, its
 * records in file order, and their order by time. Private to formats/perfdata/; other code reads
 * perf.data through reader.h.
 *
 * Only mtreport links these files, so they do not check allocations (formats/base/memory.h).
 * Malformed data is left out, so that a file with one damaged feature can still be read.
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
#include "formats/reading/source.h"
#include "formats/records/attr.h"

struct mt_error;
struct mt_input;

enum mt_perf_type { /* perf's own record types (enum perf_user_event_type) */
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
	MT_PERF_USER_LAST = 84, /* the last known type */
};

enum mt_perf_feature_bit { /* HEADER_* of perf's util/header.h */
	MT_PERF_FEATURE_TRACING_DATA = 1,
	MT_PERF_FEATURE_BUILD_ID = 2,
	MT_PERF_FEATURE_HOSTNAME = 3,
	MT_PERF_FEATURE_OSRELEASE = 4,
	MT_PERF_FEATURE_VERSION = 5,
	MT_PERF_FEATURE_ARCH = 6,
	MT_PERF_FEATURE_NRCPUS = 7,
	MT_PERF_FEATURE_CPUDESC = 8,
	MT_PERF_FEATURE_CPUID = 9,
	MT_PERF_FEATURE_TOTAL_MEM = 10,
	MT_PERF_FEATURE_CMDLINE = 11,
	MT_PERF_FEATURE_EVENT_DESC = 12,
	MT_PERF_FEATURE_PMU_MAPPINGS = 16,
	MT_PERF_FEATURE_GROUP_DESC = 17,
	MT_PERF_FEATURE_SAMPLE_TIME = 21,
	MT_PERF_FEATURE_CLOCKID = 23,
	MT_PERF_FEATURE_DIR_FORMAT = 24,
	MT_PERF_FEATURE_COMPRESSED = 27,
	MT_PERF_FEATURE_CLOCK_DATA = 29,
};

/* Layout of struct perf_file_header. */
enum {
	MT_PERF_HEADER_SIZE = 104,
	MT_PERF_OFF_SIZE = 8,
	MT_PERF_OFF_ATTR_SIZE = 16,
	MT_PERF_OFF_ATTRS = 24,
	MT_PERF_OFF_DATA = 40,
	MT_PERF_OFF_TYPES = 56,
	MT_PERF_OFF_FEATURES = 72,
	MT_PERF_SECTION_SIZE = 16,
};

enum {
	MT_PERF_BUILD_ID_SIZE = 20,
	MT_PERF_BUILD_ID_ROOM = 24,	      /* of the id and its padding or size */
	MT_PERF_MISC_BUILD_ID_SIZE = 1 << 15, /* the byte after the id says how long it is */
	MT_PERF_BUILD_ID_PATH_MAX = 4096,
};

#define MT_PERF_TRACING_MAGIC "\x17\x08\x44tracing"

enum {
	MT_PERF_FEATURE_BITS = 256,
	MT_PERF_EVENTS_MAX = 65536,
	MT_PERF_IDS_MAX = 4 << 20,
	MT_PERF_FEATURE_MAX = 64 << 20, /* bytes of one feature */
	MT_PERF_FACTS_MAX = 64 << 20,	/* approximate bytes kept of all features */
	MT_PERF_PLACES_MAX = 16,
};

/* ---- Facts ---- */

struct mt_perf_event {
	struct mt_attr attr;
	uint8_t *bytes; /* the attr's bytes in the file */
	size_t size;
	char *name; /* as in the file; NULL: derived from the attr */
	/*
	 * Offset of id and time in a sample, from its start; in other records, back from their end.
	 * 0: the record has none.
	 */
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

typedef MT_ARRAY(struct mt_perf_number) mt_perf_numbers;

struct mt_perf_format {
	uint64_t id;
	char *name; /* "sched:sched_switch" */
	char *text;
	size_t size;
};

struct mt_perf_facts {
	MT_ARRAY(struct mt_perf_event) events;
	struct mt_map64 event_of_id; /* id -> index in events */
	/* The distinct offsets of ids in samples, and in other records. */
	uint32_t sample_places[MT_PERF_PLACES_MAX], other_places[MT_PERF_PLACES_MAX];
	size_t sample_place_count, other_place_count;
	MT_ARRAY(struct mt_perf_pair) info;
	MT_ARRAY(struct mt_perf_image) images;
	MT_ARRAY(struct mt_perf_format) formats;
	mt_perf_numbers pmus;  /* by attr type */
	mt_perf_numbers types; /* names of tracepoints by config, in old files */
	bool has_times;
	uint64_t first_time, last_time; /* of samples */
	bool has_clock;
	struct mt_clock_record clock;
	uint32_t clock_id;
	char *kernel_symbol; /* the kernel's first symbol and address: "_text ffffffff81000000" */
	bool split;	     /* the samples are in other files of the directory */
	bool limited;	     /* a limit was exceeded */
	size_t kept;	     /* bytes kept; at most MT_PERF_FACTS_MAX */
};

void mt_perf_facts_deinit(struct mt_perf_facts *facts);

/* Counts `size` more bytes; false, and sets `limited`, if that exceeds the limit. */
bool mt_perf_facts_room(struct mt_perf_facts *facts, size_t size);

/* Copies `size` bytes and appends a NUL. */
char *mt_perf_copy(const void *bytes, size_t size);

/*
 * Stores the kernel's load address from the MMAP or MMAP2 record that perf writes for the kernel.
 */
void mt_perf_see_kernel(struct mt_perf_facts *facts, const uint8_t *record, size_t size);

/*
 * Reads a perf_header_string: a u32 length including padding, then that many bytes with a NUL in
 * them.
 */
const char *mt_perf_string(struct mt_cursor *c);

/* Adds an event: the attr's bytes in the file, and its ids, 8 bytes each. */
void mt_perf_add_event(struct mt_perf_facts *facts, const uint8_t *attr, size_t size,
		       const uint8_t *ids, size_t id_count);
void mt_perf_add_info(struct mt_perf_facts *facts, const char *key, const char *value);
void mt_perf_add_number(struct mt_perf_facts *facts, bool pmu, uint64_t number, const char *name);

/* The event with one of the ids, else the event at index; NULL if there is neither. */
struct mt_perf_event *mt_perf_event_by_ids(struct mt_perf_facts *facts, const uint8_t *ids,
					   size_t id_count, size_t index);
void mt_perf_set_name(struct mt_perf_facts *facts, struct mt_perf_event *event, const char *name);

/* ---- Parsers of the parts, which add what they find to the facts ---- */

/* Parses the body of one feature (perfdata_features.c). */
void mt_perf_feature(struct mt_perf_facts *facts, uint32_t feature, const uint8_t *bytes,
		     size_t size);
/* Parses one of perf's own records. `data` is what follows a TRACING_DATA record. */
void mt_perf_user_record(struct mt_perf_facts *facts, const uint8_t *record, size_t size,
			 const uint8_t *data, size_t data_size);

/* Writes perf's name of the event, truncated to `size` (perfdata_names.c). */
void mt_perf_event_name(const struct mt_perf_facts *facts, const struct mt_perf_event *event,
			char *out, size_t size);

/*
 * The location of the records (perfdata_header.c). Reading the header also adds its facts and
 * features.
 */
struct mt_perf_layout {
	bool piped;
	uint64_t begin, end; /* offsets of the records in the file */
	bool cut_short;
};
struct mt_error *mt_perf_header_read(const struct mt_input *input, struct mt_perf_facts *facts,
				     struct mt_perf_layout *out);

/* Converts the facts to STATE records in a block; the caller frees its bytes (perfdata_state.c). */
void mt_perf_state_make(struct mt_perf_facts *facts, struct mt_block *out);

/* ---- Records in file order (perfdata_records.c) ---- */

/*
 * A piece of the file, or of decompressed records, in memory; reference-counted, since queued
 * records point into it.
 */
struct mt_perf_piece {
	struct mt_perf_pool *pool;
	size_t references;
	size_t used;
	struct mt_perf_piece *next; /* in the pool's idle list */
	const uint8_t *bytes;	    /* points into the view or to `own` */
	const void *view;	    /* view_size bytes of the mapped file; NULL: none */
	size_t view_size;
	uint8_t own[] __attribute__((aligned(16))); /* used without a view */
};

struct mt_perf_pool {
	struct mt_perf_piece *idle;
	size_t idle_count, pieces; /* pieces without a view, including idle ones */
	size_t viewed;		   /* bytes of the file that are mapped */
};

#define MT_PERF_PIECE_SIZE ((size_t)512 << 10)

/* Drops a reference; NULL-safe. */
void mt_perf_piece_release(struct mt_perf_piece *piece);

struct mt_perf_record {
	const uint8_t *bytes; /* 8-byte aligned; its size field is `size` */
	size_t size;
	/* the piece that holds the bytes: borrowed until the next record */
	struct mt_perf_piece *piece;
	const uint8_t *data; /* TRACING_DATA: the data after it, until the next record */
	size_t data_size;
};

/* A sequence of bytes to be cut into records. */
struct mt_perf_run {
	struct mt_perf_piece *piece; /* the current piece, or NULL */
	size_t at;		     /* offset in the piece */
};

struct mt_perf_records {
	const struct mt_input *input; /* borrowed */
	struct mt_damage *damage;     /* borrowed */
	struct mt_perf_pool pool;
	uint64_t position, end; /* offset of the next read, and where reading ends */
	/* uncompressed records, and the contents of COMPRESSED ones */
	struct mt_perf_run file, inflated;
	struct ZSTD_DCtx_s *zstd;
	const uint8_t *packed; /* in file.piece: input that zstd has not consumed */
	size_t packed_size;
	bool packed_more;	     /* zstd may have more output without more input */
	struct mt_perf_piece *moved; /* an aligned copy of an unaligned record */
	uint8_t *data;
};

/* Borrows input and damage until deinit. */
void mt_perf_records_init(struct mt_perf_records *records, const struct mt_input *input,
			  struct mt_damage *damage);
void mt_perf_records_deinit(struct mt_perf_records *records);

/*
 * Starts to read the records in [begin, end) of the file; pieces with other references stay valid.
 */
void mt_perf_records_begin(struct mt_perf_records *records, uint64_t begin, uint64_t end);

/*
 * The next record, of the kernel or of perf, decompressed; *more is false at the end. Damaged or
 * truncated data ends the records and is counted.
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
	MT_ARRAY(struct mt_perf_waiting) waiting; /* valid from [next] on; sorted up to [sorted] */
	MT_ARRAY(struct mt_perf_waiting) spare;	  /* second buffer for merging */
	size_t next, sorted;
	uint64_t sequence;
	uint64_t limit;	     /* records up to this time may be taken */
	bool open;	     /* limit is valid */
	uint64_t round_time; /* the latest time at the end of the last round */
	bool round_ended;
	uint64_t last_time; /* the latest time of all records put in */
};

void mt_perf_queue_deinit(struct mt_perf_queue *queue);
/* Drops all queued records. */
void mt_perf_queue_clear(struct mt_perf_queue *queue);

/* Queues a record and takes a reference to its piece. */
void mt_perf_queue_put(struct mt_perf_queue *queue, const struct mt_perf_record *record,
		       uint64_t time, uint32_t event);

/* Ends a round: records up to the end of the previous round may be taken. */
void mt_perf_queue_end_round(struct mt_perf_queue *queue);

/* Allows the earlier half of the queued records, or all of them, to be taken. */
void mt_perf_queue_give_half(struct mt_perf_queue *queue);
void mt_perf_queue_give_all(struct mt_perf_queue *queue);

/* Takes the next record that may be taken, with its reference; false if there is none. */
bool mt_perf_queue_take(struct mt_perf_queue *queue, struct mt_perf_waiting *out);

#endif
