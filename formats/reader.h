/*
 * Reading a recording file: finds the good chunks, says what is missing or damaged, and gives the records of each recording in it:
 * first all of its STATE in file order, then its DATA merged by time over all streams, in bounded memory.
 *
 * What was cut off or damaged is data (struct mt_damage), not an error. Errors are for what cannot be read at all: no such file, not a
 * recording, a version or a critical chunk that this reader does not know, out of memory.
 */
#ifndef MT_FORMATS_READER_H
#define MT_FORMATS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/record.h"

struct mt_error;
struct mt_reader;

struct mt_damage {
	uint64_t skipped_bytes;	  /* bytes that belong to no chunk */
	uint64_t damaged_chunks;  /* good header, bad payload */
	uint64_t missing_chunks;  /* gaps in the sequence numbers */
	uint64_t damaged_records; /* records left out, or the rest of a chunk behind a broken one */
	uint64_t unknown_records; /* skipped: of a later minor version (FRAMES among them) */
	uint64_t disordered;	  /* records given after a later one */
	bool cut_short;		  /* no END chunk */
};

struct mt_recording {
	struct mt_header_record header;
	uint64_t size;		   /* bytes of file */
	uint64_t chunks;
	uint64_t raw_bytes;	   /* payload bytes after decompression */
	uint64_t first_time, last_time; /* of DATA chunks; 0 without any */
	bool has_end;
	struct mt_end_record end;  /* where has_end */
	bool has_mark;
	struct mt_mark_record mark; /* the last one */
	struct mt_damage damage;   /* grows while its chunks are read */
};

struct mt_record {
	uint32_t type; /* enum mt_record_type */
	uint32_t stream;
	uint64_t time;
	const uint8_t *body; /* behind the record header; holds until the next mt_reader_next() */
	size_t size;
};

struct mt_reader_options {
	size_t memory_limit; /* bytes of decompressed chunks open at once; 0: 256 MiB */
};

/*
 * Opens a file, or standard input for "-" (copied to an unlinked temporary file when it cannot seek), and scans its chunk headers.
 * options may be NULL. A file without one good HEAD is an error that says what it is instead where that can be told (empty, perf.data).
 */
struct mt_error *mt_reader_open(const char *path, const struct mt_reader_options *options, struct mt_reader **out);
void mt_reader_destroy(struct mt_reader *reader);

/* How many recordings the file holds (one behind the other), at least 1, and what is known of each. */
size_t mt_reader_recordings(const struct mt_reader *reader);
const struct mt_recording *mt_reader_recording(const struct mt_reader *reader, size_t i);

/* Begins to read recording i from its start; may be called again, for any i. */
struct mt_error *mt_reader_rewind(struct mt_reader *reader, size_t i);

/* The next record: *more false at the end, with *out untouched. */
struct mt_error *mt_reader_next(struct mt_reader *reader, struct mt_record *out, bool *more);

#endif
