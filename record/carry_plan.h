/*
 * When what of an image is carried: what samples have shown of it so far, soon after its first
 * sample and ever more rarely as the recording goes on, so that one that is cut short has most of
 * it; the rest at the end. Or all of it at once, where all was asked for or too much was shown, and
 * where its file is about to be gone. On the writing thread.
 */
#ifndef MT_RECORD_CARRY_PLAN_H
#define MT_RECORD_CARRY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct mt_carry_plan;
struct mt_code_seen;
struct mt_embed;
struct mt_image_record;
struct mt_mapped_file;

/* Borrows embed and seen. whole: all of each image. NULL out of memory. */
struct mt_carry_plan *mt_carry_plan_create(struct mt_embed *embed, struct mt_code_seen *seen,
					   bool whole);
void mt_carry_plan_destroy(struct mt_carry_plan *plan);

/*
 * An image is to be carried, each build id, or file without one, once; fd is duplicated, and may be
 * -1: file says where to look for it.
 */
void mt_carry_plan_add(struct mt_carry_plan *plan, int fd, const struct mt_mapped_file *file,
		       const struct mt_image_record *image);

/* Offers what is due; now is the recording's time. */
void mt_carry_plan_so_far(struct mt_carry_plan *plan, uint64_t now);

/* Offers all that was not. */
void mt_carry_plan_rest(struct mt_carry_plan *plan, uint64_t now);

#endif
