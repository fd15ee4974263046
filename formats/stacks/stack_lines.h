/*
 * Codes the lines of a dump against a stack's image: which of them changed, which words of those,
 * and the words. By the widest instructions that the processor has. Private to formats/stack_*.c.
 */
#ifndef MT_FORMATS_STACKS_STACK_LINES_H
#define MT_FORMATS_STACKS_STACK_LINES_H

#include <stddef.h>
#include <stdint.h>

struct mt_stack_image;

/* A dump while it is coded. */
struct mt_stack_coding {
	struct mt_stack_image *image;
	uint64_t address; /* of the next line's first byte in the dump */
	const uint8_t *dump;
	size_t line; /* its number */
	uint8_t *bits, *masks, *words;
};

/* Codes so many whole lines. */
typedef void mt_stack_lines_coder(struct mt_stack_coding *coding, size_t lines);

/*
 * The fastest that goes by at most so many bits at a time. All give the same, up to a line's 64
 * bytes past the end of the words, which may be overwritten.
 */
mt_stack_lines_coder *mt_stack_lines_coder_for(unsigned bits);

/* Codes a dump; its size and its address are multiples of 8. coding->bits are zeros before. */
void mt_stack_code_dump(mt_stack_lines_coder *code_lines, struct mt_stack_coding *coding,
			size_t size);

#endif
