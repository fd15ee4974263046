/* Converts a sample to the unwinder's input, and records of mappings to mappings. */
#include "unwind/sample_stack.h"

#include <string.h>

#include "formats/records/attr.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "formats/records/sample_type.h"
#include "unwind/unwind.h"

/* ---- Registers ---- */

/* The x86-64 register numbers of perf_event_open (PERF_REG_X86_*, in mask order) and of DWARF. */
#define NONE 0xff

/* By perf number: AX BX CX DX SI DI BP SP IP FLAGS CS SS DS ES FS GS R8..R15. */
static const uint8_t dwarf_number[] = {
	0,    3,    2,	  1,	4, 5, 6,  7,  16, NONE, NONE, NONE,
	NONE, NONE, NONE, NONE, 8, 9, 10, 11, 12, 13,	14,   15,
};

/* The registers that perf samples with a dump: all except DS, ES, FS and GS. */
#define USUAL_MASK ((uint64_t)0xff0fff)

static void take_usual(const uint64_t *values, struct mt_unwind_regs *out)
{
	for (unsigned int i = 0; i < 9; i++)
		out->value[dwarf_number[i]] = values[i];
	for (unsigned int i = 0; i < 8; i++)
		out->value[8 + i] = values[12 + i];
	out->valid = (1u << 17) - 1;
}

void mt_unwind_regs_from_perf(uint64_t mask, const uint64_t *values, struct mt_unwind_regs *out)
{
	if (mask == USUAL_MASK) {
		take_usual(values, out);
		return;
	}
	out->valid = 0;
	for (; mask; mask &= mask - 1, values++) {
		unsigned int bit = (unsigned int)__builtin_ctzll(mask);

		if (bit >= sizeof(dwarf_number) || dwarf_number[bit] == NONE)
			continue;
		out->value[dwarf_number[bit]] = *values;
		out->valid |= 1u << dwarf_number[bit];
	}
}

/* ---- Samples ---- */

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

	/* other branch records do not show callers for certain */
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

/* ---- Mappings ---- */

bool mt_mapped_by_kernel(const struct mt_kernel_record *record, struct mt_mapped *out)
{
	*out = (struct mt_mapped){
		.mapping = {.start = record->start, .offset = record->offset, .prot = record->prot},
		.identity = {.path = record->name ? record->name : "",
			     .device_major = record->major,
			     .device_minor = record->minor,
			     .inode = record->inode},
	};
	if ((record->misc & 7) == MT_CPUMODE_KERNEL || record->pid < 0 ||
	    __builtin_add_overflow(record->start, record->length, &out->mapping.end))
		return false;
	if (record->build_id && record->build_id_size <= MT_BUILD_ID_MAX) {
		memcpy(out->identity.build_id, record->build_id, record->build_id_size);
		out->identity.build_id_size = record->build_id_size;
	}
	return true;
}

struct mt_mapped mt_mapped_by_state(const struct mt_map_record *record, const char *path)
{
	return (struct mt_mapped){
		.mapping = {.start = record->start,
			    .end = record->end,
			    .offset = record->offset,
			    .prot = record->prot},
		.identity = {.path = path,
			     .device_major = record->major,
			     .device_minor = record->minor,
			     .inode = record->inode},
	};
}
