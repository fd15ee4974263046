/*
 * The places in images' code to which words of records point. Frames of stacks are only there, so
 * only the functions around these places need to be carried. Words are added when they are written,
 * mappings when their records pass, in any order. A word is compared with the mappings of all
 * processes, including ended ones: at worst that adds a place too many.
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
 * Number of an image, the same for all images of its build id, or, without one, of its file. 0:
 * there are too many.
 */
uint32_t mt_sampled_places_image(struct mt_sampled_places *seen,
				 const struct mt_image_record *image);

/*
 * An executable mapping of an image, and the time of its record. The process chooses the offset:
 * addresses past the end of the file are not places.
 */
struct mt_code_mapping {
	uint64_t start, end, offset;
	uint64_t time; /* 0: unknown, it may be old */
	uint32_t image;
};
void mt_sampled_places_map(struct mt_sampled_places *seen, const struct mt_code_mapping *mapping);

/* Adds words of records, none later than last_time. */
void mt_sampled_places_words(struct mt_sampled_places *seen, const uint64_t *words, size_t count,
			     uint64_t last_time);

/* Call when all mappings of records below that time are added. */
void mt_sampled_places_settle(struct mt_sampled_places *seen, uint64_t complete_below);

/* Call when all mappings are added. */
void mt_sampled_places_settle_all(struct mt_sampled_places *seen);

/* New places of an image: multiples of MT_SEEN_UNIT in its file. */
struct mt_code_news {
	uint64_t *offsets; /* in rising order; the caller frees them; NULL: none */
	size_t count;
	bool whole; /* the whole image counts as sampled: no offsets, now and later */
};

/* Takes the places not taken before. False out of memory. */
bool mt_sampled_places_take(struct mt_sampled_places *seen, uint32_t image,
			    struct mt_code_news *out);

/* Approximate number of untaken places of all images. */
size_t mt_sampled_places_untaken(const struct mt_sampled_places *seen);

/* From now on the whole image counts as sampled. */
void mt_sampled_places_make_whole(struct mt_sampled_places *seen, uint32_t image);

#endif
