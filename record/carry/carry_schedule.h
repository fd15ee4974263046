/*
 * When what of an image is carried: what samples have shown of it so far, soon after its first
 * sample and ever more rarely as the recording goes on, so that one that is cut short has most of
 * it; the rest at the end. Or all of it at once, where all was asked for or too much was shown, and
 * where its file is about to be gone. On the writing thread.
 */
#ifndef MT_RECORD_CARRY_CARRY_SCHEDULE_H
#define MT_RECORD_CARRY_CARRY_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

struct mt_carry_schedule;
struct mt_sampled_places;
struct mt_embed;
struct mt_image_file;

/* Borrows embed and seen. whole: all of each image. NULL out of memory. */
struct mt_carry_schedule *mt_carry_schedule_create(struct mt_embed *embed,
						   struct mt_sampled_places *seen, bool whole);
void mt_carry_schedule_destroy(struct mt_carry_schedule *plan);

/* An image is to be carried, each build id, or file without one, once. Borrows file. */
void mt_carry_schedule_add(struct mt_carry_schedule *plan, const struct mt_image_file *file);

/* Offers what is due; now is the recording's time. */
void mt_carry_schedule_so_far(struct mt_carry_schedule *plan, uint64_t now);

/* Offers all that was not. */
void mt_carry_schedule_rest(struct mt_carry_schedule *plan, uint64_t now);

#endif
