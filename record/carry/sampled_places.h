/*
 * The places in the code of images to which words of records point. Frames of stacks are only at
 * such places, so only the functions around them need to be carried. Words are added when they are
 * written, mappings when their records pass, in any order. A word is compared with the mappings of
 * all processes, including ended ones, which at worst adds places that are not needed.
 *
 * If words or mappings exceed the memory limits, the images concerned are made whole.
 */
#ifndef MT_RECORD_CARRY_SAMPLED_PLACES_H
#define MT_RECORD_CARRY_SAMPLED_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_sampled_places;
struct mt_image_record;

/* NULL out of memory. */
struct mt_sampled_places *mt_sampled_places_create(void);
void mt_sampled_places_destroy(struct mt_sampled_places *seen);

/*
 * Returns the number of an image, the same for all images with its build id or, without a build id,
 * of its file. 0 if there are too many images.
 */
uint32_t mt_sampled_places_image(struct mt_sampled_places *seen,
				 const struct mt_image_record *image);

/*
 * An executable mapping of an image, and the time of its record. The process chooses the offset, so
 * the mapping may extend past the end of the file; addresses there are not places.
 */
struct mt_code_mapping {
	uint64_t start, end, offset;
	uint64_t time; /* 0: unknown; the mapping may be old */
	uint32_t image;
};
void mt_sampled_places_map(struct mt_sampled_places *seen, const struct mt_code_mapping *mapping);

/* Adds words of records, none later than last_time. */
void mt_sampled_places_words(struct mt_sampled_places *seen, const uint64_t *words, size_t count,
			     uint64_t last_time);

/* Call when all mappings of records before time complete_below are added. */
void mt_sampled_places_settle(struct mt_sampled_places *seen, uint64_t complete_below);

/* Call when all mappings are added. */
void mt_sampled_places_settle_all(struct mt_sampled_places *seen);

/* New places of an image: multiples of MT_SEEN_UNIT in its file. */
struct mt_code_news {
	uint64_t *offsets; /* in rising order; the caller frees them; NULL: none */
	size_t count;
	bool whole; /* the whole image counts as sampled: there are no offsets, now or later */
};

/* Takes the places not taken before. False out of memory. */
bool mt_sampled_places_take(struct mt_sampled_places *seen, uint32_t image,
			    struct mt_code_news *out);

/* Returns the approximate number of untaken places of all images. */
size_t mt_sampled_places_untaken(const struct mt_sampled_places *seen);

/* Makes the whole image count as sampled from now on. */
void mt_sampled_places_make_whole(struct mt_sampled_places *seen, uint32_t image);

#endif
