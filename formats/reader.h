/*
 * Reads a recording of mtrec or a perf.data file: finds the intact chunks, reports missing and
 * damaged data, and returns the records of each recording in the file. First come all STATE records
 * in file order, then the DATA records of all streams merged by time, in bounded memory.
 *
 * A perf.data file is returned in the same form: its header and features as INFO, EVENT, CLOCK,
 * IMAGE and NOTE records, its kernel records as KERNEL (see struct mt_record.bare). It counts as
 * ended in order unless it was cut short. Folded stacks are returned as kernel records, too, with
 * the names of each sample's frames (mt_record.reported).
 *
 * Truncated or damaged input is data (struct mt_damage), not an error. Errors are for files that
 * cannot be read at all: no such file, not a recording, an unknown version or critical chunk, out
 * of memory.
 */
#ifndef MT_FORMATS_READER_H
#define MT_FORMATS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/records/record.h"

struct mt_carried;
struct mt_error;
struct mt_input;
struct mt_kernel_bytes;
struct mt_pool;
struct mt_reader;

struct mt_damage {
	uint64_t skipped_bytes;	  /* of the file, in no intact chunk */
	uint64_t damaged_chunks;  /* intact header, damaged payload */
	uint64_t missing_chunks;  /* gaps in the sequence numbers */
	uint64_t stray_chunks;	  /* of no recording: HEAD is missing, or they follow an END */
	uint64_t refused_chunks;  /* with an unknown critical record */
	uint64_t damaged_records; /* chunks skipped from a malformed record on */
	uint64_t unknown_records; /* skipped records of a later minor version */
	uint64_t disordered;	  /* records returned after one with a later time */
	bool cut_short;		  /* no END chunk */
};

struct mt_recording {
	const char *foreign; /* "perf.data", "folded stacks"; NULL: of mtrec, and has header */
	bool reported; /* samples name their frames (mt_record.reported) and have no addresses */
	bool pairs;    /* folded stacks with two counts a line: before and now */
	struct mt_header_record header;
	uint64_t size;			/* bytes of the file up to the next recording */
	uint64_t chunks;		/* chunks with an intact header, without strays */
	uint64_t raw_bytes;		/* payload bytes after decompression */
	uint64_t first_time, last_time; /* of the DATA chunks; 0 without any */
	bool has_end;
	struct mt_end_record end; /* valid if has_end */
	bool has_mark;
	struct mt_mark_record mark; /* the last one */
	struct mt_damage damage;    /* grows while the chunks are read */
};

/* Position of a record in the file. */
struct mt_place {
	uint64_t chunk; /* offset of the header of its chunk */
	uint32_t at;	/* offset in the chunk's decompressed payload */
};

/* One frame of a stack that came as text. Views, valid as long as the record. */
struct mt_reported_frame {
	struct mt_text name, dso; /* no dso: not code but a text, such as "[lost]" */
	bool kernel;
	bool guessed; /* found by a scan; never set by an input */
	bool inlined; /* into the next frame */
};

struct mt_reported_stack {
	const struct mt_reported_frame *frames; /* innermost first */
	size_t count;
	double weight; /* number of samples that this record represents */
};

struct mt_record {
	uint32_t type; /* enum mt_record_type, without the critical bit */
	uint32_t stream;
	struct mt_place place; /* only in recordings of mtrec */
	uint64_t time;
	/* After the record header; valid until the next mt_reader_next(), but see `keep`. */
	const uint8_t *body;
	size_t size;
	/*
	 * For mt_sample_get() and mt_packed_get(), valid as long as body. SAMPLE: the decoded dump
	 * of a coded record. PACKED: the kernel's bytes, followed by the dump.
	 */
	const uint8_t *dump;
	/*
	 * PACKED: `dump` holds the kernel's bytes alone, and the dump is `passing`. It is valid
	 * until the next mt_reader_next(), whatever `keep` says; NULL if it was not decoded.
	 */
	bool apart;
	const uint8_t *passing;
	bool state; /* of a HEAD or STATE chunk; only in recordings of mtrec */
	/*
	 * KERNEL of a perf.data file: body is the kernel's record itself, 8-byte aligned, and
	 * `event` the index of its EVENT (MT_EVENT_NONE: unknown). mt_record_kernel_get() handles
	 * both forms.
	 */
	bool bare;
	uint32_t event;
	const struct mt_reported_stack *reported; /* of a sample that came as text; else NULL */
};

/* How to decode the dumps of PACKED records, which take most of a reader's time and memory. */
enum mt_reader_dumps {
	MT_DUMPS_WITH_RECORDS, /* valid as long as their records */
	MT_DUMPS_PASSING,      /* valid until the next record, so that they stay in the CPU cache */
	MT_DUMPS_NONE,	       /* not decoded if that can be avoided */
};

struct mt_reader_options {
	size_t memory_limit;	    /* bytes of chunks and their list in memory; 0: 256 MiB */
	struct mt_pool *pool;	    /* decompresses ahead; NULL: each chunk when it is due */
	enum mt_reader_dumps dumps; /* data that the caller needs; the reader may give more */
	bool before; /* of folded stacks with two counts a line, give the first, not the second */
	/* KERNEL, SAMPLE, FRAMES and PACKED records hold until mt_reader_release() */
	bool keep;
	/*
	 * Not NULL: a recording of mtrec that is still being written, borrowed in place of the
	 * path's file, and its HEAD is there. See mt_reader_advance().
	 */
	const struct mt_input *growing;
};

/* Changes of a growing input. */
struct mt_reader_news {
	bool whole; /* whole chunks */
	/*
	 * Chunks that would have changed the records given before: a new reader would give other
	 * records, or carry more.
	 */
	bool earlier;
	bool complete; /* the recording has its END */
};

/*
 * Opens a file, or standard input for "-" (copied to an unlinked temporary file if it cannot seek),
 * and scans its chunk headers. options may be NULL. A file that is not a recording is an error,
 * which names its kind if known; so is a recording with an unknown major version, critical chunk or
 * codec.
 */
struct mt_error *mt_reader_open(const char *path, const struct mt_reader_options *options,
				struct mt_reader **out);
void mt_reader_destroy(struct mt_reader *reader);

/* The number of recordings in the file, at least 1, and what is known of each. */
size_t mt_reader_recordings(const struct mt_reader *reader);
const struct mt_recording *mt_reader_recording(const struct mt_reader *reader, size_t i);

/*
 * The files that recording i carries from the recorded machine (formats/reading/carried.h),
 * borrowed until the reader is destroyed; NULL for none.
 */
struct mt_carried *mt_reader_carried(struct mt_reader *reader, size_t i);

/* Index of the event with that kernel id; MT_EVENT_NONE if the recording does not say. */
uint32_t mt_reader_event_of_id(const struct mt_reader *reader, uint64_t id);

/* Restarts reading at the start of recording i; any i, any number of times. */
struct mt_error *mt_reader_rewind(struct mt_reader *reader, size_t i);

/*
 * The next record; *more false at the end, with *out untouched. MARK and END records only appear in
 * struct mt_recording.
 */
struct mt_error *mt_reader_next(struct mt_reader *reader, struct mt_record *out, bool *more);

/*
 * A growing input only gives records before the last MARK, so that later chunks never have records
 * that belong before them. *more false means that there are no more records yet.
 * mt_reader_advance() adds the new chunks of the input. STATE records are given as they come, ahead
 * of DATA. After mt_reader_finish() records after the last MARK are given, too.
 */
struct mt_error *mt_reader_advance(struct mt_reader *reader, struct mt_reader_news *out);
void mt_reader_finish(struct mt_reader *reader);

/* Number of records returned, which is the serial of the last one. */
uint64_t mt_reader_given(const struct mt_reader *reader);

/*
 * With `keep`: the caller no longer reads records up to that serial. Rewinding releases all.
 * Unreleased records stay in memory, which memory_limit does not bound.
 */
void mt_reader_release(struct mt_reader *reader, uint64_t serial);

/*
 * The kernel's bytes of a KERNEL, SAMPLE, FRAMES or PACKED record, as views into the record; false
 * if it is damaged.
 */
bool mt_record_kernel_get(const struct mt_record *record, struct mt_kernel_bytes *out);

#endif
