/* Builds stacks from a hardware call stack: the sampled ip, then the recorded calls. */
#include "formats/records/sample.h"
#include "symbols/images/image_map.h"
#include "unwind/lookup.h"
#include "unwind/walk.h"

enum {
	INSTRUCTION_MAX = 15,
};

#define KERNEL_HALF ((uint64_t)1 << 63)

/* The size of the call instruction at pc; 0 if there is none, or the code is not available. */
static uint8_t call_size(const struct mt_walk *walk, uint64_t pc)
{
	const uint8_t *code = NULL;
	size_t n = INSTRUCTION_MAX;

	for (; n && !code; n -= !code)
		code = mt_lookup_code(walk->input->map, pc, n, true);
	return code ? (uint8_t)mt_fp_call_size(code, n) : 0;
}

/*
 * Whether pc may be in the function called last, by the hardware call stack. If the target is a
 * stub or has no CFI, pc may be anywhere, because the code may jump to other code.
 */
static bool is_called(const struct mt_unwind_input *input, uint64_t pc)
{
	uint64_t to = input->branches[0].to;
	struct mt_lookup_function called;

	return !mt_lookup_function(input->map, to, &called) || pc - called.start < called.size ||
	       mt_lookup_is_stub(input->map, to);
}

/*
 * The sampled address in user code; 0: unknown. The ip of the sample is preferred, because a
 * precise ip is exact, but registers and the kernel's chain are those of the interrupt, a few
 * instructions later. With a call stack, the first candidate in the function called last is used.
 * If there is none, as after a tail call, the first candidate is used.
 */
static uint64_t user_ip(const struct mt_unwind_input *input)
{
	const uint64_t ips[] = {
		input->ip,
		input->have_regs && input->regs.valid >> MT_DWARF_RIP & 1
			? input->regs.value[MT_DWARF_RIP]
			: 0,
		input->chain_count ? input->chain[0] : 0,
	};
	uint64_t first = 0;

	for (size_t i = 0; i < sizeof(ips) / sizeof(*ips); i++) {
		if (ips[i] && (!input->branch_count || is_called(input, ips[i])))
			return ips[i];
		first = first ? first : ips[i];
	}
	return first;
}

static bool push(struct mt_walk *walk, uint64_t pc, enum mt_frame_source source, bool call_return)
{
	struct mt_frame frame = {.pc = pc, .source = (uint8_t)source, .call_return = call_return};

	return mt_walk_push(walk, &frame);
}

static enum mt_stack_end end_of(struct mt_walk *walk)
{
	const struct mt_frame *last = &walk->stack->frames[walk->stack->count - 1];

	if (mt_walk_rule(walk, last->pc, last->call_return).kind == MT_RULE_END)
		return MT_END_ROOT;
	return MT_END_BRANCHES;
}

size_t mt_branches_callers(const struct mt_walk *walk, struct mt_branch_call *out)
{
	const struct mt_unwind_input *input = walk->input;
	size_t n = 0;

	for (; n < input->branch_count && n < MT_BRANCHES_MAX; n++) {
		const struct mt_branch *branch = &input->branches[n];

		if (!branch->from || branch->from & KERNEL_HALF)
			break;
		out[n] = (struct mt_branch_call){.from = branch->from,
						 .to = branch->to,
						 .size = call_size(walk, branch->from)};
	}
	return n;
}

enum mt_stack_end mt_branches_whole(struct mt_walk *walk)
{
	const struct mt_unwind_input *input = walk->input;
	struct mt_branch_call calls[MT_BRANCHES_MAX];
	size_t count;
	uint64_t ip = user_ip(input);

	if (!ip && input->branch_count)
		ip = input->branches[0].to; /* the right function, but not the exact place */
	if (!ip)
		return MT_END_NO_BRANCHES;
	if (!push(walk, ip, MT_FRAME_IP, false))
		return MT_END_LIMIT;
	if (!input->branch_count)
		return MT_END_NO_BRANCHES;
	count = mt_branches_callers(walk, calls);
	for (size_t i = 0; i < count; i++) {
		/* the return address, as from other methods, if the size of the call is known */
		if (!push(walk, calls[i].from + calls[i].size, MT_FRAME_LBR, calls[i].size))
			return MT_END_LIMIT;
	}
	return end_of(walk);
}
