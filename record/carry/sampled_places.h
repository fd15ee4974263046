/*
 * Which places of images' code the words of a recording point to: no stack has a frame anywhere
 * else, so that only what stands around these needs to be carried. Words are told as they are
 * written, and mappings as their records pass; which of them comes first does not matter. A word is
 * held against the mappings of all processes, ended ones, too: at worst a place too many is seen.
 *
 * Where more is told than is kept in memory, the images that it could be of are seen as a whole.
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
 * The image's number, the same for all of its build id, or, without one, of that file. 0: there are
 * too many.
 */
uint32_t mt_sampled_places_image(struct mt_sampled_places *seen,
				 const struct mt_image_record *image);

/*
 * An executable mapping of that image, from its file's offset on, and the time of its record. The
 * offset is anybody's choice: what lies past the end of the file is no place.
 */
struct mt_code_mapping {
	uint64_t start, end, offset;
	uint64_t time; /* 0: not known, it may have been there for long */
	uint32_t image;
};
void mt_sampled_places_map(struct mt_sampled_places *seen, const struct mt_code_mapping *mapping);

/* Words of records of which none is later than that. */
void mt_sampled_places_words(struct mt_sampled_places *seen, const uint64_t *words, size_t count,
			     uint64_t last_time);

/* All mappings of records below that time have been told. */
void mt_sampled_places_settle(struct mt_sampled_places *seen, uint64_t complete_below);

/* All mappings have been. */
void mt_sampled_places_settle_all(struct mt_sampled_places *seen);

/* Places of an image: multiples of MT_SEEN_UNIT in its file. */
struct mt_code_news {
	uint64_t *offsets; /* rising; the caller's to free, NULL: no news */
	size_t count;
	bool whole; /* it is to be seen as a whole: no offsets are told, now and later */
};

/* Those that were not taken before. False out of memory. */
bool mt_sampled_places_take(struct mt_sampled_places *seen, uint32_t image,
			    struct mt_code_news *out);

/* Places of all images that were not taken yet, about. */
size_t mt_sampled_places_untaken(const struct mt_sampled_places *seen);

/* An image is to be seen as a whole from now on. */
void mt_sampled_places_make_whole(struct mt_sampled_places *seen, uint32_t image);

#endif
