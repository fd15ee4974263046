/*
 * Decodes PACKED records, and coding 1 of SAMPLE records, which only earlier versions wrote
 * (FORMAT.md sections 7.1 and 7.2). Maintains the same images as the encoder
 * (formats/stacks/stack_encoder.h).
 */
#ifndef MT_FORMATS_STACKS_STACK_DECODER_H
#define MT_FORMATS_STACKS_STACK_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/stacks/packed_body.h"

#define MT_STACK_DECODED_MAX (16u << 20) /* bytes that a chunk's coded records decode to */
/* Most bytes that the body of a PACKED record decodes to. */
#define MT_STACK_UNPACKED_MAX ((size_t)8 * 8191 + MT_STACK_DUMP_MAX)

struct mt_stack_decoder;

/* NULL out of memory. Images are allocated when their slot is first used. */
struct mt_stack_decoder *mt_stack_decoder_create(void);
void mt_stack_decoder_destroy(struct mt_stack_decoder *decoder);

/* Begins a chunk. */
void mt_stack_decoder_reset(struct mt_stack_decoder *decoder);

/* Bytes of memory that the decoder holds, without slots that were only reserved. */
size_t mt_stack_decoder_memory(const struct mt_stack_decoder *decoder);

/* Allocates the image that the dump of a PACKED record needs; false out of memory. */
bool mt_stack_decoder_reserve(struct mt_stack_decoder *decoder, const uint8_t *body, size_t size);

/*
 * Decodes a dump of coding 1 to `size` bytes at out. False, with out undefined, if the bytes do not
 * encode exactly that many.
 */
bool mt_stack_decode(struct mt_stack_decoder *decoder, const uint8_t *coded, size_t coded_size,
		     uint8_t *out, size_t size);

/*
 * Decodes the body of a PACKED record into out (8-byte aligned, MT_STACK_UNPACKED_MAX bytes): the
 * kernel's words, then the dump; *out_size is the total size. False for a malformed body.
 * mt_packed_get() checks that the kernel's words are consistent.
 */
bool mt_stack_unpack(struct mt_stack_decoder *decoder, uint64_t time, const uint8_t *body,
		     size_t size, uint8_t *out, size_t *out_size);

/*
 * mt_stack_unpack() in two steps, for callers that need few of the dumps, or each for a moment. The
 * steps share no state of the decoder.
 *
 * First, mt_stack_unpack_kernel() decodes the kernel's words of every record, in order. *dump is
 * the size of the dump, 0 if there is none. False as for mt_stack_unpack().
 *
 * Then, mt_stack_unpack_dump() decodes the dumps of every record, in order, from the kernel's words
 * of the first step. Sets *any if the record has a dump. False out of memory.
 */
bool mt_stack_unpack_kernel(struct mt_stack_decoder *decoder, uint64_t time, const uint8_t *body,
			    size_t size, uint8_t *out, size_t *out_size, size_t *dump);
bool mt_stack_unpack_dump(struct mt_stack_decoder *decoder, const uint8_t *body, size_t size,
			  const uint8_t *kernel, uint8_t *out, bool *any);

#endif
