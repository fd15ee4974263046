/*
 * Reading a file of records, a recording of mtrec or perf's own perf.data: finds the good parts,
 * says what is missing or damaged, and gives the records of each recording in it: first all of its
 * STATE in file order, then its DATA merged by time over all streams, in bounded memory.
 *
 * A perf.data file has no records of ours. What its header and features say is given as INFO,
 * EVENT, CLOCK, IMAGE and NOTE, its kernel records as KERNEL (see struct mt_record.bare), and the
 * recording as one that ended in order, unless it was cut short.
 *
 * What was cut off or damaged is data (struct mt_damage), not an error. Errors are for what cannot
 * be read at all: no such file, not a recording, a version or a critical chunk that this reader
 * does not know, out of memory.
 */
#ifndef MT_FORMATS_READER_H
#define MT_FORMATS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/records/record.h"

struct mt_carried;
struct mt_error;
struct mt_kernel_bytes;
struct mt_pool;
struct mt_reader;

struct mt_damage {
	uint64_t skipped_bytes; /* of the file, in no good chunk of the recording: size is their sum
				   with these */
	uint64_t damaged_chunks; /* good header, bad payload */
	uint64_t missing_chunks; /* gaps in the sequence numbers */
	uint64_t stray_chunks; /* of no recording, since the HEAD before them is missing or damaged,
				  or an END stands before them */
	uint64_t
		refused_chunks; /* with a record that this reader does not know and must not skip */
	uint64_t damaged_records; /* chunks whose rest, from a broken record on, is left out. A body
				     too short is for its decoder to find */
	uint64_t unknown_records; /* skipped: of a later minor version */
	uint64_t disordered;	  /* records given after a later one */
	bool cut_short;		  /* no END chunk */
};

struct mt_recording {
	const char *foreign; /* "perf.data", "perf.data, piped"; NULL: mtrec's, and header counts */
	struct mt_header_record header;
	uint64_t size;			/* bytes of file, to where the next recording begins */
	uint64_t chunks;		/* good headers, strays left out */
	uint64_t raw_bytes;		/* payload bytes after decompression */
	uint64_t first_time, last_time; /* of DATA chunks; 0 without any */
	bool has_end;
	struct mt_end_record end; /* where has_end */
	bool has_mark;
	struct mt_mark_record mark; /* the last one */
	struct mt_damage damage;    /* grows while its chunks are read */
};

/* Where a record stands in the file. */
struct mt_place {
	uint64_t chunk; /* offset of its chunk's header */
	uint32_t at;	/* in the chunk's payload, decompressed */
};

struct mt_record {
	uint32_t type; /* enum mt_record_type, without the critical bit */
	uint32_t stream;
	struct mt_place place; /* of a recording of mtrec */
	uint64_t time;
	/* behind the record header; holds until the next mt_reader_next(), but see keep */
	const uint8_t *body;
	size_t size;
	/*
	 * As long as body: of a SAMPLE the coded dump, decoded; of a PACKED record the kernel's
	 * bytes and the dump. For mt_sample_get() and mt_packed_get().
	 */
	const uint8_t *dump;
	/*
	 * Of a PACKED record: `dump` is the kernel's bytes alone. Its dump is `passing`, until the
	 * next mt_reader_next() whatever keep says, or NULL where it was not decoded.
	 */
	bool apart;
	const uint8_t *passing;
	/*
	 * KERNEL of a foreign file: body is the kernel's record itself, 8-byte aligned, and event
	 * its EVENT's index (MT_EVENT_NONE: not known which). mt_record_kernel_get() knows.
	 */
	bool bare;
	uint32_t event;
};

/* What becomes of the dumps of PACKED records, whose decoding and memory is most of reading. */
enum mt_reader_dumps {
	MT_DUMPS_WITH_RECORDS, /* there as long as their records */
	MT_DUMPS_PASSING,      /* for a moment: they stay in the processor's cache */
	MT_DUMPS_NONE,	       /* left out where they can be */
};

struct mt_reader_options {
	size_t memory_limit;	    /* bytes of decompressed chunks open at once, and of the list of
				       chunks; 0: 256 MiB */
	struct mt_pool *pool;	    /* decompresses chunks ahead; NULL: each when it is due */
	enum mt_reader_dumps dumps; /* what their reader wants of them; it may get more */
	bool keep; /* KERNEL, SAMPLE, FRAMES and PACKED records hold until mt_reader_release() */
};

/*
 * Opens a file, or standard input for "-" (copied to an unlinked temporary file when it cannot
 * seek), and scans its chunk headers. options may be NULL. A file that is no
 * recording is an error that says what it is instead where that can be told; a recording in it that
 * must be refused (major version, critical chunk or codec not known) is one too.
 */
struct mt_error *mt_reader_open(const char *path, const struct mt_reader_options *options,
				struct mt_reader **out);
void mt_reader_destroy(struct mt_reader *reader);

/*
 * How many recordings the file holds (one behind the other), at least 1, and what is known of each.
 */
size_t mt_reader_recordings(const struct mt_reader *reader);
const struct mt_recording *mt_reader_recording(const struct mt_reader *reader, size_t i);

/*
 * What recording i carries of the recorded machine (formats/reading/carried.h); NULL where that is
 * nothing. Borrowed as long as the reader.
 */
struct mt_carried *mt_reader_carried(struct mt_reader *reader, size_t i);

/* Index of the event that the kernel gave that id; MT_EVENT_NONE where that is not recorded. */
uint32_t mt_reader_event_of_id(const struct mt_reader *reader, uint64_t id);

/* Begins to read recording i from its start; may be called again, for any i. */
struct mt_error *mt_reader_rewind(struct mt_reader *reader, size_t i);

/*
 * The next record: *more false at the end, with *out untouched. Records of HEAD and STATE come
 * first, in the order of the file; MARK and END are told in struct mt_recording alone.
 */
struct mt_error *mt_reader_next(struct mt_reader *reader, struct mt_record *out, bool *more);

/* How many records it has given: the serial of the last one. */
uint64_t mt_reader_given(const struct mt_reader *reader);

/*
 * With keep: records up to that serial are no longer read. Rewinding releases all. Until then they
 * stay in memory, which memory_limit does not bound.
 */
void mt_reader_release(struct mt_reader *reader, uint64_t serial);

/*
 * The kernel's bytes of a KERNEL, SAMPLE, FRAMES or PACKED record; false where it is damaged. Views
 * into the record.
 */
bool mt_record_kernel_get(const struct mt_record *record, struct mt_kernel_bytes *out);

#endif
