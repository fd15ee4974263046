/*
 * The kernel's half of a PACKED record (FORMAT.md section 7.2): words of a sample against those of
 * an earlier sample of the same length and slot. Most repeat; the time and the instruction pointer,
 * which do not, are known to stand where they stood before.
 */
#ifndef MT_FORMATS_STACKS_KERNEL_WORDS_H
#define MT_FORMATS_STACKS_KERNEL_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_cursor;

#define MT_KERNEL_WORDS_MIN 4
#define MT_KERNEL_WORDS_MAX 8191
#define MT_KERNEL_REFERENCES 4 /* of a slot: by number of words, modulo this */
#define MT_KERNEL_REFERENCE_WORDS 128

struct mt_kernel_reference {
	uint64_t time;
	uint64_t words[MT_KERNEL_REFERENCE_WORDS]; /* the first ones of a sample, then its last */
};

/* Of one slot. */
struct mt_kernel_references {
	struct mt_kernel_reference of[MT_KERNEL_REFERENCES];
	uint64_t used; /* bit i: i was written in this chunk; until then it reads as zeros */
};

/* Begins a chunk. */
static inline void mt_kernel_references_reset(struct mt_kernel_references *references)
{
	references->used = 0;
}

/* A sample on its way through: see mt_kernel_words_begin(). */
struct mt_kernel_words {
	struct mt_kernel_reference *reference;
	size_t count, next;
	uint64_t time, time_was, ip, ip_was; /* what stands in place of what */
};

/* Begins a sample of so many words, MT_KERNEL_WORDS_MIN to MT_KERNEL_WORDS_MAX. */
struct mt_kernel_words mt_kernel_words_begin(struct mt_kernel_references *references, size_t count,
					     uint64_t time);

/* Codes so many of them, which stand one behind the other in their reference, too. */
typedef uint8_t *mt_kernel_run_coder(const struct mt_kernel_words *words, uint64_t *reference,
				     const uint8_t *from, size_t count, uint8_t *mask,
				     uint8_t *stored);

/* The fastest that goes by at most so many bits at a time. All give the same. */
mt_kernel_run_coder *mt_kernel_run_coder_for(unsigned bits);

/*
 * Codes the sample's next words. Bits of those that are stored are set in the mask of all words,
 * which was zeros; they are added at `stored`. Returns the end of what is stored; eight words past
 * it may be overwritten.
 */
uint8_t *mt_kernel_words_encode(mt_kernel_run_coder *code_run, struct mt_kernel_words *words,
				const uint8_t *from, size_t count, uint8_t *mask, uint8_t *stored);

/* Decodes all words of a sample to `out`. False where there are too few stored. */
bool mt_kernel_words_decode(struct mt_kernel_words *words, const uint8_t *mask,
			    struct mt_cursor *stored, uint8_t *out);

#endif
