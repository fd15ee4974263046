/*
 * Reads a recording of mtrec or a perf.data file: finds the intact chunks, reports missing and
 * damaged data, and returns the records of each recording in the file. First come all STATE records
 * in file order, then the DATA records of all streams merged by time, in bounded memory.
 *
 * A perf.data file is returned in the same form: its header and features as INFO, EVENT, CLOCK,
 * IMAGE and NOTE records, its kernel records as KERNEL (see struct mt_record.bare). Such a file
 * counts as complete unless it was cut short. Folded stacks are returned as kernel records, too,
 * with the names of each sample's frames (mt_record.reported).
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

#include "formats/reading/source.h"

struct mt_carried;
struct mt_error;
struct mt_kernel_bytes;
struct mt_reader;

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
 * The next record; *more is false at the end, with *out untouched. MARK and END records only appear
 * in struct mt_recording.
 */
struct mt_error *mt_reader_next(struct mt_reader *reader, struct mt_record *out, bool *more);

/*
 * Of a growing input, only records before the last MARK are returned, so later chunks never have
 * records that belong before those. If *more is false, there are no more records yet.
 * mt_reader_advance() adds the new chunks of the input. STATE records are returned as they come,
 * ahead of DATA. After mt_reader_finish(), records after the last MARK are returned, too.
 */
struct mt_error *mt_reader_advance(struct mt_reader *reader, struct mt_reader_news *out);
void mt_reader_finish(struct mt_reader *reader);

/* Number of records returned, which is the serial of the last one. */
uint64_t mt_reader_given(const struct mt_reader *reader);

/*
 * With `keep`: declares that the caller no longer reads records up to that serial. Rewinding
 * releases all. Unreleased records stay in memory, which memory_limit does not bound.
 */
void mt_reader_release(struct mt_reader *reader, uint64_t serial);

/*
 * The kernel's bytes of a KERNEL, SAMPLE, FRAMES or PACKED record, as views into the record; false
 * if it is damaged.
 */
bool mt_record_kernel_get(const struct mt_record *record, struct mt_kernel_bytes *out);

#endif
