/*
 * Encodes the kernel's words of a PACKED record (FORMAT.md section 7.2) against those of an earlier
 * sample of the same length in the same slot. Most words repeat. Times and instruction pointers do
 * not repeat, but are found at the same index.
 */
#ifndef MT_FORMATS_STACKS_KERNEL_WORDS_H
#define MT_FORMATS_STACKS_KERNEL_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_cursor;

#define MT_KERNEL_WORDS_MIN 4
#define MT_KERNEL_WORDS_MAX 8191
#define MT_KERNEL_REFERENCES 4 /* per slot; chosen by the number of words modulo this */
#define MT_KERNEL_REFERENCE_WORDS 128

struct mt_kernel_reference {
	uint64_t time;
	/* the first 8 words of a sample, then its last ones */
	uint64_t words[MT_KERNEL_REFERENCE_WORDS];
};

/* The references of one slot. */
struct mt_kernel_references {
	struct mt_kernel_reference of[MT_KERNEL_REFERENCES];
	uint64_t used; /* bit i: reference i was written in this chunk; else it reads as zeros */
};

/* Begins a chunk. */
static inline void mt_kernel_references_reset(struct mt_kernel_references *references)
{
	references->used = 0;
}

/* A sample that is being encoded or decoded. */
struct mt_kernel_words {
	struct mt_kernel_reference *reference;
	size_t count, next;
	/* the values of this sample that replace those of the reference (*_was) */
	uint64_t time, time_was, ip, ip_was;
};

/* Begins a sample of `count` words, MT_KERNEL_WORDS_MIN to MT_KERNEL_WORDS_MAX. */
struct mt_kernel_words mt_kernel_words_begin(struct mt_kernel_references *references, size_t count,
					     uint64_t time);

/*
 * Encodes the sample's next words: sets the bits of stored words in the zeroed mask of all words,
 * and appends the words at `stored`. Returns the end of the stored words; one word past it may be
 * overwritten.
 */
uint8_t *mt_kernel_words_encode(struct mt_kernel_words *words, const uint8_t *from, size_t count,
				uint8_t *mask, uint8_t *stored);

/* Decodes all words of a sample to `out`; false if too few are stored. */
bool mt_kernel_words_decode(struct mt_kernel_words *words, const uint8_t *mask,
			    struct mt_cursor *stored, uint8_t *out);

#endif
