/*
 * One worker's way from samples to stack ids.
 *
 * Most samples repeat a stack of addresses that was seen before in the same code; those are found
 * by their addresses, and only new ones go through the image map and the frame table frame by
 * frame. That cache is emptied when it grows large; ids do not change by it.
 */
#include "report/unwinding.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/attr.h"
#include "formats/base/array.h"
#include "formats/sample.h"
#include "report/frames.h"
#include "report/sequences.h"
#include "report/stacks.h"
#include "symbols/image.h"
#include "symbols/image_map.h"

enum {
	SEEN_LIMIT = 48 << 20, /* bytes of address runs remembered */
};

struct mt_unwinding {
	struct mt_unwinding_options options;
	struct mt_stacks *stacks;
	struct mt_frames *frames;
	struct mt_unwinder *unwinder;
	struct mt_frame *user; /* max_frames */
	uint64_t *pcs; /* word 0: which code; then kernel and user addresses to look up, innermost
			  first */
	uint64_t *addresses;	     /* of all frames, as printed */
	uint32_t *ids;		     /* of all frames */
	struct mt_sequences *seen;   /* runs of pcs */
	MT_ARRAY(uint32_t) stack_of; /* stack id by run; MT_STACK_NONE: not to be kept */
};

struct mt_unwinding *mt_unwinding_create(const struct mt_unwinding_options *options,
					 struct mt_stacks *stacks, struct mt_frames *frames)
{
	struct mt_unwind_options unwind = {.max_frames = options->max_frames};
	struct mt_unwinding *u = calloc(1, sizeof(*u));
	size_t most = 2 * (size_t)options->max_frames + 2;

	if (!u)
		return NULL;
	u->options = *options;
	u->stacks = stacks;
	u->frames = frames;
	u->unwinder = mt_unwinder_create(&unwind);
	u->user = calloc(options->max_frames + 1, sizeof(*u->user));
	u->pcs = calloc(most, sizeof(*u->pcs));
	u->addresses = calloc(most, sizeof(*u->addresses));
	u->ids = calloc(most, sizeof(*u->ids));
	u->seen = mt_sequences_create();
	if (!u->unwinder || !u->user || !u->pcs || !u->addresses || !u->ids || !u->seen) {
		mt_unwinding_destroy(u);
		return NULL;
	}
	return u;
}

void mt_unwinding_destroy(struct mt_unwinding *u)
{
	if (!u)
		return;
	mt_unwinder_destroy(u->unwinder);
	mt_sequences_destroy(u->seen);
	mt_array_deinit(&u->stack_of);
	free(u->user);
	free(u->pcs);
	free(u->addresses);
	free(u->ids);
	free(u);
}

const struct mt_unwind_counts *mt_unwinding_counts(const struct mt_unwinding *u)
{
	return mt_unwinder_counts(u->unwinder);
}

/* Where the halves of a callchain stand. */
struct halves {
	const uint64_t *kernel, *user;
	size_t kernel_count, user_count;
};

static struct halves split_chain(const struct mt_sample *sample)
{
	struct halves h = {0};
	uint64_t context =
		(sample->misc & 7) == MT_CPUMODE_KERNEL ? MT_CONTEXT_KERNEL : MT_CONTEXT_USER;

	for (size_t i = 0; i < sample->chain_count; i++) {
		const uint64_t *at = &sample->chain[i];

		if (*at >= MT_CONTEXT_MAX) {
			context = *at;
		} else if (context == MT_CONTEXT_KERNEL) {
			h.kernel = h.kernel ? h.kernel : at;
			h.kernel_count = (size_t)(at - h.kernel) + 1;
		} else if (context == MT_CONTEXT_USER) {
			h.user = h.user ? h.user : at;
			h.user_count = (size_t)(at - h.user) + 1;
		}
	}
	if (!h.kernel_count && (sample->misc & 7) == MT_CPUMODE_KERNEL && sample->ip) {
		h.kernel = &sample->ip;
		h.kernel_count = 1;
	}
	return h;
}

static size_t take_kernel(struct mt_unwinding *u, const struct halves *halves, bool known)
{
	size_t n = 0;

	for (size_t i = 0; i < halves->kernel_count && n < u->options.max_frames; i++) {
		uint64_t pc = halves->kernel[i];

		if (pc >= MT_CONTEXT_MAX)
			continue;
		u->pcs[1 + n] = known ? pc - (n > 0) : 0;
		u->addresses[n++] = pc;
	}
	return n;
}

static size_t take_user(struct mt_unwinding *u, const struct mt_unwinding_input *in,
			const struct halves *halves, size_t kernel, struct mt_unwound *out)
{
	const struct mt_sample *sample = in->sample;
	struct mt_stack stack = {.frames = u->user, .capacity = u->options.max_frames};
	struct mt_unwind_input input = {
		.have_regs = sample->user_abi == 2 && sample->user_regs,
		.dump = sample->dump,
		.dump_size = sample->dump_size,
		.dump_asked = sample->dump_asked,
		.chain = halves->user,
		.chain_count = halves->user_count,
		.map = in->map,
	};

	if (input.have_regs)
		mt_unwind_regs_from_perf(in->attr->sample_regs_user, sample->user_regs,
					 &input.regs);
	u->options.method->unwind(u->unwinder, &input, &stack);
	out->user = sample->user_abi != 0;
	out->end = stack.end;
	if (!stack.count && (sample->misc & 7) == MT_CPUMODE_USER && sample->ip)
		u->user[stack.count++] = (struct mt_frame){.pc = sample->ip};
	for (size_t i = 0; i < stack.count; i++) {
		u->pcs[1 + kernel + i] = stack.frames[i].pc - stack.frames[i].call_return;
		u->addresses[kernel + i] = stack.frames[i].source == MT_FRAME_CHAIN
						   ? stack.frames[i].pc
						   : u->pcs[1 + kernel + i];
	}
	return stack.count;
}

/* *lasting becomes false where the frame may be another one in the same generation of the map. */
static uint32_t user_frame(struct mt_unwinding *u, const struct mt_image_map *map, uint64_t pc,
			   bool *lasting)
{
	const struct mt_mapping *mapping = mt_image_map_find(map, pc);
	struct mt_frame_key key = {.image = MT_FRAME_NO_IMAGE};

	*lasting &= mapping && mapping->prot & PROT_EXEC;
	if (mapping) {
		key.image = mapping->image->id;
		key.offset = mt_mapping_file_offset(mapping, pc);
	}
	return mt_frames_intern(u->frames, &key);
}

/* The stack of u->pcs, frame by frame; *lasting as above. */
static uint32_t intern_stack(struct mt_unwinding *u, const struct mt_image_map *map, size_t kernel,
			     size_t count, bool *lasting)
{
	*lasting = true;
	for (size_t i = 0; i < count; i++) {
		struct mt_frame_key key = {
			.image = u->options.kernel_image,
			.flags = MT_FRAME_IN_KERNEL,
			.offset = u->pcs[1 + i],
		};

		u->ids[i] = i < kernel ? mt_frames_intern(u->frames, &key)
				       : user_frame(u, map, u->pcs[1 + i], lasting);
		if (u->ids[i] == MT_FRAME_NONE)
			return MT_STACK_NONE;
	}
	return mt_stacks_intern(u->stacks, u->ids, count);
}

/*
 * The same, by way of the runs seen before. Only what was found in executable mappings may be kept
 * by the map's generation (symbols/image_map.h): a run with other frames is looked up every time.
 */
static uint32_t find_stack(struct mt_unwinding *u, const struct mt_image_map *map, size_t kernel,
			   size_t count)
{
	uint32_t run, stack, *slot;
	bool lasting;

	if (mt_sequences_bytes(u->seen) > SEEN_LIMIT) {
		mt_sequences_clear(u->seen);
		u->stack_of.count = 0;
	}
	u->pcs[0] = (uint64_t)mt_image_map_generation(map) << 32 | kernel;
	run = mt_sequences_intern(u->seen, u->pcs, (count + 1) * sizeof(*u->pcs));
	if (run == MT_SEQUENCE_NONE)
		return MT_STACK_NONE;
	if (run < u->stack_of.count && u->stack_of.items[run] != MT_STACK_NONE)
		return u->stack_of.items[run];
	stack = intern_stack(u, map, kernel, count, &lasting);
	slot = run < u->stack_of.count ? &u->stack_of.items[run] : mt_array_push(&u->stack_of);
	if (!slot)
		return MT_STACK_NONE;
	*slot = lasting ? stack : MT_STACK_NONE;
	return stack;
}

bool mt_unwinding_stack(struct mt_unwinding *u, const struct mt_unwinding_input *input,
			struct mt_unwound *out)
{
	struct halves halves = split_chain(input->sample);
	size_t kernel = take_kernel(u, &halves, input->kernel_known);
	size_t user = take_user(u, input, &halves, kernel, out);

	out->kernel = kernel > 0;
	out->addresses = u->options.addresses ? u->addresses : NULL;
	out->stack = find_stack(u, input->map, kernel, kernel + user);
	return out->stack != MT_STACK_NONE;
}
