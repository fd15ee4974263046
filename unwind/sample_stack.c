/* Converts a sample to the unwinder's input. */
#include "unwind/sample_stack.h"

#include "formats/records/attr.h"
#include "formats/records/sample.h"
#include "formats/records/sample_type.h"
#include "unwind/unwind.h"

struct mt_chain_halves mt_chain_split(const struct mt_sample *sample)
{
	struct mt_chain_halves h = {0};
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

static struct mt_unwind_input unwind_input(const struct mt_sample_stack *in)
{
	const struct mt_sample *sample = in->sample;
	struct mt_unwind_input input = {
		.have_regs = sample->user_abi == 2 && sample->user_regs,
		.dump = sample->dump,
		.dump_size = sample->dump_size,
		.dump_asked = sample->dump_asked,
		.returns = in->returns,
		.return_count = in->return_count,
		.chain = in->halves->user,
		.chain_count = in->halves->user_count,
		.ip = (sample->misc & 7) == MT_CPUMODE_USER ? sample->ip : 0,
		.has_branches = sample->has_branches,
		.map = in->map,
	};

	/* other branch records show nothing certain about callers */
	if (in->attr->branch_sample_type & MT_BRANCH_CALL_STACK) {
		input.branches = sample->branches;
		input.branch_count = sample->branch_count;
	}
	if (input.have_regs)
		mt_unwind_regs_from_perf(in->attr->sample_regs_user, sample->user_regs,
					 &input.regs);
	return input;
}

void mt_sample_stack_unwind(struct mt_unwinder *unwinder, const struct mt_unwind_method *method,
			    const struct mt_sample_stack *in, struct mt_stack *stack)
{
	const struct mt_sample *sample = in->sample;
	struct mt_unwind_input input = unwind_input(in);
	size_t had = stack->count;

	method->unwind(unwinder, &input, stack);
	if (stack->count == had && stack->count < stack->capacity && input.ip)
		stack->frames[stack->count++] = (struct mt_frame){.pc = sample->ip};
}

uint64_t mt_frame_address(const struct mt_frame *frame)
{
	return frame->source == MT_FRAME_CHAIN ? frame->pc : frame->pc - frame->call_return;
}
