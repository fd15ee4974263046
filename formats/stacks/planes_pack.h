/*
 * Payloads of codec 2 (FORMAT.md section 7.4): a DATA chunk's planes, each compressed on its own.
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
 * Packs a chunk's records to `out`. `level` is zstd's. Up to 2 most planes only use its entropy
 * coder, which takes a fraction of the time and compresses nearly as well. At 0 and below, words
 * without an earlier similar word are stored uncompressed. Returns the payload's size; 0 if that
 * exceeds `room`, or if the records compress better whole (few of them are PACKED).
 */
size_t mt_planes_pack(struct mt_planes_packer *packer, const uint8_t *records, size_t size,
		      int level, uint8_t *out, size_t room);

/*
 * Sets a callback that receives the words of 8 bytes (at multiples of 8) of packed records: each
 * word at least once, except 0 and the times of PACKED records. It is also called for records that
 * then do not fit.
 */
void mt_planes_packer_set_words(struct mt_planes_packer *packer, mt_words_deliver *deliver,
				void *context);

/*
 * Unpacks a payload to `size` bytes of records; false if it does not yield exactly that many.
 * *no_memory is set if memory for the planes ran out.
 */
bool mt_planes_unpack(struct ZSTD_DCtx_s *zstd, const uint8_t *payload, size_t payload_size,
		      uint8_t *records, size_t size, bool *no_memory);

#endif
