/*
 * Parses the parts of a PACKED record's body (FORMAT.md section 7.2) that need no earlier record.
 * Used by the decoder, and by the recorder to read the record that was just encoded.
 */
#ifndef MT_FORMATS_STACKS_PACKED_BODY_H
#define MT_FORMATS_STACKS_PACKED_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/cursor.h"

#define MT_STACK_SLOTS_MAX 1024 /* a decoder refuses higher slot numbers */
#define MT_STACK_DUMP_MAX 65528 /* the kernel's largest dump */

/* The fields before a PACKED record's bit maps. */
struct mt_packed_head {
	uint32_t event;
	uint16_t words; /* number of the kernel's words */
	uint16_t tail;	/* how many of `words` follow the cut; 0: no dump */
	uint16_t slot;
	uint16_t sp;   /* the dump's address is this many words before the cut */
	uint8_t lines; /* bytes of the bit map of changed lines */
};

#define MT_PACKED_HEAD_SIZE 13

/* False if the body is too short or its fields are inconsistent. */
bool mt_packed_head_get(const uint8_t *body, size_t size, struct mt_packed_head *out);

/* The bit map of changed lines, and a mask of changed words for each set bit. */
struct mt_packed_changed {
	const uint8_t *bits;
	size_t bytes;
	const uint8_t *masks;
	struct mt_cursor words; /* the stored words */
};

/*
 * Reads a bit map of `bitmap` bytes, its masks, and the padding up to a multiple of 8 from `start`;
 * the remainder of `in` becomes the words. False if `in` is too short.
 */
bool mt_packed_changed_take(struct mt_cursor *in, const uint8_t *start, size_t bitmap,
			    struct mt_packed_changed *out);

/* A parsed PACKED record. */
struct mt_packed_parts {
	struct mt_packed_head head;
	const uint8_t *mask;		  /* bit map of the kernel's words that are stored */
	struct mt_packed_changed changed; /* its words: the kernel's, then the dump's */
};

/* Borrows the body; false if it is malformed. */
bool mt_packed_parts_take(const uint8_t *body, size_t size, struct mt_packed_parts *out);

/* Counts set bits. Few are set, and not every CPU has an instruction for it. */
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
 * Reads word `index` of the kernel's words; false if it is not stored. A word that is not stored
 * equals the word at that index in the slot's previous record of the same number of words modulo
 * MT_KERNEL_REFERENCES, except for times and instruction pointers.
 */
bool mt_packed_word(const uint8_t *body, size_t size, size_t index, uint64_t *word);

/*
 * The stored words among the kernel's words, and their size in bytes; NULL if the body is
 * malformed. With a dump and `registers` not 0, the words end before the user registers, which are
 * the `registers` words in front of the dump's size.
 */
const uint8_t *mt_packed_words(const uint8_t *body, size_t size, size_t registers, size_t *bytes);

#endif
