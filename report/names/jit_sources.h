/*
 * Files with names of JIT code, carried or on this machine: perf maps (/tmp/perf-PID.map, names
 * only) and jitdumps (jit-PID.dump, with times, lines and unwind tables). Each file is an image.
 * File offsets in a perf map's image are addresses.
 */
#ifndef MT_REPORT_NAMES_JIT_SOURCES_H
#define MT_REPORT_NAMES_JIT_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_carried;
struct mt_directories;
struct mt_facts;
struct mt_file_record;
struct mt_image;
struct mt_image_identity;
struct mt_image_set;
struct mt_jit_sources;
struct mt_symbol;

#define MT_JIT_NO_LOCAL INT64_MAX

struct mt_jit_options {
	struct mt_image_set *images;	    /* borrowed */
	const struct mt_directories *symfs; /* if any, roots to search for jitdumps; borrowed */
	bool prefer_local;		    /* prefer this machine's files to carried ones */
	bool demangle;
	bool lines;
};

/* The caller destroys it. */
struct mt_jit_sources *mt_jit_sources_create(const struct mt_jit_options *options);
void mt_jit_sources_destroy(struct mt_jit_sources *sources);

/* Adds the files that a recording carries; borrowed. */
void mt_jit_sources_add(struct mt_jit_sources *sources, size_t recording,
			struct mt_carried *carried);

/*
 * The image with the names of pid's code at `time`, or NULL. It is the first carried perf map that
 * was read at `time` or later. If no perf map of this process is carried, it is /tmp/perf-PID.map,
 * if written at `since` (s since 1970) or later; never if `since` is MT_JIT_NO_LOCAL.
 */
struct mt_image *mt_jit_sources_perf_map(struct mt_jit_sources *sources, size_t recording,
					 int64_t since, int32_t pid, uint64_t time);

/* A jitdump mapped by a process. */
struct mt_jitdump_wanted {
	size_t recording;
	const struct mt_image_identity *identity; /* identity of the mapped file */
	uint64_t time;				  /* time of the mapping */
	/* Recording's clock minus CLOCK_MONOTONIC in ns; NULL: unknown. */
	const int64_t *ahead;
	/* The image for code that the jitdump does not describe, or NULL. */
	struct mt_image *unreported;
};

/*
 * The image of a jitdump, with ->jitdump set; NULL if not available. It is the first carried
 * jitdump read after the mapping, else this machine's file; prefer_local reverses this. This
 * machine's file must be owned by root or the caller, and be the mapped one unless symfs is given.
 */
struct mt_image *mt_jit_sources_jitdump(struct mt_jit_sources *sources,
					const struct mt_jitdump_wanted *wanted);

/*
 * The symbol at an offset in the image of a JIT file, valid until the next call; NULL for other
 * images.
 */
const struct mt_symbol *mt_jit_sources_name(struct mt_jit_sources *sources,
					    const struct mt_image *image, uint64_t offset);

/*
 * The bytes of the image of a JIT file if they are this machine's, and the recording carries no
 * such file; else NULL. Borrowed. Sets the kind, size and identity fields of *file.
 */
const uint8_t *mt_jit_sources_local(const struct mt_jit_sources *sources, size_t recording,
				    const struct mt_image *image, struct mt_file_record *file);

/* Adds the jitdumps in use to the facts. */
void mt_jit_sources_list(const struct mt_jit_sources *sources, struct mt_facts *facts);

#endif
