/*
 * The bytes of a jitdump (jit-PID.dump): what a just-in-time compiler tells perf of its code, each
 * piece with the time from which it holds. A header of 40 bytes, then records. In a recording
 * (FORMAT.md section 8) it stands without the code itself, and a header may stand between records.
 */
#ifndef MT_FORMATS_RECORDS_JITDUMP_H
#define MT_FORMATS_RECORDS_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_cursor;

#define MT_JITDUMP_MAGIC UINT32_C(0x4A695444)
#define MT_JITDUMP_HEADER_SIZE 40
#define MT_JITDUMP_ARCH_TIME 1 /* header flag: times are the processor's, not CLOCK_MONOTONIC's */
#define MT_JITDUMP_NAME_MAX 4096
#define MT_JITDUMP_CODE_MAX (UINT64_C(1) << 30) /* bytes of one function */

enum mt_jitdump_type {
	MT_JITDUMP_LOAD = 0,
	MT_JITDUMP_MOVE = 1,
	MT_JITDUMP_LINES = 2,  /* JIT_CODE_DEBUG_INFO, of the LOAD that follows */
	MT_JITDUMP_CLOSE = 3,  /* nothing follows */
	MT_JITDUMP_UNWIND = 4, /* JIT_CODE_UNWINDING_INFO, of the LOAD that follows */
	MT_JITDUMP_HEADER,     /* this one is ours: a header */
	MT_JITDUMP_OTHER,      /* as is this: of no meaning, or not as it should be */
};

/* A record's fields as far as its type has them; borrowed from the bytes. */
struct mt_jitdump_record {
	enum mt_jitdump_type type;
	uint64_t time;
	uint64_t address, size, index; /* LOAD, MOVE; LINES: address */
	uint64_t old_address;	       /* MOVE */
	const char *name;	       /* LOAD, ended by a NUL */
	const uint8_t *bytes;	       /* LINES: entries; UNWIND: .eh_frame, then its index */
	size_t byte_count;
	size_t index_size; /* UNWIND: of the index */
	uint64_t flags;	   /* HEADER */
	uint32_t pid;	   /* HEADER */
};

/* Whether a file's path names a jitdump: .../jit-PID.dump; *pid as the process has it itself. */
bool mt_jitdump_path(const char *path, size_t size, uint32_t *pid);

/* The next record; false at the end, or where the bytes cannot go on. */
bool mt_jitdump_next(struct mt_cursor *c, struct mt_jitdump_record *out);

/* One line of LINES: the code from `address` on. */
struct mt_jitdump_line {
	uint64_t address;
	uint32_t line;
	const char *file; /* ended by a NUL */
};

/* The next of a record's bytes; *out holds the one before, zeroed at first. */
bool mt_jitdump_next_line(struct mt_cursor *c, struct mt_jitdump_line *out);

/* Where the bytes of a file are read from: gives how many there are, `size` but at its end. */
struct mt_jitdump_input {
	void *context;
	size_t (*read)(void *context, uint64_t at, uint8_t *out, size_t size);
};

/* A copy without the code, in pieces, of a file that may still grow. Zero all but the first two. */
struct mt_jitdump_copy {
	struct mt_jitdump_input input;
	bool unwind, lines; /* these, too */
	uint64_t at;	    /* what of the file is copied */
	uint8_t header[MT_JITDUMP_HEADER_SIZE];
	bool closed;	   /* what follows is nothing */
	uint64_t left_out; /* records that are larger than a piece */
};

/*
 * Copies whole records that stand before `end`, as many as there is room for, behind a header; 0
 * where there are none: once copy->at stays where it is, none in what follows. `room` is some
 * thousands of bytes at least.
 */
size_t mt_jitdump_copy(struct mt_jitdump_copy *copy, uint64_t end, uint8_t *out, size_t room);

#endif
