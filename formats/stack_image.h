/*
 * Coding 1 of a SAMPLE's dump (FORMAT.md section 7.1): a dump of a thread's stack is mostly the
 * thread's previous one. Encoder and decoder keep the same image of a stack per slot, by address
 * modulo 64 KiB; only words that differ from it are stored.
 *
 * Both begin a chunk with empty images, so that chunks stay independent of one another.
 */
#ifndef MT_FORMATS_STACK_IMAGE_H
#define MT_FORMATS_STACK_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MT_STACK_SLOTS_MAX 1024		 /* a decoder refuses higher slot numbers */
#define MT_STACK_DUMP_MAX 65528		 /* the largest dump the kernel gives */
#define MT_STACK_DECODED_MAX (16u << 20) /* bytes of coded dumps in one chunk, decoded */
/* The most bytes that coding a dump of that size can take. */
#define MT_STACK_CODED_BOUND(size) ((size) + (size) / 64 + 64 + (size) / 512 + 64)

struct mt_stack_encoder;
struct mt_stack_decoder;

/*
 * Keeps images of the `slots` threads used last (at most MT_STACK_SLOTS_MAX), 64 KiB each. NULL out
 * of memory.
 */
struct mt_stack_encoder *mt_stack_encoder_create(unsigned slots);
void mt_stack_encoder_destroy(struct mt_stack_encoder *encoder);

/* Gets all its memory from the system now; another thread may be coding meanwhile. */
void mt_stack_encoder_populate(struct mt_stack_encoder *encoder);

/*
 * From now on without the processor's wide instructions, for those who have none and to hold the
 * two ways against each other.
 */
void mt_stack_encoder_set_portable(struct mt_stack_encoder *encoder);

/* Begins a chunk. */
void mt_stack_encoder_reset(struct mt_stack_encoder *encoder);

/*
 * Codes a thread's dump, whose first byte stands at `address`, into out (MT_STACK_CODED_BOUND(size)
 * bytes). Returns the coded size, or 0 where this dump is better stored as it is (unaligned, empty,
 * oversized); the images are then unchanged.
 */
size_t mt_stack_encode(struct mt_stack_encoder *encoder, uint32_t tid, uint64_t address,
		       const uint8_t *dump, size_t size, uint8_t *out);

/* NULL out of memory. Images are allocated as slots are seen. */
struct mt_stack_decoder *mt_stack_decoder_create(void);
void mt_stack_decoder_destroy(struct mt_stack_decoder *decoder);

/* Begins a chunk. */
void mt_stack_decoder_reset(struct mt_stack_decoder *decoder);

/*
 * Decodes into out, `size` bytes. False for bytes that are not a coding of that many, with out
 * undefined.
 */
bool mt_stack_decode(struct mt_stack_decoder *decoder, const uint8_t *coded, size_t coded_size,
		     uint8_t *out, size_t size);

#endif
