/*
 * The writing thread's side of carrying images: the parts that choose images and collect sampled
 * places, the times at which images are offered, and the carrying thread.
 *
 * The functions around the sampled places of an image are carried soon after its first sample, then
 * at growing intervals, so that a recording that is cut short has most of them. The remaining
 * functions follow at the end, then the debug information of the units around all places, if it was
 * requested or if the target is in another mount namespace. A whole image is carried at once if
 * whole images were requested, if the image has too many places, or if its file was deleted.
 *
 * Images are pruned because whole .eh_frame and symbol sections make FILE chunks 5 to 14 times as
 * large. In KB (-e vm,rss -p over 8 s, medians of 3 recordings): redis 32 -> 284, mariadbd 98 ->
 * 1,091, java 105 -> 1,487, node 352 -> 2,865, clang++ 774 -> 4,228.
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

/* Borrows plan and files. *out is NULL if no image is to be carried. */
struct mt_error *mt_carrying_create(const struct mt_embed_options *options,
				    const struct mt_plan *plan, struct mt_image_files *files,
				    struct mt_carrying **out);
void mt_carrying_destroy(struct mt_carrying *carrying);

/* Return the parts, borrowed. The choice and places receive records; the worker makes chunks. */
struct mt_image_choice *mt_carrying_choice(const struct mt_carrying *carrying);
struct mt_sampled_places *mt_carrying_code_seen(const struct mt_carrying *carrying);
struct mt_carry_worker *mt_carrying_embed(const struct mt_carrying *carrying);

/* Returns true if the words of records are to be passed to mt_carrying_code_seen(). */
bool mt_carrying_wants_words(const struct mt_carrying *carrying);

/* Offers the images that are due. Borrows kernel for the call; now: the recording's time. */
void mt_carrying_offer_so_far(struct mt_carrying *carrying, struct mt_kernel_seen *kernel,
			      uint64_t now);

/* Makes the last offer, of all that remains. Borrows kernel until the last chunk is taken. */
void mt_carrying_offer_rest(struct mt_carrying *carrying, struct mt_kernel_seen *kernel,
			    uint64_t now);

/* Returns an estimate of the bytes in the recording that images not carried yet will take. */
uint64_t mt_carrying_to_come(const struct mt_carrying *carrying);

#endif
