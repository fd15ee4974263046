/*
 * From a sample to its stack: user frames from the unwinder, kernel frames from the kernel half of
 * the callchain put innermost, all of them interned.
 */
#ifndef MT_REPORT_UNWINDING_H
#define MT_REPORT_UNWINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/unwind.h"

struct mt_attr;
struct mt_frames;
struct mt_image_map;
struct mt_sample;
struct mt_stacks;
struct mt_unwinding;

struct mt_unwinding_options {
	const struct mt_unwind_method *method; /* a row of mt_unwind_methods */
	uint32_t max_frames;   /* at most so many user frames, and so many kernel frames */
	bool addresses;	       /* give the frames' addresses too */
	uint32_t kernel_image; /* id of the kernel's image */
};

struct mt_unwinding_input {
	const struct mt_attr *attr;
	const struct mt_sample *sample;
	const struct mt_image_map *map;
	bool kernel_known; /* kernel addresses mean something here; else all kernel code is one
			      frame */
};

struct mt_unwound {
	uint32_t stack; /* id in stacks */
	bool user;	/* the sample had user registers, so that `end` counts */
	bool kernel;	/* it has a kernel frame */
	enum mt_stack_end end;
	const uint64_t *addresses; /* one for each frame as perf prints them, until the next call;
				      NULL unless asked for */
};

/* NULL out of memory. Borrows stacks and frames. */
struct mt_unwinding *mt_unwinding_create(const struct mt_unwinding_options *options,
					 struct mt_stacks *stacks, struct mt_frames *frames);
void mt_unwinding_destroy(struct mt_unwinding *unwinding);

/* False out of memory. */
bool mt_unwinding_stack(struct mt_unwinding *unwinding, const struct mt_unwinding_input *input,
			struct mt_unwound *out);

/* How unwinding went so far; borrowed. */
const struct mt_unwind_counts *mt_unwinding_counts(const struct mt_unwinding *unwinding);

#endif
