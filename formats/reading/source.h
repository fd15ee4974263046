/*
 * The plug point of inputs: one table for each kind of file that mt_reader_open() reads, and the
 * data that every input returns. Each source returns records as reader.h specifies: STATE first,
 * then timed records in order. reader.c probes the tables in turn.
 */
#ifndef MT_FORMATS_READING_SOURCE_H
#define MT_FORMATS_READING_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/records/record.h"

struct mt_carried;
struct mt_error;
struct mt_input;
struct mt_pool;

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
	const char *foreign; /* "perf.data", "folded stacks"; NULL: of mtrec, `header` is valid */
	bool reported; /* samples name their frames (mt_record.reported) and have no addresses */
	bool pairs;    /* folded stacks with two counts a line: before and now */
	struct mt_header_record header;
	uint64_t size;			/* bytes of the file up to the next recording */
	uint64_t chunks;		/* chunks with an intact header, without strays */
	uint64_t raw_bytes;		/* payload bytes after decompression */
	uint64_t first_time, last_time; /* of the DATA chunks; 0 if there are none */
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
	struct mt_text name, dso; /* without a dso, the name is a text such as "[lost]" */
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
	 * `event` the index of its EVENT (MT_EVENT_NONE: unknown). mt_record_kernel_get() handles a
	 * record in either form.
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
	enum mt_reader_dumps dumps; /* data that the caller needs; the reader may return more */
	bool before; /* of folded stacks with two counts a line, return the first, not the second */
	/* KERNEL, SAMPLE, FRAMES and PACKED records stay valid until mt_reader_release() */
	bool keep;
	/*
	 * If not NULL, the reader borrows it and reads it instead of the path's file: a recording
	 * of mtrec that is still being written, and whose HEAD is complete. See
	 * mt_reader_advance().
	 */
	const struct mt_input *growing;
};

/* Changes of a growing input. */
struct mt_reader_news {
	bool whole; /* complete chunks were added */
	/*
	 * Some of them belong before records that were returned: a new reader would return other
	 * records, or carry more.
	 */
	bool earlier;
	bool complete; /* the recording has its END */
};

#define MT_PROBE_SIZE ((size_t)64 << 10)

/* Errors carry no path: reader.c prepends it. */
struct mt_source_ops {
	const char *name;
	/*
	 * Whether a file that begins with these bytes is of this kind. `size` is MT_PROBE_SIZE, or
	 * less if the file is shorter.
	 */
	bool (*probe)(const uint8_t *head, size_t size);
	/*
	 * Borrows input until destroyed; memory_limit is set. *out is the `source` argument of the
	 * other functions, ready to read recording 0.
	 */
	struct mt_error *(*open)(const struct mt_input *input,
				 const struct mt_reader_options *options, void **out);
	void (*destroy)(void *source); /* NULL-safe */
	/* The functions below work as those of the same name in reader.h. */
	size_t (*recordings)(const void *source);
	const struct mt_recording *(*recording)(const void *source, size_t i);
	/* NULL: files of this kind carry nothing. */
	struct mt_carried *(*carried)(void *source, size_t i);
	struct mt_error *(*rewind)(void *source, size_t i);
	struct mt_error *(*next)(void *source, struct mt_record *out, bool *more);
	void (*release)(void *source, uint64_t serial);
	/* NULL: files of this kind are not read while they grow. */
	struct mt_error *(*advance)(void *source, struct mt_reader_news *out);
	void (*finish)(void *source);
	/* NULL: samples of this kind name no other events. */
	uint32_t (*event_of_id)(const void *source, uint64_t id);
};

extern const struct mt_source_ops mt_source_recording; /* mtrec's; probes true for any file */
extern const struct mt_source_ops mt_source_perfdata;
extern const struct mt_source_ops mt_source_text; /* folded stacks */

#endif
