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

/* What the limit left out: samples, and the times of the first and the last. */
struct mt_pack_left_out {
	uint64_t samples, from, to;
};
struct mt_pack_left_out mt_pack_left_out(const struct mt_pack *pack);

/* Waits for the end of the closed spool; gives the writer's error, if it had one. */
struct mt_error *mt_pack_finish(struct mt_pack *pack);

/* Behind mt_pack_finish(): whether a signal ended the carrying; *images are not carried then. */
bool mt_pack_not_carried(struct mt_pack *pack, size_t *images);

/* Behind mt_pack_finish(): the writer, for the END chunk. */
struct mt_writer *mt_pack_writer(struct mt_pack *pack);

/*
 * How many chunks were written with less compression than asked for; of those, how many at the fast
 * level (the others without).
 */
uint64_t mt_pack_fast(const struct mt_pack *pack);
uint64_t mt_pack_hurried(const struct mt_pack *pack);

/* CPU time that writing, and carrying images, used, ns; behind mt_pack_finish(). */
uint64_t mt_pack_cpu_ns(const struct mt_pack *pack);
uint64_t mt_pack_carrying_cpu_ns(const struct mt_pack *pack);

/* Behind mt_pack_finish(): what became of the stacks; false where they were not stripped. */
struct mt_strip_counts;
bool mt_pack_stripped(const struct mt_pack *pack, struct mt_strip_counts *counts);

void mt_pack_destroy(struct mt_pack *pack);

#endif
