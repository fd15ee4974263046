/*
 * Which functions of an image call which, as a set that takes little more than a byte for each:
 * what stacks are joined by (unwind/join.h) where the code is not at hand. FORMAT.md section 8.1
 * has the bytes. A pair that is in the set is found; of those that are not one in 1024 is, too.
 */
#ifndef MT_SYMBOLS_CALL_SET_H
#define MT_SYMBOLS_CALL_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf.h"

struct mt_seen_code;
struct mt_skeleton_input;

/* The section of a skeleton that holds it. */
#define MT_CALL_SET_SECTION ".mtrec_calls"

/* Code of more bytes is not looked at: no image has a set then. */
#define MT_CALL_SET_TEXT_MAX ((uint64_t)64 << 20)

/* Pairs of functions of which both were seen: that are not both in what was before. */
struct mt_seen_calls {
	const struct mt_seen_code *now;
	const struct mt_seen_code *before; /* or NULL */
};

/*
 * Makes the section's bytes out of an image's .text and its unwind tables; *out is the caller's to
 * free, NULL with size 0 where these say nothing. input: as for a skeleton, or NULL. seen: only
 * pairs of functions in which these places lie, or NULL: all. False out of memory.
 */
bool mt_call_set_make(struct mt_elf *elf, const struct mt_skeleton_input *input,
		      const struct mt_seen_calls *seen, uint8_t **out, size_t *size);

/* One set of numbers, each of them on the scale of their count. */
struct mt_call_numbers {
	uint32_t *values; /* sorted */
	size_t count;
	unsigned int bits; /* of the low part of its numbers */
};

/*
 * A section's sets as they are asked: one, or as many as skeletons were merged. All-zero it is
 * empty.
 */
struct mt_call_set {
	struct mt_call_numbers *sets;
	size_t count;
};

/* Reads such bytes; damaged ones make an empty set, or one with fewer. False out of memory. */
bool mt_call_set_read(struct mt_span bytes, struct mt_call_set *out);
void mt_call_set_deinit(struct mt_call_set *set);

/* Whether the function that starts at the one link-time address calls that at the other. */
bool mt_call_set_has(const struct mt_call_set *set, uint64_t caller, uint64_t callee);

/*
 * The same asked of code that is at hand, without a set: whether a function of so many bytes has a
 * direct call of that address.
 */
bool mt_call_in_code(const struct mt_elf *elf, uint64_t caller, uint64_t size, uint64_t callee);

#endif
