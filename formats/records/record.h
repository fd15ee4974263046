/*
 * Our own records, FORMAT.md sections 3 to 8: what each body says, encoding into a block and
 * decoding from bytes. Records that hold the kernel's own are in sample_record.h.
 *
 * Strings in a decoded struct are borrowed views into the record, without a terminator.
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
};

#define MT_RECORD_CRITICAL 0x80000000u
#define MT_EVENT_NONE UINT32_MAX
#define MT_STREAM_NONE UINT32_MAX
#define MT_CLOCK_PERF UINT32_MAX /* HEADER.clock: the kernel's own perf clock */

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
	uint32_t pair;	/* MT_EVENT_NONE: none */
	uint32_t class; /* 0 rare, 1 storm */
	struct mt_text name, alias, unit;
	struct mt_text attr;   /* struct perf_event_attr, verbatim */
	struct mt_text format; /* a tracepoint's format file */
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
};

enum mt_loss_source {
	MT_LOSS_KERNEL = 1, /* PERF_RECORD_LOST */
	MT_LOSS_COUNTS = 2, /* read() against what arrived */
	MT_LOSS_MEMORY = 3, /* the recorder's spool was full */
	MT_LOSS_OUTPUT = 4, /* the file was as large as it may be */
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

/* What a carried image was made to hold. */
#define MT_KEPT_NAMES 1u
#define MT_KEPT_UNWIND 2u
#define MT_KEPT_LINES 4u

/* Of kernel symbols and perf maps, in the same field: the next one goes on where this one ends. */
#define MT_KEPT_CONTINUED 8u
/* ... and this one does not go on, but takes the place of those before it. */
#define MT_KEPT_ANEW 16u
/* Of a skeleton: it has of the code only what addresses in the recording lie in. */
#define MT_KEPT_SEEN 32u

#define MT_FILE_FIELDS_MAX 16384u /* bytes of a FILE's fields in front of its bytes */

struct mt_file_record {
	uint32_t kind;	 /* enum mt_file_kind */
	uint32_t coding; /* enum mt_file_coding */
	uint32_t kept;	 /* MT_KEPT_*: of an image what is left, of texts whether more follows */
	uint32_t part, parts;
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	uint64_t original_size;
	uint64_t size; /* of the whole content */
	int32_t pid;
	struct mt_text path, build_id;
	struct mt_text bytes;
};

/* Of a content larger than that each FILE record has a part. */
#define MT_FILE_PART_SIZE ((64u << 20) - MT_FILE_FIELDS_MAX - 64)

/*
 * Sets part, parts and bytes to that part of the content, file->size bytes; false behind the last
 * one.
 */
bool mt_file_set_part(struct mt_file_record *file, const uint8_t *content, uint32_t part);

/* What the kernel said of a process at some moment. */
struct mt_gauge_record {
	int32_t pid;
	uint64_t start_time;	/* as in a TASK; 0 unknown */
	uint64_t before, after; /* the recording's clock around reading it */
	uint64_t value;
	struct mt_text name;
};

/*
 * Encoders add one record to the block; false where it does not fit (or a string is over 4 GiB),
 * with the block as it was.
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
bool mt_mark_put(struct mt_block *block, const struct mt_mark_record *record);
bool mt_end_put(struct mt_block *block, const struct mt_end_record *record);
bool mt_note_put(struct mt_block *block, const struct mt_note_record *record);
bool mt_file_put(struct mt_block *block, uint64_t time, const struct mt_file_record *record);

/*
 * The same without bytes.bytes, of which the caller passes on bytes.size behind what the block
 * holds then, and zeros up to a multiple of eight of all.
 */
bool mt_file_put_front(struct mt_block *block, uint64_t time, const struct mt_file_record *record);
bool mt_gauge_put(struct mt_block *block, const struct mt_gauge_record *record);
bool mt_reread_put(struct mt_block *block, const struct mt_map_record *record); /* as a MAP */

/*
 * Decoders read a record's body (what follows the 16 header bytes); false for one too short for its
 * fields or one that FORMAT.md calls damaged, with *out undefined.
 */
bool mt_header_get(const uint8_t *body, size_t size, struct mt_header_record *out);
bool mt_info_get(const uint8_t *body, size_t size, struct mt_info_record *out);
bool mt_event_get(const uint8_t *body, size_t size, struct mt_event_record *out);
bool mt_clock_get(const uint8_t *body, size_t size, struct mt_clock_record *out);
bool mt_task_get(const uint8_t *body, size_t size, struct mt_task_record *out);
bool mt_map_get(const uint8_t *body, size_t size, struct mt_map_record *out); /* REREAD, too */
bool mt_image_get(const uint8_t *body, size_t size, struct mt_image_record *out);
bool mt_loss_get(const uint8_t *body, size_t size, struct mt_loss_record *out);
bool mt_weight_get(const uint8_t *body, size_t size, struct mt_weight_record *out);
bool mt_mark_get(const uint8_t *body, size_t size, struct mt_mark_record *out);
bool mt_end_get(const uint8_t *body, size_t size, struct mt_end_record *out);
bool mt_note_get(const uint8_t *body, size_t size, struct mt_note_record *out);
bool mt_file_get(const uint8_t *body, size_t size, struct mt_file_record *out);

/*
 * The fields of a FILE record that stand in front of its bytes, out of the record's beginning: for
 * those who read a large record piece by piece. out->bytes has its size, and bytes NULL.
 */
bool mt_file_get_fields(const uint8_t *body, size_t size, struct mt_file_record *out);
bool mt_gauge_get(const uint8_t *body, size_t size, struct mt_gauge_record *out);

#endif
