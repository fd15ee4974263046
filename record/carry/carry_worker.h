/*
 * The carrying thread: makes FILE chunks of images that the reader's machine may lack, at low
 * priority. The writing thread offers images as it sees them, and takes the chunks that are ready.
 *
 * Bounds: one image at a time; few chunks wait to be taken; while events are recorded the thread
 * sleeps as long as it worked; a limit on the bytes of all FILE chunks.
 */
#ifndef MT_RECORD_CARRY_CARRY_WORKER_H
#define MT_RECORD_CARRY_CARRY_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/chunks/chunk.h"
#include "symbols/carried/skeleton.h"

struct mt_code_news;
struct mt_carry_worker;
struct mt_error;
struct mt_image_file;
struct mt_kernel_seen;

struct mt_embed_options {
	struct mt_skeleton_wish wish; /* all false: nothing is carried */
	bool unsampled;		      /* also images of processes without a sample */
	bool lines_elsewhere;	      /* lines, too, of targets in another mount namespace */
	uint64_t limit;		      /* bytes of all FILE chunks */
};

/* A chunk that is ready to be written, or why there is none. */
struct mt_carry_worker_chunk {
	struct mt_chunk_header header;
	uint8_t *payload; /* header.stored_size bytes; NULL: see problem */
	char *problem;	  /* message with the path, or NULL */
	struct mt_carry_worker_chunk *next;
};

void mt_carry_worker_chunk_destroy(struct mt_carry_worker_chunk *chunk);

/* Starts the thread. */
struct mt_error *mt_carry_worker_create(const struct mt_embed_options *options,
					struct mt_carry_worker **out);
void mt_carry_worker_destroy(struct mt_carry_worker *embed);

/* Offers a whole image. Borrows file until `embed` is destroyed. */
void mt_carry_worker_offer(struct mt_carry_worker *embed, const struct mt_image_file *file);

/*
 * Offers the functions of an image around sampled places; takes the offsets of news. Each offer of
 * an image needs a different time. last: nothing more of the image is offered; otherwise the whole
 * image is carried if its file was deleted.
 */
void mt_carry_worker_offer_seen(struct mt_carry_worker *embed, const struct mt_image_file *file,
				struct mt_code_news *news, uint64_t time, bool last);

/*
 * Offers the debug information of the compilation units with these places, which are offsets in the
 * file; takes the offsets. It is carried after everything else, once
 * mt_carry_worker_offer_remaining() was called.
 */
void mt_carry_worker_offer_lines(struct mt_carry_worker *embed, const struct mt_image_file *file,
				 uint64_t *offsets, size_t count, uint64_t time);

/* Offers the names of generated code of a process. exec_time not 0: the process calls exec then. */
void mt_carry_worker_offer_process(struct mt_carry_worker *embed, int32_t pid, uint64_t exec_time);

/*
 * Offers the kernel addresses of samples so far (borrowed for the call), at the time `now`. Names
 * are carried at intervals as the recording grows, so that a recording that is cut short has them.
 */
void mt_carry_worker_offer_so_far(struct mt_carry_worker *embed, struct mt_kernel_seen *kernel,
				  uint64_t now);

/*
 * The last offer: the kernel addresses, borrowed until the last chunk is taken, and the names that
 * processes have written by `now`, which is later than any record.
 */
void mt_carry_worker_offer_remaining(struct mt_carry_worker *embed, struct mt_kernel_seen *kernel,
				     uint64_t now);

/* The next chunk that is ready, which the caller destroys; NULL: none now. */
struct mt_carry_worker_chunk *mt_carry_worker_take(struct mt_carry_worker *embed);

/*
 * The next chunk after mt_carry_worker_offer_remaining(): waits for chunks being made; NULL after
 * the last one. give_up is called before each chunk, and ten times a second. If it returns true,
 * chunks not made yet are left out.
 */
struct mt_carry_worker_chunk *mt_carry_worker_take_last(struct mt_carry_worker *embed,
							bool (*give_up)(void *context),
							void *context);

/* After the last chunk: true if give_up left out images; *images: how many. */
bool mt_carry_worker_given_up(struct mt_carry_worker *embed, size_t *images);

/* CPU time of the thread after it has ended, ns; 0 before. */
uint64_t mt_carry_worker_cpu_ns(struct mt_carry_worker *embed);

#endif
