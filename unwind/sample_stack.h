/*
 * Unwinds a decoded sample: passes its registers, dump, callchain and hardware call stack to the
 * unwinder.
 */
#ifndef MT_UNWIND_SAMPLE_STACK_H
#define MT_UNWIND_SAMPLE_STACK_H

#include <stddef.h>
#include <stdint.h>

struct mt_attr;
struct mt_frame;
struct mt_image_map;
struct mt_return_slot;
struct mt_sample;
struct mt_stack;
struct mt_unwind_method;
struct mt_unwinder;

/* The kernel and user halves of a callchain, with markers; borrowed from the sample. */
struct mt_chain_halves {
	const uint64_t *kernel, *user;
	size_t kernel_count, user_count;
};

/* Splits the callchain. A kernel sample without one has its ip as the kernel half. */
struct mt_chain_halves mt_chain_split(const struct mt_sample *sample);

struct mt_sample_stack {
	const struct mt_attr *attr;
	const struct mt_sample *sample;
	const struct mt_chain_halves *halves;
	const struct mt_image_map *map; /* the address space at that time */
	/* return addresses that probes have replaced (return_slots.h) */
	const struct mt_return_slot *returns;
	size_t return_count;
};

/*
 * Appends the sample's user frames to the stack by the given method; if there are none, the sampled
 * ip of a user sample.
 */
void mt_sample_stack_unwind(struct mt_unwinder *unwinder, const struct mt_unwind_method *method,
			    const struct mt_sample_stack *in, struct mt_stack *stack);

/* A frame's address as perf prints it and as a FRAMES record stores it. */
uint64_t mt_frame_address(const struct mt_frame *frame);

#endif
