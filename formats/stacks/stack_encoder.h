/*
 * Encodes PACKED records (FORMAT.md section 7.2): a dump of a thread's stack is mostly the thread's
 * previous one. Encoder and decoder keep the same image of a stack per slot, by address modulo
 * 64 KiB; only words that differ from it are stored. What the kernel wrote before and behind the
 * dump is held against earlier samples of the slot in the same way (formats/stacks/kernel_words.h).
 *
 * Both begin a chunk with nothing, so that chunks stay independent of one another.
 */
#ifndef MT_FORMATS_STACKS_STACK_ENCODER_H
#define MT_FORMATS_STACKS_STACK_ENCODER_H

#include <stddef.h>
#include <stdint.h>

#define MT_STACK_SLOT_SIZE ((size_t)70 << 10) /* bytes of memory that a slot takes, at most */
/* The most bytes that the body of a PACKED record takes. */
#define MT_STACK_PACKED_BOUND(kernel_size, dump_size)                                              \
	((kernel_size) + (kernel_size) / 64 + (dump_size) + (dump_size) / 64 + (dump_size) / 512 + \
	 128)

struct mt_sample_pieces;
struct mt_stack_encoder;

/*
 * Keeps images of the `slots` threads used last (at most MT_STACK_SLOTS_MAX), MT_STACK_SLOT_SIZE
 * bytes each. NULL out of memory.
 */
struct mt_stack_encoder *mt_stack_encoder_create(unsigned slots);
void mt_stack_encoder_destroy(struct mt_stack_encoder *encoder);

/*
 * Gets the memory for the first so many slots from the system, as far as there are so many; another
 * thread may be coding meanwhile. From the first call on no others are used than those, so that
 * coding fetches no memory: that call comes before any coding.
 */
void mt_stack_encoder_populate(struct mt_stack_encoder *encoder, unsigned slots);

/*
 * How many slots there should be for threads not to take each other's again and again; 0: so many
 * there are, or there can be no more. Callable while another thread is coding.
 */
unsigned mt_stack_encoder_wants(const struct mt_stack_encoder *encoder);

/* How many slots may be used. Callable likewise. */
unsigned mt_stack_encoder_slots(const struct mt_stack_encoder *encoder);

/*
 * From now on with instructions that go by at most so many bits at a time (512, 256; less: the
 * plain way), to hold the ways against each other. As it comes, an encoder takes the widest there
 * are.
 */
void mt_stack_encoder_limit_width(struct mt_stack_encoder *encoder, unsigned bits);

/* Begins a chunk. */
void mt_stack_encoder_reset(struct mt_stack_encoder *encoder);

/*
 * Codes a sample, with its dump where it has one, as the body of a PACKED record, at `body`
 * (8-byte aligned, MT_STACK_PACKED_BOUND() bytes). Returns the body's size, a multiple of 8, or 0
 * where this sample is better stored as it is (of odd sizes, at odd addresses); nothing is kept of
 * it then.
 */
size_t mt_stack_encode(struct mt_stack_encoder *encoder, uint64_t time,
		       const struct mt_sample_pieces *pieces, uint8_t *body);

#endif
