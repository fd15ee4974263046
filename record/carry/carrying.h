/*
 * Carrying images as it stands on the writing thread: who chooses them, what is seen of them, when
 * they are due, and the thread that makes chunks of all that.
 *
 * What samples have shown of an image is carried soon after its first sample and ever more rarely
 * as the recording goes on, so that one that is cut short has most of it; the remainder at the end.
 * Or all of it at once, where all was asked for or too much was shown, and where its file is about
 * to be gone.
 */
#ifndef MT_RECORD_CARRY_CARRYING_H
#define MT_RECORD_CARRY_CARRYING_H

#include <stdbool.h>
#include <stdint.h>

struct mt_carrying;
struct mt_sampled_places;
struct mt_carry_worker;
struct mt_image_choice;
struct mt_embed_options;
struct mt_error;
struct mt_image_files;
struct mt_kernel_seen;
struct mt_plan;

/* Borrows plan and files. *out is NULL where nothing is to be carried. */
struct mt_error *mt_carrying_create(const struct mt_embed_options *options,
				    const struct mt_plan *plan, struct mt_image_files *files,
				    struct mt_carrying **out);
void mt_carrying_destroy(struct mt_carrying *carrying);

/* Its parts, borrowed: for those who tell them what they see, and take what is ready. */
struct mt_image_choice *mt_carrying_choice(const struct mt_carrying *carrying);
struct mt_sampled_places *mt_carrying_code_seen(const struct mt_carrying *carrying);
struct mt_carry_worker *mt_carrying_embed(const struct mt_carrying *carrying);

/* Whether the words of the recording are to be told to its mt_sampled_places. */
bool mt_carrying_wants_words(const struct mt_carrying *carrying);

/* All records below that time have been told of. */
void mt_carrying_settle(struct mt_carrying *carrying, uint64_t complete_below);

/* What is due; kernel is borrowed for the call, now is the recording's time. */
void mt_carrying_offer_so_far(struct mt_carrying *carrying, struct mt_kernel_seen *kernel,
			      uint64_t now);

/* The last to be offered; kernel is borrowed until the last chunk is taken. */
void mt_carrying_offer_rest(struct mt_carrying *carrying, struct mt_kernel_seen *kernel,
			    uint64_t now);

/* About how many bytes of file images will take that are not carried yet. */
uint64_t mt_carrying_to_come(const struct mt_carrying *carrying);

#endif
