/*
 * The body of a PACKED record (FORMAT.md section 7.2), taken apart: for the decoder, and for those
 * who look at what was just encoded. The words themselves come from formats/stacks/stack_encoder.h.
 */
#ifndef MT_FORMATS_STACKS_PACKED_BODY_H
#define MT_FORMATS_STACKS_PACKED_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/cursor.h"

#define MT_STACK_SLOTS_MAX 1024 /* a decoder refuses higher slot numbers */
#define MT_STACK_DUMP_MAX 65528 /* the largest dump the kernel gives */

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

/* The bit map of the lines that changed, with a mask of words for each. */
struct mt_packed_changed {
	const uint8_t *bits;
	size_t bytes;
	const uint8_t *masks;
	struct mt_cursor words; /* what is stored */
};

/*
 * Takes a bit map of so many bytes from `in`, the masks that follow it, and what fills them up to a
 * multiple of 8 from `start` on; all that is left are the words. False where `in` is too short.
 */
bool mt_packed_changed_take(struct mt_cursor *in, const uint8_t *start, size_t bitmap,
			    struct mt_packed_changed *out);

/* A PACKED record, taken apart. */
struct mt_packed_parts {
	struct mt_packed_head head;
	const uint8_t *mask;		  /* of the kernel's words */
	struct mt_packed_changed changed; /* its words: the kernel's, and behind them the dump's */
};

/* Borrows the body. False for what is none. */
bool mt_packed_parts_take(const uint8_t *body, size_t size, struct mt_packed_parts *out);

/* How many bits are set. Few are, and not every processor counts them. */
static inline size_t mt_packed_count(const uint8_t *bits, size_t bytes)
{
	size_t count = 0;

	for (size_t i = 0; i < bytes; i++) {
		for (unsigned set = bits[i]; set; set &= set - 1)
			count++;
	}
	return count;
}

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
