/*
 * Writes a perf.data file: its header, then the records that the caller encodes with
 * mt_perf_put_*(), then features and attributes. The contents of features and attributes need not
 * be known before the end.
 */
#ifndef MT_FORMATS_PERFDATA_PERFDATA_FILE_H
#define MT_FORMATS_PERFDATA_PERFDATA_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_attr;
struct mt_error;
struct mt_kernel_record;
struct mt_perf_file;
struct mt_sample;

/* ---- Records, with sample_id_all trailers; each event has PERF_SAMPLE_IDENTIFIER ---- */

/* A growing buffer. */
struct mt_perf_bytes {
	MT_ARRAY(uint8_t) data;
};

void mt_perf_bytes_deinit(struct mt_perf_bytes *to);

/* Appends a little-endian integer of up to eight bytes. */
void mt_perf_put_number(struct mt_perf_bytes *to, uint64_t value, size_t size);
#define mt_perf_put_u8(to, value) mt_perf_put_number((to), (value), 1)
#define mt_perf_put_u16(to, value) mt_perf_put_number((to), (value), 2)
#define mt_perf_put_u32(to, value) mt_perf_put_number((to), (value), 4)
#define mt_perf_put_u64(to, value) mt_perf_put_number((to), (value), 8)
/* Appends bytes as they are. */
void mt_perf_put_bytes(struct mt_perf_bytes *to, const void *bytes, size_t size);
/* Appends zeros, as padding. */
void mt_perf_put_zeros(struct mt_perf_bytes *to, size_t count);

/*
 * Appends an MMAP (as MMAP2), MMAP2, COMM, FORK, EXIT or LOST record of the side-band event with
 * that id; does nothing for other types. Names are cut at 4,095 bytes.
 */
void mt_perf_put_record(struct mt_perf_bytes *to, const struct mt_kernel_record *record,
			uint64_t id);

/* The fields of a side-band event's records, and the optional fields of samples. */
extern const uint64_t mt_perf_sideband_type, mt_perf_sample_type;

/*
 * Appends a PERF_RECORD_SAMPLE with mt_perf_sample_type and the bits in `more`: MT_SAMPLE_ADDR,
 * MT_SAMPLE_CPU, MT_SAMPLE_RAW. Raw data that does not fit in a record is left out. The outermost
 * entries of a callchain that does not fit are left out, too; then the function returns true.
 */
bool mt_perf_put_sample(struct mt_perf_bytes *to, const struct mt_sample *sample, uint64_t more);

/* Appends FINISHED_ROUND: later records are not older than those of the round before this one. */
void mt_perf_put_round(struct mt_perf_bytes *to);

/* ---- The file ---- */

/* An event as the file describes it: `attr` says what it counts, sample_type what it records. */
struct mt_perf_described {
	const struct mt_attr *attr;
	uint64_t id, sample_type;
	const char *name;
	const char *format; /* of a tracepoint; NULL or "": a format without fields is made up */
};

/* An image with a build id; `kernel`: [kernel.kallsyms] or a module. */
struct mt_perf_identified {
	const char *path;
	const uint8_t *build_id;
	size_t build_id_size;
	bool kernel;
};

/* A string is NULL if it is unknown. */
struct mt_perf_closing {
	const struct mt_perf_described *events;
	size_t event_count;
	const struct mt_perf_identified *images;
	size_t image_count;
	const char *host, *kernel, *tool, *arch, *cpu, *command;
	uint32_t cpus;			/* 0: not known */
	uint64_t first_time, last_time; /* of samples; last_time 0: none */
	uint32_t clock;			/* clock of the times, see attr->clockid */
	uint64_t wall_clock,
		clock_time; /* the same moment of CLOCK_REALTIME and of `clock`; 0: unknown */
};

/* Borrows fd. Returns an error if the file is not seekable or fd is not at its beginning. */
struct mt_error *mt_perf_file_create(int fd, struct mt_perf_file **out);
void mt_perf_file_destroy(struct mt_perf_file *file);

/* Appends encoded records. */
struct mt_error *mt_perf_file_write(struct mt_perf_file *file, const void *records, size_t size);

/* Writes the sections after the records, and completes the header. */
struct mt_error *mt_perf_file_close(struct mt_perf_file *file,
				    const struct mt_perf_closing *closing);

/* Bytes written so far. */
uint64_t mt_perf_file_size(const struct mt_perf_file *file);

#endif
