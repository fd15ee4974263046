/*
 * Which places of images' code the words of a recording point to: no stack has a frame anywhere
 * else, so that only what stands around these needs to be carried. Words are told as they are
 * written, and mappings as their records pass; which of them comes first does not matter. A word is
 * held against the mappings of all processes, ended ones, too: at worst a place too many is seen.
 *
 * Where more is told than is kept in memory, the images that it could be of are seen as a whole.
 */
#ifndef MT_RECORD_CODE_SEEN_H
#define MT_RECORD_CODE_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_code_seen;
struct mt_image_record;

/* NULL out of memory. */
struct mt_code_seen *mt_code_seen_create(void);
void mt_code_seen_destroy(struct mt_code_seen *seen);

/*
 * The image's number, the same for all of its build id, or, without one, of that file. 0: there are
 * too many.
 */
uint32_t mt_code_seen_image(struct mt_code_seen *seen, const struct mt_image_record *image);

/* An executable mapping of that image, from its file's offset on, and the time of its record. */
struct mt_code_mapping {
	uint64_t start, end, offset;
	uint64_t time; /* 0: not known, it may have been there for long */
	int32_t pid;
	uint32_t image;
};
void mt_code_seen_map(struct mt_code_seen *seen, const struct mt_code_mapping *mapping);

/* Words of records of which none is later than that. */
void mt_code_seen_words(struct mt_code_seen *seen, const uint64_t *words, size_t count,
			uint64_t last_time);

/* All mappings of records below that time have been told. */
void mt_code_seen_settle(struct mt_code_seen *seen, uint64_t complete_below);

/* All mappings have been. */
void mt_code_seen_settle_all(struct mt_code_seen *seen);

/* Where code is mapped now, in any process but some. */
struct mt_code_range {
	uint64_t start, end;
};
struct mt_code_there {
	const struct mt_code_range *ranges; /* rising, none touching another */
	size_t count;
	const int32_t *hidden; /* processes of which it is not known */
	size_t hidden_count;
};

/*
 * Where processes come and go, their mappings become many. Once they are, it helps to be told what
 * is there: mappings of which nothing is are forgotten, when all words of their time have been
 * told.
 */
bool mt_code_seen_is_crowded(const struct mt_code_seen *seen);
void mt_code_seen_keep(struct mt_code_seen *seen, const struct mt_code_there *there);

/* Places of an image: multiples of MT_SEEN_UNIT in its file. */
struct mt_code_news {
	/* Rising, behind them those that were taken before; the caller's to free, NULL: no news */
	uint64_t *offsets;
	size_t count, before;
	bool whole; /* it is to be seen as a whole: no offsets are told, now and later */
};

/* Those that were not taken before. False out of memory. */
bool mt_code_seen_take(struct mt_code_seen *seen, uint32_t image, struct mt_code_news *out);

/* Places of all images that were not taken yet, about. */
size_t mt_code_seen_untaken(const struct mt_code_seen *seen);

/* An image is to be seen as a whole from now on. */
void mt_code_seen_make_whole(struct mt_code_seen *seen, uint32_t image);

#endif
