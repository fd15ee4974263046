/*
 * The carrying thread: makes FILE chunks of images that the reader's machine may lack, at low
 * priority. The writing thread offers images as it sees them, and takes the chunks that are ready.
 *
 * The thread works on one image at a time, and waits if too many chunks are not taken yet. While
 * events are recorded, it sleeps as long as it worked. The bytes of all FILE chunks are limited.
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
	bool unsampled;		      /* also carry images of processes without a sample */
	bool lines_elsewhere;	      /* also carry lines of targets in another mount namespace */
	uint64_t limit;		      /* maximum bytes of all FILE chunks */
};

/* A chunk that is ready to be written, or the reason why there is none. */
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
 * an image needs a different time. last: no later offer of the image follows. If `last` is false
 * and the file was deleted, the whole image is carried.
 */
void mt_carry_worker_offer_seen(struct mt_carry_worker *embed, const struct mt_image_file *file,
				struct mt_code_news *news, uint64_t time, bool last);

/*
 * Offers the debug information of the compilation units that contain these offsets in the file;
 * takes the offsets. This debug information is carried after everything else, once
 * mt_carry_worker_offer_remaining() was called.
 */
void mt_carry_worker_offer_lines(struct mt_carry_worker *embed, const struct mt_image_file *file,
				 uint64_t *offsets, size_t count, uint64_t time);

/* Offers names of generated code of a process. exec_time not 0: when the process calls exec. */
void mt_carry_worker_offer_process(struct mt_carry_worker *embed, int32_t pid, uint64_t exec_time);

/*
 * Offers the kernel addresses of samples so far (borrowed for the call), at the time `now`. Names
 * are carried at intervals as the recording grows, so that a recording that is cut short has them.
 */
void mt_carry_worker_offer_so_far(struct mt_carry_worker *embed, struct mt_kernel_seen *kernel,
				  uint64_t now);

/*
 * Makes the last offer: the kernel addresses, borrowed until the last chunk is taken, and the names
 * that processes have written by `now`, which is not before any record.
 */
void mt_carry_worker_offer_remaining(struct mt_carry_worker *embed, struct mt_kernel_seen *kernel,
				     uint64_t now);

/* Returns the next chunk that is ready, which the caller destroys; NULL if none is ready. */
struct mt_carry_worker_chunk *mt_carry_worker_take(struct mt_carry_worker *embed);

/*
 * Waits for the next chunk and returns it; NULL after the last chunk. Call it after
 * mt_carry_worker_offer_remaining(). give_up() is called before each chunk, and ten times a second.
 * If it returns true, chunks not made yet are left out.
 */
struct mt_carry_worker_chunk *mt_carry_worker_take_last(struct mt_carry_worker *embed,
							bool (*give_up)(void *context),
							void *context);

/* Returns true if give_up() ended the work, and sets *images to the number of images left out. */
bool mt_carry_worker_given_up(struct mt_carry_worker *embed, size_t *images);

/* Returns the CPU time of the thread in ns, once the thread has ended; 0 before. */
uint64_t mt_carry_worker_cpu_ns(struct mt_carry_worker *embed);

#endif
