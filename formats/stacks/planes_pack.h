/*
 * Payloads of codec 2 (FORMAT.md section 7.4): the planes of a DATA chunk's records, each
 * compressed by itself.
 */
#ifndef MT_FORMATS_STACKS_PLANES_PACK_H
#define MT_FORMATS_STACKS_PLANES_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/stacks/planes.h"

struct ZSTD_DCtx_s;
struct mt_planes_packer;

/* NULL out of memory. */
struct mt_planes_packer *mt_planes_packer_create(void);
void mt_planes_packer_destroy(struct mt_planes_packer *packer);

/*
 * Packs a chunk's records to `out`. The level is zstd's: up to 2 most planes are left to its
 * entropy coder alone, which takes a fraction of the time and finds nearly as much; below 0 it does
 * not try words that are like none before. Gives the payload's size, or 0 where that would be more
 * than `room` bytes, or where the records are better compressed as they are (few of them PACKED).
 */
size_t mt_planes_pack(struct mt_planes_packer *packer, const uint8_t *records, size_t size,
		      int level, uint8_t *out, size_t room);

/*
 * From now on told of what is packed: each word of 8 bytes at a multiple of 8 that stands in the
 * records, once or more often, but for 0 and times of PACKED ones. What then does not fit may have
 * been told of.
 */
void mt_planes_packer_set_words(struct mt_planes_packer *packer, mt_words_tell *tell,
				void *context);

/*
 * Unpacks a payload to `size` bytes of records. False where it does not make just so many;
 * no_memory is set where there was none for the planes.
 */
bool mt_planes_unpack(struct ZSTD_DCtx_s *zstd, const uint8_t *payload, size_t payload_size,
		      uint8_t *records, size_t size, bool *no_memory);

#endif
