/*
 * From a decoded sample to its user stack: what of registers, dump, callchain and branch records
 * the unwinder gets.
 */
#ifndef MT_UNWIND_SAMPLE_STACK_H
#define MT_UNWIND_SAMPLE_STACK_H

#include <stddef.h>
#include <stdint.h>

struct mt_attr;
struct mt_branch;
struct mt_frame;
struct mt_image_map;
struct mt_sample;
struct mt_stack;
struct mt_unwind_method;
struct mt_unwinder;

/* Where the halves of a sample's callchain stand, with markers in them; borrowed from it. */
struct mt_chain_halves {
	const uint64_t *kernel, *user;
	size_t kernel_count, user_count;
};

/* Of a sample in the kernel without a chain, its ip is the kernel's half. */
struct mt_chain_halves mt_chain_split(const struct mt_sample *sample);

struct mt_sample_stack {
	const struct mt_attr *attr;
	const struct mt_sample *sample;
	const struct mt_chain_halves *halves;
	const struct mt_image_map *map;	  /* the address space at that time */
	const struct mt_branch *stitched; /* the sample's branch records with earlier ones behind */
	size_t stitched_count;		  /* 0: the sample's alone */
};

/*
 * Appends the sample's user frames to the stack, by this way of unwinding; where there are none,
 * the sampled ip if it is the user's.
 */
void mt_sample_stack_unwind(struct mt_unwinder *unwinder, const struct mt_unwind_method *method,
			    const struct mt_sample_stack *in, struct mt_stack *stack);

/* A frame's address as perf prints it, and as a FRAMES record has it. */
uint64_t mt_frame_address(const struct mt_frame *frame);

#endif
