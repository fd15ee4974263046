/*
 * A stack's image in the encoder and the decoder: 1,024 lines of 64 bytes, direct-mapped by address
 * modulo 64 KiB. A line reads as zeros until it is first touched in a chunk, so a new chunk clears
 * 128 bytes a slot instead of 64 KiB. Private to formats/stacks/stack_*.c; inline, because it runs
 * once a line.
 */
#ifndef MT_FORMATS_STACKS_STACK_IMAGE_H
#define MT_FORMATS_STACKS_STACK_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MT_STACK_LINE 64 /* bytes */
#define MT_STACK_LINES 1024
#define MT_STACK_WORDS 8 /* in a line */

struct mt_stack_image {
	uint64_t (*lines)[MT_STACK_WORDS];
	uint64_t valid[MT_STACK_LINES / 64];
};

/* Begins a chunk. */
static inline void mt_stack_image_reset(struct mt_stack_image *image)
{
	memset(image->valid, 0, sizeof(image->valid));
}

/* The line that holds `address`, zeroed on its first use in the chunk. */
static inline uint64_t *mt_stack_image_line(struct mt_stack_image *image, uint64_t address)
{
	size_t i = address / MT_STACK_LINE % MT_STACK_LINES;
	uint64_t bit = 1ull << i % 64;

	if (!(image->valid[i / 64] & bit)) {
		image->valid[i / 64] |= bit;
		memset(image->lines[i], 0, MT_STACK_LINE);
	}
	return image->lines[i];
}

/*
 * Zeroes the lines of a dump that are used for the first time in the chunk, 64 valid bits at a
 * time.
 */
static inline void mt_stack_image_touch(struct mt_stack_image *image, uint64_t address,
					size_t lines)
{
	size_t at = address / MT_STACK_LINE % MT_STACK_LINES;

	for (size_t count; lines; lines -= count, at = (at + count) % MT_STACK_LINES) {
		uint64_t missing;

		count = 64 - at % 64 < lines ? 64 - at % 64 : lines;
		missing = (~0ull >> (64 - count)) << at % 64 & ~image->valid[at / 64];
		image->valid[at / 64] |= missing;
		for (; missing; missing &= missing - 1)
			memset(image->lines[at / 64 * 64 + (size_t)__builtin_ctzll(missing)], 0,
			       MT_STACK_LINE);
	}
}

/* Whether the range ends past 2^64. */
static inline bool mt_stack_past_the_end(uint64_t address, size_t size)
{
	return address && size > -address;
}

/* Number of 64-byte lines that the range touches. */
static inline size_t mt_stack_line_count(uint64_t address, size_t size)
{
	return (size_t)((address % MT_STACK_LINE + size + MT_STACK_LINE - 1) / MT_STACK_LINE);
}

#endif
