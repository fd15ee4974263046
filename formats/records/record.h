/*
 * The recording's own records (FORMAT.md sections 3 to 8): their fields, encoding into a block,
 * decoding from bytes. sample_record.h has the records that contain a kernel record.
 *
 * Strings in a decoded struct are views into the record and are not NUL-terminated.
 */
#ifndef MT_FORMATS_RECORDS_RECORD_H
#define MT_FORMATS_RECORDS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_block;

enum mt_record_type {
	MT_RECORD_HEADER = 1,
	MT_RECORD_INFO = 2,
	MT_RECORD_EVENT = 3,
	MT_RECORD_CLOCK = 4,
	MT_RECORD_TASK = 5,
	MT_RECORD_MAP = 6,
	MT_RECORD_IMAGE = 7,
	MT_RECORD_LOSS = 8,
	MT_RECORD_WEIGHT = 9,
	MT_RECORD_MARK = 10,
	MT_RECORD_END = 11,
	MT_RECORD_NOTE = 12,
	MT_RECORD_FILE = 13,
	MT_RECORD_GAUGE = 14,
	MT_RECORD_REREAD = 15,
	MT_RECORD_KERNEL = 16,
	MT_RECORD_SAMPLE = 17,
	MT_RECORD_FRAMES = 18,
	MT_RECORD_PACKED = 19,
	MT_RECORD_BLOCKS = 20,
};

#define MT_RECORD_CRITICAL 0x80000000u
#define MT_EVENT_NONE UINT32_MAX
#define MT_STREAM_NONE UINT32_MAX
#define MT_CLOCK_PERF UINT32_MAX /* HEADER.clock: perf's default clock */

struct mt_text {
	const char *bytes;
	size_t size;
};

struct mt_header_record {
	uint16_t major, minor;
	uint32_t clock;
	uint8_t id[16];
};

struct mt_info_record {
	struct mt_text key, value;
};

enum mt_event_role {
	MT_ROLE_SAMPLE = 0,
	MT_ROLE_MARK = 1,
	MT_ROLE_SIDEBAND = 2,
	MT_ROLE_SEED = 3,
	MT_ROLE_MEMBER = 4,
};

struct mt_event_record {
	uint32_t index;
	uint32_t role;	/* enum mt_event_role */
	uint32_t pair;	/* index of the paired event; MT_EVENT_NONE: none */
	uint32_t class; /* 0 rare, 1 storm */
	struct mt_text name, alias, unit;
	struct mt_text attr;	/* struct perf_event_attr, verbatim */
	struct mt_text format;	/* the tracepoint's format file */
	struct mt_text account; /* what its call does with a block; empty: nothing */
};

struct mt_clock_record {
	uint64_t recording, monotonic, realtime, boottime;
};

struct mt_task_record {
	int32_t pid, tid, ppid;
	uint32_t uid;
	uint64_t start_time;
	struct mt_text comm, exe, cmdline, cgroup, nspid;
};

struct mt_map_record {
	int32_t pid;
	uint32_t prot, flags;
	uint32_t major, minor;
	uint64_t inode;
	uint64_t start, end, offset;
	uint64_t before, after;
	struct mt_text path;
};

struct mt_image_record {
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	uint64_t size;
	struct mt_text path, build_id, problem;
	/* name of the file in that folder when its first process started; empty: as in path */
	struct mt_text started;
};

enum mt_loss_source {
	MT_LOSS_KERNEL = 1, /* PERF_RECORD_LOST */
	MT_LOSS_COUNTS = 2, /* the event's read() count minus the samples that arrived */
	MT_LOSS_MEMORY = 3, /* the recorder's spool was full */
	MT_LOSS_OUTPUT = 4, /* the recording's size limit was reached */
};

struct mt_loss_record {
	uint32_t stream, event;
	uint64_t from, to, count;
	uint32_t source;
};

struct mt_weight_record {
	uint32_t event;
	uint64_t numerator, denominator;
};

/* From a time on, 1 in one_in allocator blocks is recorded; 0: none. */
struct mt_blocks_record {
	uint64_t from;
	uint32_t one_in;
};

struct mt_mark_record {
	uint64_t complete_below, samples, lost;
};

struct mt_end_record {
	uint64_t start, end;
	uint64_t samples, lost, raw_bytes, written;
	uint32_t command_end; /* 0 none, 1 exited, 2 killed */
	uint32_t command_status;
};

struct mt_note_record {
	uint32_t level; /* 0 info, 1 warning */
	struct mt_text text;
};

enum mt_file_kind {
	MT_FILE_SKELETON = 1,
	MT_FILE_VDSO = 2,
	MT_FILE_KERNEL_SYMBOLS = 3,
	MT_FILE_PERF_MAP = 4,
	MT_FILE_JITDUMP = 5,
	MT_FILE_CODE = 6,
};

enum mt_file_coding {
	MT_FILE_PLAIN = 0,
};

/* mt_file_record.kept of an image: the data that is carried. */
#define MT_KEPT_NAMES 1u
#define MT_KEPT_UNWIND 2u
#define MT_KEPT_LINES 4u

/*
 * mt_file_record.kept of kernel symbols, perf maps and jitdumps: another piece continues this one.
 */
#define MT_KEPT_CONTINUED 8u
/* mt_file_record.kept of the same kinds: this piece replaces the earlier ones. */
#define MT_KEPT_ANEW 16u
/*
 * mt_file_record.kept of a skeleton: reduced to functions that the recording's stacks can pass
 * through.
 */
#define MT_KEPT_SEEN 32u

#define MT_FILE_FIELDS_MAX 16384u /* bytes of a FILE's fields before its content */

struct mt_file_record {
	uint32_t kind;	 /* enum mt_file_kind */
	uint32_t coding; /* enum mt_file_coding */
	uint32_t kept;	 /* MT_KEPT_* */
	uint32_t part, parts;
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	uint64_t original_size;
	uint64_t size; /* bytes of the whole content, all parts */
	int32_t pid;
	struct mt_text path, build_id;
	struct mt_text bytes;
};

/* A figure that the kernel reported for a process at some time. */
struct mt_gauge_record {
	int32_t pid;
	uint64_t start_time;	/* as in a TASK; 0: unknown */
	uint64_t before, after; /* the recording's clock before and after the read */
	uint64_t value;
	struct mt_text name;
};

/*
 * Encoders append one record to the block. False, with the block unchanged, if the record does not
 * fit or a string is over 4 GiB.
 */
bool mt_header_put(struct mt_block *block, const struct mt_header_record *record);
bool mt_info_put(struct mt_block *block, const struct mt_info_record *record);
bool mt_event_put(struct mt_block *block, const struct mt_event_record *record);
bool mt_clock_put(struct mt_block *block, const struct mt_clock_record *record);
bool mt_task_put(struct mt_block *block, const struct mt_task_record *record);
bool mt_map_put(struct mt_block *block, const struct mt_map_record *record);
bool mt_image_put(struct mt_block *block, const struct mt_image_record *record);
bool mt_loss_put(struct mt_block *block, const struct mt_loss_record *record);
bool mt_weight_put(struct mt_block *block, uint64_t time, const struct mt_weight_record *record);
bool mt_blocks_put(struct mt_block *block, const struct mt_blocks_record *record);
bool mt_mark_put(struct mt_block *block, const struct mt_mark_record *record);
bool mt_end_put(struct mt_block *block, const struct mt_end_record *record);
bool mt_note_put(struct mt_block *block, const struct mt_note_record *record);
bool mt_file_put(struct mt_block *block, uint64_t time, const struct mt_file_record *record);

/*
 * mt_file_put() without the content: the caller writes bytes.size bytes after the block, and zeros
 * up to a total that is a multiple of eight.
 */
bool mt_file_put_front(struct mt_block *block, uint64_t time, const struct mt_file_record *record);
bool mt_gauge_put(struct mt_block *block, const struct mt_gauge_record *record);
/* fields of a MAP */
bool mt_reread_put(struct mt_block *block, const struct mt_map_record *record);

/*
 * Decoders read a record's body (the bytes after its 16-byte header). False, with *out undefined,
 * if the body is too short for its fields or damaged by FORMAT.md's rules.
 */
bool mt_header_get(const uint8_t *body, size_t size, struct mt_header_record *out);
bool mt_info_get(const uint8_t *body, size_t size, struct mt_info_record *out);
bool mt_event_get(const uint8_t *body, size_t size, struct mt_event_record *out);
bool mt_clock_get(const uint8_t *body, size_t size, struct mt_clock_record *out);
bool mt_task_get(const uint8_t *body, size_t size, struct mt_task_record *out);
bool mt_map_get(const uint8_t *body, size_t size, struct mt_map_record *out); /* also of a REREAD */
bool mt_image_get(const uint8_t *body, size_t size, struct mt_image_record *out);
bool mt_loss_get(const uint8_t *body, size_t size, struct mt_loss_record *out);
bool mt_weight_get(const uint8_t *body, size_t size, struct mt_weight_record *out);
bool mt_blocks_get(const uint8_t *body, size_t size, struct mt_blocks_record *out);
bool mt_mark_get(const uint8_t *body, size_t size, struct mt_mark_record *out);
bool mt_end_get(const uint8_t *body, size_t size, struct mt_end_record *out);
bool mt_note_get(const uint8_t *body, size_t size, struct mt_note_record *out);
bool mt_file_get(const uint8_t *body, size_t size, struct mt_file_record *out);

/*
 * Decodes the fields before the content from a FILE record's first bytes, to read a large record
 * piece by piece. out->bytes has the size of the content, and NULL for its bytes.
 */
bool mt_file_get_fields(const uint8_t *body, size_t size, struct mt_file_record *out);
bool mt_gauge_get(const uint8_t *body, size_t size, struct mt_gauge_record *out);

#endif
