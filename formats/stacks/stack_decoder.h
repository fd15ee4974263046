/*
 * Decodes PACKED records, and coding 1 of a SAMPLE's dump (FORMAT.md sections 7.1 and 7.2), with
 * the images that the encoder had (formats/stacks/stack_encoder.h). Coding 1 is read alone: what
 * earlier versions wrote.
 */
#ifndef MT_FORMATS_STACKS_STACK_DECODER_H
#define MT_FORMATS_STACKS_STACK_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/stacks/packed_body.h"

#define MT_STACK_DECODED_MAX (16u << 20) /* bytes that coded records of a chunk decode to */
/* The most bytes that the body of a PACKED record decodes to. */
#define MT_STACK_UNPACKED_MAX ((size_t)8 * 8191 + MT_STACK_DUMP_MAX)

struct mt_stack_decoder;

/* NULL out of memory. Images are allocated as slots are seen. */
struct mt_stack_decoder *mt_stack_decoder_create(void);
void mt_stack_decoder_destroy(struct mt_stack_decoder *decoder);

/* Begins a chunk. */
void mt_stack_decoder_reset(struct mt_stack_decoder *decoder);

/* Bytes of memory it holds; it does not grow by slots that were reserved. */
size_t mt_stack_decoder_memory(const struct mt_stack_decoder *decoder);

/* Makes the image that a PACKED record's dump goes through. False out of memory. */
bool mt_stack_decoder_reserve(struct mt_stack_decoder *decoder, const uint8_t *body, size_t size);

/*
 * Decodes into out, `size` bytes. False for bytes that are not a coding of that many, with out
 * undefined.
 */
bool mt_stack_decode(struct mt_stack_decoder *decoder, const uint8_t *coded, size_t coded_size,
		     uint8_t *out, size_t size);

/*
 * Decodes the body of a PACKED record into out (8-byte aligned, MT_STACK_UNPACKED_MAX bytes): the
 * kernel's words, then the dump; *out_size: both together. False for what is no such body. Whether
 * what the kernel's words say agrees with one another is for mt_packed_get() to tell.
 */
bool mt_stack_unpack(struct mt_stack_decoder *decoder, uint64_t time, const uint8_t *body,
		     size_t size, uint8_t *out, size_t *out_size);

/*
 * The same in two steps, for who needs the dumps of some records only, or each for a moment. First
 * the kernel's words, whose references go on from record to record: it says how large the dump is
 * (0: there was none), and is false for all that mt_stack_unpack() is. Then the dump, which rests
 * on those of all records before, in the same order: *any tells whether there was one; false out of
 * memory, where the kernel's words are what the first step gave. The steps share nothing in the
 * decoder.
 */
bool mt_stack_unpack_kernel(struct mt_stack_decoder *decoder, uint64_t time, const uint8_t *body,
			    size_t size, uint8_t *out, size_t *out_size, size_t *dump);
bool mt_stack_unpack_dump(struct mt_stack_decoder *decoder, const uint8_t *body, size_t size,
			  const uint8_t *kernel, uint8_t *out, bool *any);

#endif
