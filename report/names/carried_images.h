/*
 * The images that recordings carry: a source of ELF bytes, and of pieces of code, for mt_image_set.
 * Carried images are read by the same code as files.
 */
#ifndef MT_REPORT_NAMES_CARRIED_IMAGES_H
#define MT_REPORT_NAMES_CARRIED_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/elf/elf.h"

struct mt_carried;
struct mt_carried_images;
struct mt_image_identity;
struct mt_image_source;

/* The caller destroys it. */
struct mt_carried_images *mt_carried_images_create(void);
void mt_carried_images_destroy(struct mt_carried_images *images);

/*
 * Adds the images that one recording carries; borrowed. Of several images with the same identity
 * the first complete one is used. If all have only sampled parts (MT_KEPT_SEEN), the parts are used
 * together.
 */
void mt_carried_images_add(struct mt_carried_images *images, struct mt_carried *carried);

/* The carried parts of an image as MT_KEPT_* bits; 0 if there are none. */
uint32_t mt_carried_images_kept(const struct mt_carried_images *images,
				const struct mt_image_identity *identity);

/* The carried code of an image; for mt_image_set_set_pieces(), with a struct mt_carried_images. */
struct mt_span mt_carried_images_code(void *context, const struct mt_image_identity *identity);

/*
 * Sources of carried images: images with unwind tables, which can replace a file, and images with
 * only names, as a last resort. context is a struct mt_carried_images.
 */
extern const struct mt_image_source mt_image_source_carried;
extern const struct mt_image_source mt_image_source_carried_names;

#endif
