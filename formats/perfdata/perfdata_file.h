/*
 * Writes a perf.data file: its header, then the records that the caller encodes (perfdata_put.h),
 * then features and attributes. The contents of features and attributes need not be known before
 * the end.
 */
#ifndef MT_FORMATS_PERFDATA_PERFDATA_FILE_H
#define MT_FORMATS_PERFDATA_PERFDATA_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_attr;
struct mt_error;
struct mt_perf_file;

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

/* Strings may be NULL: unknown. */
struct mt_perf_closing {
	const struct mt_perf_described *events;
	size_t event_count;
	const struct mt_perf_identified *images;
	size_t image_count;
	const char *host, *kernel, *tool, *arch, *cpu, *command;
	uint32_t cpus;			/* 0: not known */
	uint64_t first_time, last_time; /* of samples; last 0: none */
	uint32_t clock;			/* clock of the times, see attr->clockid */
	uint64_t wall_clock,
		clock_time; /* the same moment of CLOCK_REALTIME and of `clock`; 0: unknown */
};

/* Borrows fd. An error if its file is not seekable or fd is not at the beginning. */
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
