/*
 * Carrying what the recorded machine has and the reader's may not: makes FILE chunks of images, on
 * a thread of its own with low priority. The writing thread offers images as it meets them, and
 * takes the chunks that are ready.
 *
 * Bounded: one image is worked on at a time, few chunks wait to be taken, the thread rests as long
 * as it worked while the recording goes on, and nothing is made beyond a limit on the file's bytes.
 */
#ifndef MT_RECORD_CARRY_CARRY_WORKER_H
#define MT_RECORD_CARRY_CARRY_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/chunks/chunk.h"
#include "symbols/carried/skeleton.h"

struct mt_code_news;
struct mt_embed;
struct mt_error;
struct mt_image_file;
struct mt_kernel_seen;

struct mt_embed_options {
	struct mt_skeleton_wish wish; /* nothing wished for: nothing is carried */
	bool unsampled;		      /* images of processes without a sample, too */
	uint64_t limit;		      /* bytes of FILE chunks in all */
};

/* A chunk that is ready to be written, or why there is none. */
struct mt_embed_chunk {
	struct mt_chunk_header header;
	uint8_t *payload; /* header.stored_size bytes; NULL where problem says why */
	char *problem;	  /* with the path; or NULL */
	struct mt_embed_chunk *next;
};

void mt_embed_chunk_destroy(struct mt_embed_chunk *chunk);

/* Starts the thread. */
struct mt_error *mt_embed_create(const struct mt_embed_options *options, struct mt_embed **out);
void mt_embed_destroy(struct mt_embed *embed);

/* Offers all of an image. Borrows file until `embed` is destroyed. */
void mt_embed_offer(struct mt_embed *embed, const struct mt_image_file *file);

/*
 * The same of what stands around places of its code, whose offsets are taken. The time tells apart
 * what was offered so of one image. last: nothing of the image is offered later; else all of it is
 * carried where its file is deleted.
 */
void mt_embed_offer_seen(struct mt_embed *embed, const struct mt_image_file *file,
			 struct mt_code_news *news, uint64_t time, bool last);

/* A process has a sample: it may name code of its own. exec_time: it was another program before. */
void mt_embed_offer_process(struct mt_embed *embed, int32_t pid, uint64_t exec_time);

/*
 * What samples told of the kernel so far, borrowed for the call, and the time that has come: names
 * are carried now and then as the recording grows, so that one that is cut short has them.
 */
void mt_embed_offer_so_far(struct mt_embed *embed, struct mt_kernel_seen *kernel, uint64_t now);

/*
 * The last to be offered: the kernel's names at these addresses, borrowed until the last chunk is
 * taken, and what processes have named by now, which is later than any record.
 */
void mt_embed_offer_rest(struct mt_embed *embed, struct mt_kernel_seen *kernel, uint64_t now);

/* The next chunk that is ready, the caller's; NULL: none now. */
struct mt_embed_chunk *mt_embed_take(struct mt_embed *embed);

/*
 * The same once nothing more is offered: waits for those under way; NULL behind the last one.
 * give_up is asked before each, and ten times a second: true leaves out what is not made yet.
 */
struct mt_embed_chunk *mt_embed_take_last(struct mt_embed *embed, bool (*give_up)(void *context),
					  void *context);

/* Behind the last chunk: whether the rest was left out; then *images of those offered were. */
bool mt_embed_given_up(struct mt_embed *embed, size_t *images);

/* CPU time of the thread, once it has ended; 0 until then. */
uint64_t mt_embed_cpu_ns(struct mt_embed *embed);

#endif
