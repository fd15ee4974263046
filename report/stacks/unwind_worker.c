/* Walks samples on one worker. stack_ids.c assigns stack ids on one thread, in sample order. */
#include "report/stacks/unwind_worker.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/records/attr.h"
#include "formats/records/sample.h"
#include "formats/stacks/sample_record.h"
#include "symbols/images/image_map.h"
#include "unwind/cfi/cfi.h"
#include "unwind/sample_stack.h"

struct mt_walker {
	struct mt_walker_options options;
	struct mt_unwinder *unwinder;
	struct mt_frame *user; /* max_frames */
};

struct mt_walker *mt_walker_create(const struct mt_walker_options *options)
{
	struct mt_unwind_options unwind = {.max_frames = options->max_frames,
					   .scan = options->scan};
	struct mt_walker *walker = mt_alloc(1, sizeof(*walker));

	walker->options = *options;
	walker->unwinder = mt_unwinder_create(&unwind);
	walker->user = mt_alloc(options->max_frames + 1, sizeof(*walker->user));
	return walker;
}

void mt_walker_destroy(struct mt_walker *walker)
{
	if (!walker)
		return;
	mt_unwinder_destroy(walker->unwinder);
	free(walker->user);
	free(walker);
}

/* The parts of a stack in `words`. */
struct parts {
	uint64_t *code, *pcs, *addresses; /* addresses is NULL unless requested */
	uint8_t *sources;
	uint64_t *sps; /* NULL unless requested */
};

/* Number of words for addresses and sources. */
static size_t words_after(bool addresses, size_t count)
{
	return addresses ? count + (count + 7) / 8 : 0;
}

static void make_parts(const struct mt_walker *walker, struct mt_walk_words *words, size_t count,
		       size_t user, struct parts *out)
{
	size_t after = words_after(walker->options.addresses, count);
	size_t sps = walker->options.joining ? user : 0;

	mt_array_reserve(words, words->count + 1 + count + after + sps);
	out->code = words->items + words->count;
	out->pcs = out->code + 1;
	out->addresses = after ? out->pcs + count : NULL;
	out->sources = after ? (uint8_t *)(out->addresses + count) : NULL;
	out->sps = sps ? out->pcs + count + after : NULL;
	words->count += 1 + count + after + sps;
}

static void put(const struct parts *parts, size_t i, uint64_t pc, uint64_t address, uint8_t source)
{
	parts->pcs[i] = pc;
	if (!parts->addresses)
		return;
	parts->addresses[i] = address;
	parts->sources[i] = source;
}

/* The number of kernel frames that fit, without markers. */
static size_t count_kernel(const struct mt_walker *walker, const struct mt_chain_halves *halves)
{
	size_t n = 0;

	for (size_t i = 0; i < halves->kernel_count && n < walker->options.max_frames; i++)
		n += halves->kernel[i] < MT_CONTEXT_MAX;
	return n;
}

static void put_kernel(const struct parts *parts, const struct mt_chain_halves *halves,
		       size_t count)
{
	size_t n = 0;

	for (size_t i = 0; n < count; i++) {
		uint64_t pc = halves->kernel[i];

		if (pc >= MT_CONTEXT_MAX)
			continue;
		put(parts, n, pc - (n > 0), pc, MT_FRAME_KERNEL);
		n++;
	}
}

/* Writes the user frames. guessed: some frames may come from a scan. */
static void put_user(const struct parts *parts, size_t at, const struct mt_stack *stack,
		     bool guessed)
{
	const struct mt_frame *frames = stack->frames;
	uint64_t *restrict pcs = parts->pcs + at, *restrict sps = parts->sps;

	for (size_t i = 0; sps && i < stack->count; i++) {
		pcs[i] = frames[i].pc - frames[i].call_return;
		sps[i] = frames[i].sp;
	}
	for (size_t i = 0; !sps && i < stack->count; i++)
		pcs[i] = frames[i].pc - frames[i].call_return;
	for (size_t i = 0; guessed && i < stack->count; i++)
		pcs[i] |= frames[i].source == MT_FRAME_SCANNED ? MT_WALKED_SCANNED : 0;
	for (size_t i = 0; parts->addresses && i < stack->count; i++) {
		parts->addresses[at + i] = mt_frame_address(&frames[i]);
		parts->sources[at + i] = frames[i].source;
	}
}

_Static_assert(MT_FRAME_SOURCES == MT_UNWOUND_SOURCES && MT_END_REASONS == MT_UNWOUND_ENDS &&
		       MT_END_UNREPORTED == MT_UNWOUND_END_UNREPORTED,
	       "FORMAT.md section 7 lists what FRAMES records say: new codes go there, too");

/* Sets the stack of a sample that was unwound before it was written. */
static void take_unwound(const struct mt_unwound *unwound, struct mt_stack *stack)
{
	uint64_t sp = 0;

	stack->end = (enum mt_stack_end)unwound->end;
	stack->boundary = unwound->boundary;
	while (stack->count < unwound->count && stack->count < stack->capacity) {
		uint8_t source = unwound->sources[stack->count];

		if (unwound->steps)
			sp = mt_unwound_sp(unwound, (uint32_t)stack->count, sp);
		stack->frames[stack->count] = (struct mt_frame){
			.pc = unwound->pcs[stack->count],
			.sp = sp,
			.source = source & (uint8_t)~MT_UNWOUND_RETURN,
			.call_return = source & MT_UNWOUND_RETURN,
		};
		stack->count++;
	}
	if (stack->count < unwound->count)
		stack->end = MT_END_LIMIT;
}

static struct mt_stack walk_user(struct mt_walker *walker, const struct mt_walk_input *in,
				 const struct mt_chain_halves *halves)
{
	struct mt_stack stack = {.frames = walker->user, .capacity = walker->options.max_frames};
	const struct mt_sample_stack from = {
		.attr = in->attr,
		.sample = in->sample,
		.halves = halves,
		.map = in->map,
		.returns = in->returns,
		.return_count = in->return_count,
	};

	if (in->sample->unwound.pcs)
		take_unwound(&in->sample->unwound, &stack);
	else
		mt_sample_stack_unwind(walker->unwinder, walker->options.method, &from, &stack);
	if (in->returned && stack.count)
		stack.frames[0].call_return = true;
	return stack;
}

void mt_walker_walk(struct mt_walker *walker, const struct mt_walk_input *input,
		    struct mt_walk_words *words, struct mt_walked *out)
{
	struct mt_chain_halves halves = mt_chain_split(input->sample);
	size_t kernel = count_kernel(walker, &halves);
	struct mt_stack stack = walk_user(walker, input, &halves);
	size_t count = kernel + stack.count;
	struct parts parts;

	make_parts(walker, words, count, stack.count, &parts);
	*parts.code = (uint64_t)mt_image_map_generation(input->map) << 32 | kernel;
	put_kernel(&parts, &halves, kernel);
	put_user(&parts, kernel, &stack, walker->options.scan || input->sample->unwound.pcs);
	*out = (struct mt_walked){
		.pcs = (size_t)(parts.pcs - words->items),
		.kernel = (uint32_t)kernel,
		.count = (uint32_t)count,
		.user = input->sample->user_abi || (input->sample->has_branches && stack.count),
		.end = (uint8_t)stack.end,
		.walked_end = input->sample->unwound.pcs
				      ? (uint8_t)input->sample->unwound.walked_end
				      : (uint8_t)stack.end,
		.boundary = stack.boundary,
	};
	out->hash = mt_walked_hash(words, out);
}

void mt_walked_make(struct mt_walk_words *words, bool addresses, const struct mt_walked *like,
		    uint32_t count, struct mt_walked *out)
{
	size_t size = 1 + (size_t)count + words_after(addresses, count);

	mt_array_reserve(words, words->count + size);
	*out = *like;
	out->pcs = words->count + 1;
	out->count = count;
	words->count += size;
}

uint32_t mt_walked_hash(const struct mt_walk_words *words, const struct mt_walked *walked)
{
	return (uint32_t)mt_hash_bytes(words->items + walked->pcs - 1,
				       (1 + (size_t)walked->count) * sizeof(*words->items), 0);
}

const uint64_t *mt_walked_sps(const struct mt_walk_words *words, const struct mt_walked *walked,
			      bool addresses)
{
	return words->items + walked->pcs + walked->count + words_after(addresses, walked->count);
}

const uint64_t *mt_walked_addresses(const struct mt_walk_words *words,
				    const struct mt_walked *walked)
{
	return words->items + walked->pcs + walked->count;
}

const uint8_t *mt_walked_sources(const struct mt_walk_words *words, const struct mt_walked *walked)
{
	return (const uint8_t *)(mt_walked_addresses(words, walked) + walked->count);
}
