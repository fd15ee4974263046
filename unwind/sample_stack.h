/*
 * Passes registers, dump, callchain and hardware call stack of a sample to the unwinder, and
 * converts records of mappings.
 */
#ifndef MT_UNWIND_SAMPLE_STACK_H
#define MT_UNWIND_SAMPLE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/images/image.h"
#include "symbols/images/image_map.h"

struct mt_attr;
struct mt_frame;
struct mt_kernel_record;
struct mt_map_record;
struct mt_return_slot;
struct mt_sample;
struct mt_stack;
struct mt_unwind_method;
struct mt_unwind_regs;
struct mt_unwinder;

/* The kernel and user halves of a callchain, with markers; borrowed from the sample. */
struct mt_chain_halves {
	const uint64_t *kernel, *user;
	size_t kernel_count, user_count;
};

/*
 * Splits the callchain. For a sample in the kernel without a callchain, the ip is the kernel half.
 */
struct mt_chain_halves mt_chain_split(const struct mt_sample *sample);

struct mt_sample_stack {
	const struct mt_attr *attr;
	const struct mt_sample *sample;
	const struct mt_chain_halves *halves;
	const struct mt_image_map *map; /* the address space at the time of the sample */
	/* return addresses that probes have replaced (return_slots.h) */
	const struct mt_return_slot *returns;
	size_t return_count;
};

/*
 * Appends the sample's user frames, found by `method`, to the stack. If there are none, appends the
 * sampled ip of a user sample.
 */
void mt_sample_stack_unwind(struct mt_unwinder *unwinder, const struct mt_unwind_method *method,
			    const struct mt_sample_stack *in, struct mt_stack *stack);

/* A frame's address as perf prints it and as a FRAMES record stores it. */
uint64_t mt_frame_address(const struct mt_frame *frame);

/*
 * Converts perf registers (mask as in perf_event_attr.sample_regs_user, x86-64) to DWARF numbers;
 * unknown bits are skipped.
 */
void mt_unwind_regs_from_perf(uint64_t mask, const uint64_t *values, struct mt_unwind_regs *out);

/* ---- Mappings: MAP records of the recording, MMAP and MMAP2 records of the kernel ---- */

/* The caller sets mapping.image from the identity. Strings are borrowed from the record. */
struct mt_mapped {
	struct mt_image_identity identity;
	struct mt_mapping mapping;
};

/* False for a kernel mapping, and for a range that ends past 2^64. */
bool mt_mapped_by_kernel(const struct mt_kernel_record *record, struct mt_mapped *out);

/* `path` is the record's path, NUL-terminated. */
struct mt_mapped mt_mapped_by_state(const struct mt_map_record *record, const char *path);

#endif
