/*
 * Encodes the lines of a dump against a stack's image: which lines changed, which of their words,
 * and those words. Uses AVX2 if the CPU has it. Without AVX2, coding a dump of 8 KiB takes 0.25 to
 * 0.45 us more; with AVX-512 it would take 0.06 to 0.16 us less (tests/bench/coding.sh). Private to
 * formats/stacks/stack_*.c.
 */
#ifndef MT_FORMATS_STACKS_STACK_LINES_H
#define MT_FORMATS_STACKS_STACK_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_stack_image;

/* A dump that is being encoded. */
struct mt_stack_coding {
	struct mt_stack_image *image;
	uint64_t address; /* of the first byte of the next line that is in the dump */
	const uint8_t *dump;
	size_t line; /* number of the next line */
	uint8_t *bits, *masks, *words;
};

/* Encodes `lines` whole lines. */
typedef void mt_stack_lines_coder(struct mt_stack_coding *coding, size_t lines);

/*
 * The portable coder, or the fastest one. The two produce the same output, but may overwrite up to
 * 64 bytes past the end of the words.
 */
mt_stack_lines_coder *mt_stack_lines_coder_for(bool portable);

/* Encodes a dump; size and address are multiples of 8, coding->bits is zeroed. */
void mt_stack_code_dump(mt_stack_lines_coder *code_lines, struct mt_stack_coding *coding,
			size_t size);

#endif
