/*
 * The jitdump format (jit-PID.dump): a JIT compiler's description of its code for perf, with the
 * time from which each function is valid. A header of 40 bytes is followed by records. In a
 * recording (FORMAT.md section 8) the machine code is left out, and a header may appear between
 * records.
 */
#ifndef MT_FORMATS_RECORDS_JITDUMP_H
#define MT_FORMATS_RECORDS_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_cursor;

#define MT_JITDUMP_MAGIC UINT32_C(0x4A695444)
#define MT_JITDUMP_HEADER_SIZE 40
/* header flag: times are the CPU's time stamp counter, not CLOCK_MONOTONIC */
#define MT_JITDUMP_ARCH_TIME 1
#define MT_JITDUMP_NAME_MAX 4096
#define MT_JITDUMP_CODE_MAX (UINT64_C(1) << 30) /* largest function, in bytes */

enum mt_jitdump_type {
	MT_JITDUMP_LOAD = 0,
	MT_JITDUMP_MOVE = 1,
	MT_JITDUMP_LINES = 2,  /* JIT_CODE_DEBUG_INFO for the next LOAD */
	MT_JITDUMP_CLOSE = 3,  /* the last record */
	MT_JITDUMP_UNWIND = 4, /* JIT_CODE_UNWINDING_INFO for the next LOAD */
	MT_JITDUMP_HEADER,     /* added for mt_jitdump_record: a header */
	MT_JITDUMP_OTHER,      /* added: unknown or malformed */
};

/* The fields that the record's type has; pointers borrow from the bytes. */
struct mt_jitdump_record {
	enum mt_jitdump_type type;
	uint64_t time;
	uint64_t address, size, index; /* LOAD, MOVE; LINES: address */
	uint64_t old_address;	       /* MOVE */
	const char *name;	       /* LOAD; NUL-terminated */
	/* LINES: its entries; UNWIND: .eh_frame, then .eh_frame_hdr */
	const uint8_t *bytes;
	size_t byte_count;
	size_t index_size; /* UNWIND: bytes of .eh_frame_hdr */
	uint64_t flags;	   /* HEADER */
	uint32_t pid;	   /* HEADER */
};

/* Whether a path names a jitdump (.../jit-PID.dump); *pid is the pid in the process's namespace. */
bool mt_jitdump_path(const char *path, size_t size, uint32_t *pid);

/* The next record; false at the end, or at bytes that cannot be a record. */
bool mt_jitdump_next(struct mt_cursor *c, struct mt_jitdump_record *out);

/* One entry of LINES: the line of the code from `address` on. */
struct mt_jitdump_line {
	uint64_t address;
	uint32_t line;
	const char *file; /* NUL-terminated */
};

/*
 * The next entry of LINES; false at the end. Before the call, *out is the previous entry, or all
 * zero.
 */
bool mt_jitdump_next_line(struct mt_cursor *c, struct mt_jitdump_line *out);

/* Reads bytes of the file at `at`; returns how many, less than `size` only at the file's end. */
struct mt_jitdump_input {
	void *context;
	size_t (*read)(void *context, uint64_t at, uint8_t *out, size_t size);
};

/*
 * Copies a file that may still grow, in pieces, without machine code. Set the first two fields and
 * zero the others.
 */
struct mt_jitdump_copy {
	struct mt_jitdump_input input;
	bool unwind, lines; /* copy these records, too */
	uint64_t at;	    /* bytes of the file copied so far */
	uint8_t header[MT_JITDUMP_HEADER_SIZE];
	bool closed;	   /* a CLOSE was read: nothing follows */
	uint64_t left_out; /* records larger than a piece */
};

/*
 * Copies a header and as many whole records before `end` as fit; returns the bytes copied, or 0 if
 * there is no record. A call that leaves copy->at unchanged found no whole record before `end`.
 * Records larger than `room` are left out, so `room` should be at least a few thousand bytes.
 */
size_t mt_jitdump_copy(struct mt_jitdump_copy *copy, uint64_t end, uint8_t *out, size_t room);

#endif
