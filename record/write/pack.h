/*
 * The writing thread: takes blocks from the spool, compresses them, and appends them to the file.
 * As the spool fills up, the thread changes to faster compression, then to none, so that the drains
 * do not run out of blocks.
 */
#ifndef MT_RECORD_WRITE_PACK_H
#define MT_RECORD_WRITE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/writer.h"
#include "record/write/stripper.h"

struct mt_embed_options;
struct mt_error;
struct mt_pack;
struct mt_plan;
struct mt_spool;

/* Stripping: frames are written instead of stacks (stripper.h). */
struct mt_pack_strip {
	uint64_t tables; /* limit on unwind tables in memory, bytes; 0: stacks are written */
	size_t hold;	 /* limit on blocks that wait for mappings, bytes */
};

/* Flushes the drains on request of the writing thread, which does not wait for them. */
struct mt_pack_flusher {
	void (*ask)(void *context);
	bool (*answered)(
		void *context); /* true: all records present at the last ask() were pushed */
	void *context;
};

/*
 * Starts the thread. Borrows fd, spool and plan. Writes to failed_fd (an eventfd) if the output
 * fails. embed says which images are carried.
 */
struct mt_error *mt_pack_create(int fd, int level, struct mt_spool *spool,
				const struct mt_plan *plan, int failed_fd,
				const struct mt_embed_options *embed,
				const struct mt_pack_strip *strip, struct mt_pack **out);

/*
 * Call when the recording has ended. From then on, a further signal on signals_fd ends the wait for
 * an output that blocks, and leaves out images not carried yet.
 */
void mt_pack_set_ending(struct mt_pack *pack, int signals_fd);

/*
 * Limits the file to `bytes`. Writes to full_fd (an eventfd) once, early enough that by an estimate
 * all blocks in use still fit. Blocks that do not fit in the end are left out and counted.
 */
void mt_pack_set_limit(struct mt_pack *pack, uint64_t bytes, int full_fd);

/*
 * Sets the flusher, which is borrowed, so that few blocks wait for mappings. Set NULL before the
 * drains are destroyed, unless the pack is destroyed first.
 */
void mt_pack_set_flusher(struct mt_pack *pack, const struct mt_pack_flusher *flusher);

/* Waits until the closed spool is written; returns the writer's error, if any. */
struct mt_error *mt_pack_finish(struct mt_pack *pack);

/* Waits at most `ns` for the end of writing; false if the thread still writes. */
bool mt_pack_finishes_within(struct mt_pack *pack, uint64_t ns);

/* Returns the writer, for the END chunk; borrowed. Call this after mt_pack_finish(). */
struct mt_writer *mt_pack_writer(struct mt_pack *pack);

/* Counts of the thread, and of the threads it started. */
struct mt_pack_counts {
	struct mt_writer_counts writer;
	struct { /* left out by --max-size: samples, times of the first and the last */
		uint64_t samples, from, to;
	} left_out;
	uint64_t hurried;   /* chunks compressed less than requested */
	uint64_t fast;	    /* of these, chunks at the fast level; the others are stored */
	bool given_up;	    /* a signal ended the carrying */
	size_t not_carried; /* number of images left out by that signal */
	bool stripped;	    /* stacks were stripped: see `strip` */
	struct mt_strip_counts strip;
	uint64_t cpu_ns, carrying_cpu_ns; /* of the writing thread and of the carrying thread */
};

/* Call after mt_pack_finish(). */
struct mt_pack_counts mt_pack_counts(const struct mt_pack *pack);

void mt_pack_destroy(struct mt_pack *pack);

#endif
