/*
 * The writing thread: takes blocks from the spool, compresses and appends them. It falls back to
 * faster compression, then to none, while the spool is filling up, so that the drains never run out
 * of blocks for want of CPU here.
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

/* Stacks are not to be written, their frames are (stripper.h). */
struct mt_pack_strip {
	uint64_t tables; /* bytes of unwind tables in memory; 0: stacks are written as they are */
	size_t hold;	 /* bytes of blocks that may wait for what is mapped */
};

/* Has the drains hand on what their rings hold; for the writing thread, which does not wait. */
struct mt_pack_flusher {
	void (*ask)(void *context);
	bool (*answered)(
		void *context); /* all of what was there when it was last asked is pushed */
	void *context;
};

/*
 * Starts the thread. fd, spool and plan are borrowed; failed_fd (an eventfd) is written when the
 * output fails. embed says which images are carried.
 */
struct mt_error *mt_pack_create(int fd, int level, struct mt_spool *spool,
				const struct mt_plan *plan, int failed_fd,
				const struct mt_embed_options *embed,
				const struct mt_pack_strip *strip, struct mt_pack **out);

/*
 * The recording has ended, and the user may not want to wait for an output that takes nothing, nor
 * for images: once another SIGINT or SIGTERM can be read from signals_fd, such an output is given
 * up, and what is not carried yet is left out.
 */
void mt_pack_set_ending(struct mt_pack *pack, int signals_fd);

/*
 * The file is to stay within `bytes`: full_fd (an eventfd) is written while what is under way still
 * fits, by an estimate. What does not fit in the end is left out, and counted.
 */
void mt_pack_set_limit(struct mt_pack *pack, uint64_t bytes, int full_fd);

/*
 * From now on the drains can be asked, so that few blocks wait for what is mapped; to be unset,
 * with NULL, before the drains go. Borrowed.
 */
void mt_pack_set_flusher(struct mt_pack *pack, const struct mt_pack_flusher *flusher);

/* Waits for the end of the closed spool; gives the writer's error, if it had one. */
struct mt_error *mt_pack_finish(struct mt_pack *pack);

/* Behind mt_pack_finish(): the writer, for the END chunk. */
struct mt_writer *mt_pack_writer(struct mt_pack *pack);

/* What the thread, and those that it started, did. */
struct mt_pack_counts {
	struct mt_writer_counts writer;
	struct { /* out by --max-size: samples, and the times of the first and the last */
		uint64_t samples, from, to;
	} left_out;
	uint64_t hurried;   /* chunks written with less compression than asked for */
	uint64_t fast;	    /* of them, those at the fast level; the others are stored */
	bool given_up;	    /* a signal ended the carrying: */
	size_t not_carried; /* so many images are not carried */
	bool stripped;	    /* stacks were, as `strip` says */
	struct mt_strip_counts strip;
	uint64_t cpu_ns, carrying_cpu_ns; /* of writing, and of carrying images */
};

/* Call behind mt_pack_finish(). */
struct mt_pack_counts mt_pack_counts(const struct mt_pack *pack);

void mt_pack_destroy(struct mt_pack *pack);

#endif
