/*
 * PACKED records, and coding 1 of a SAMPLE's dump (FORMAT.md sections 7.1 and 7.2): a dump of a
 * thread's stack is mostly the thread's previous one. Encoder and decoder keep the same image of a
 * stack per slot, by address modulo 64 KiB; only words that differ from it are stored. What the
 * kernel wrote before and behind the dump is held against earlier samples of the slot in the same
 * way (formats/kernel_words.h).
 *
 * Both begin a chunk with nothing, so that chunks stay independent of one another. Coding 1 is read
 * alone: what earlier versions wrote.
 */
#ifndef MT_FORMATS_STACK_IMAGE_H
#define MT_FORMATS_STACK_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MT_STACK_SLOTS_MAX 1024		      /* a decoder refuses higher slot numbers */
#define MT_STACK_DUMP_MAX 65528		      /* the largest dump the kernel gives */
#define MT_STACK_DECODED_MAX (16u << 20)      /* bytes that coded records of a chunk decode to */
#define MT_STACK_SLOT_SIZE ((size_t)70 << 10) /* bytes of memory that a slot takes, at most */
/* The most bytes that the body of a PACKED record takes. */
#define MT_STACK_PACKED_BOUND(kernel_size, dump_size)                                              \
	((kernel_size) + (kernel_size) / 64 + (dump_size) + (dump_size) / 64 + (dump_size) / 512 + \
	 128)
/* The most bytes that one decodes to. */
#define MT_STACK_UNPACKED_MAX ((size_t)8 * 8191 + MT_STACK_DUMP_MAX)

struct mt_sample_pieces;
struct mt_stack_encoder;
struct mt_stack_decoder;

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
 * How many slots there should be for there to be a few that no thread of the chunk has taken yet;
 * 0: so many there are, or there can be no more. Callable while another thread is coding.
 */
unsigned mt_stack_encoder_wants(const struct mt_stack_encoder *encoder);

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

/* What stands in front of a PACKED record's bit maps. */
struct mt_packed_head {
	uint32_t event;
	uint16_t words; /* of the kernel's */
	uint16_t tail;	/* of them, from the cut on; 0: there was no dump */
	uint16_t slot;
	uint16_t sp;   /* so many words before the cut stands the dump's address */
	uint8_t lines; /* bytes of the bit map of changed lines */
};

#define MT_PACKED_HEAD_SIZE 13

/* False where the body is too short, or the fields contradict one another. */
bool mt_packed_head_get(const uint8_t *body, size_t size, struct mt_packed_head *out);

/*
 * For those who look at what was just encoded: whether word `index` of the kernel's is stored, and
 * which. One that is not is the word there in the record before it of the same slot and the same
 * number of words modulo MT_KERNEL_REFERENCES, but for times and instruction pointers.
 */
bool mt_packed_word(const uint8_t *body, size_t size, size_t index, uint64_t *word);

/*
 * Those of the kernel's words that are stored, and how many bytes they take; NULL likewise. Where
 * there was a dump, without the user's registers, which are so many words before the dump's size
 * (0: all words), and what stands behind them.
 */
const uint8_t *mt_packed_words(const uint8_t *body, size_t size, size_t registers, size_t *bytes);

#endif
