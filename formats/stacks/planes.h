/*
 * Splits the records of a DATA chunk into planes, each with bytes of one kind, and joins planes to
 * records (FORMAT.md section 7.4). PACKED records are split into fields, others kept whole.
 * planes_pack.h compresses the planes.
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

/* NULL out of memory. Buffers are allocated when first needed. */
struct mt_plane_splitter *mt_plane_splitter_create(void);
void mt_plane_splitter_destroy(struct mt_plane_splitter *splitter);

/*
 * Sets a callback that receives each word of a PACKED record that is split, at least once, except
 * times and 0.
 */
void mt_plane_splitter_set_words(struct mt_plane_splitter *splitter, mt_words_deliver *deliver,
				 void *context);

/*
 * Splits a chunk's records into planes, which the splitter owns and which are valid until the next
 * call. False, to leave the records as they are, if few of them are PACKED or memory is short.
 */
bool mt_planes_split(struct mt_plane_splitter *splitter, const uint8_t *records, size_t size,
		     struct mt_plane planes[MT_PLANES]);

/* Bound on the planes' bytes for `size` bytes of records; a reader refuses more. */
static inline uint64_t mt_planes_size_max(uint64_t size)
{
	return 2 * size;
}

/* Bytes of scratch memory for joining `size` bytes of records. */
static inline size_t mt_planes_scratch_size(size_t size)
{
	return size + 8;
}

/*
 * Joins planes to `size` bytes of records. scratch is aligned for uint64_t. False, with `records`
 * undefined, if the planes do not yield exactly that size.
 */
bool mt_planes_join(const struct mt_plane planes[MT_PLANES], uint8_t *records, size_t size,
		    void *scratch);

#endif
