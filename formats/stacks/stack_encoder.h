/*
 * Encodes PACKED records (FORMAT.md section 7.2). A dump is mostly equal to the thread's previous
 * dump: encoder and decoder keep an image of the stack in a slot, indexed by address modulo 64 KiB,
 * and only words that differ from the image are stored. The kernel's words before and after the
 * dump are encoded against earlier samples of the slot (formats/stacks/kernel_words.h).
 *
 * Images are reset at each chunk, so chunks do not depend on one another.
 */
#ifndef MT_FORMATS_STACKS_STACK_ENCODER_H
#define MT_FORMATS_STACKS_STACK_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MT_STACK_SLOT_SIZE ((size_t)70 << 10) /* most bytes of memory that a slot takes */
/* Most bytes in the body of a PACKED record. */
#define MT_STACK_PACKED_BOUND(kernel_size, dump_size)                                              \
	((kernel_size) + (kernel_size) / 64 + (dump_size) + (dump_size) / 64 + (dump_size) / 512 + \
	 128)

struct mt_sample_pieces;
struct mt_stack_encoder;

/*
 * Keeps images of the `slots` most recently used threads (at most MT_STACK_SLOTS_MAX), each up to
 * MT_STACK_SLOT_SIZE bytes. NULL out of memory.
 */
struct mt_stack_encoder *mt_stack_encoder_create(unsigned slots);
void mt_stack_encoder_destroy(struct mt_stack_encoder *encoder);

/*
 * Populates the memory of the first `slots` slots, or of all if there are fewer. Call once before
 * encoding; from then on only populated slots are used, so encoding never faults. Later calls, to
 * populate more slots, may run while another thread encodes.
 */
void mt_stack_encoder_populate(struct mt_stack_encoder *encoder, unsigned slots);

/*
 * Number of slots with which threads would not repeatedly evict each other's slots; 0 if the
 * present number suffices or cannot grow. May be called while another thread encodes.
 */
unsigned mt_stack_encoder_wants(const struct mt_stack_encoder *encoder);

/* Number of usable slots. May be called while another thread encodes. */
unsigned mt_stack_encoder_slots(const struct mt_stack_encoder *encoder);

/*
 * Sets whether the encoder does without vector instructions, to test the variants against each
 * other.
 */
void mt_stack_encoder_set_portable(struct mt_stack_encoder *encoder, bool portable);

/* Begins a chunk. */
void mt_stack_encoder_reset(struct mt_stack_encoder *encoder);

/*
 * Encodes a sample, with its dump if it has one, as the body of a PACKED record at `body` (8-byte
 * aligned, MT_STACK_PACKED_BOUND() bytes). Returns the body's size, a multiple of 8. Returns 0,
 * with the encoder unchanged, for a sample that has to be stored plain (unaligned sizes or
 * addresses).
 */
size_t mt_stack_encode(struct mt_stack_encoder *encoder, uint64_t time,
		       const struct mt_sample_pieces *pieces, uint8_t *body);

#endif
