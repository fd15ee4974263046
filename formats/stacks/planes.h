/*
 * The records of a DATA chunk as planes, in which bytes of one kind stand together, and back
 * (FORMAT.md section 7.4): PACKED records taken apart, others as they are. Compressing the planes
 * is planes_pack.h's matter.
 */
#ifndef MT_FORMATS_STACKS_PLANES_H
#define MT_FORMATS_STACKS_PLANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/stacks/word_code.h"

enum mt_plane_number {
	MT_PLANE_KINDS,
	MT_PLANE_TIMES,
	MT_PLANE_HEADS,
	MT_PLANE_OTHERS,
	MT_PLANE_STORED,
	MT_PLANE_CHANGED,
	MT_PLANE_MASKS,
	MT_PLANE_WORDS, /* the first of MT_WORD_PLANES */
	MT_PLANES = MT_PLANE_WORDS + MT_WORD_PLANES,
};

struct mt_plane_splitter;

/* NULL out of memory. Room for what is split is made as it is needed. */
struct mt_plane_splitter *mt_plane_splitter_create(void);
void mt_plane_splitter_destroy(struct mt_plane_splitter *splitter);

/*
 * From now on told of what is split: each word that stands in a PACKED record, once or more often,
 * but for times and 0.
 */
void mt_plane_splitter_set_words(struct mt_plane_splitter *splitter, mt_words_tell *tell,
				 void *context);

/*
 * Takes a chunk's records apart; the planes are the splitter's and hold until the next time. False
 * where few of them are PACKED, or there is no memory for it: then they are better left as they
 * are.
 */
bool mt_planes_split(struct mt_plane_splitter *splitter, const uint8_t *records, size_t size,
		     struct mt_plane planes[MT_PLANES]);

/* Most bytes that the planes of so many bytes of records have; a reader refuses more. */
static inline uint64_t mt_planes_size_max(uint64_t size)
{
	return 2 * size;
}

/* Bytes of memory that joining to `size` bytes takes beside them. */
static inline size_t mt_planes_scratch_size(size_t size)
{
	return size + 8;
}

/*
 * Puts records together, `size` bytes of them, at `records`. The scratch is aligned as words are.
 * False for planes that do not make just so many; what stands there is undefined then.
 */
bool mt_planes_join(const struct mt_plane planes[MT_PLANES], uint8_t *records, size_t size,
		    void *scratch);

#endif
