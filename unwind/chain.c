/*
 * The kernel's frame-pointer callchain. It is the whole stack if there is nothing better, and
 * continues a stack past the end of its dump if it is provably the same stack. For the proof, frame
 * pointers are followed through the dump from the sampled one, as by the kernel. They must lead to
 * the entries of the chain and to the frame pointer of the last frame found, in code that keeps a
 * frame pointer.
 */
#include <sys/mman.h>

#include "symbols/images/image_map.h"
#include "unwind/walk.h"

enum {
	REPEATS_MOST = 16, /* more equal entries at a chain's end are cut: a loop, or recursion */
};

static const uint64_t *chain_end(const struct mt_walk *walk)
{
	return walk->input->chain + walk->input->chain_count;
}

/* Appends the plausible entries of the chain from `entry` to `end`. */
static int append(struct mt_walk *walk, const uint64_t *entry, const uint64_t *end)
{
	for (; entry < end && mt_pc_plausible(*entry); entry++) {
		struct mt_frame frame = {
			.pc = *entry, .source = MT_FRAME_CHAIN, .call_return = true};

		if (!mt_walk_push(walk, &frame))
			return MT_END_LIMIT;
	}
	return MT_WALK_ON;
}

/*
 * True in executable memory, and in memory reserved without access: it may have become JIT code,
 * which no record shows.
 */
static bool is_code(const struct mt_walk *walk, uint64_t pc)
{
	const struct mt_mapping *mapping = mt_image_map_find(walk->input->map, pc);

	return mapping && (mapping->prot & PROT_EXEC || !mapping->prot);
}

/*
 * Removes entries that are not in code from the outer end of the stack, down to `least` frames: in
 * code without frame pointers, the kernel took any word as a return address. True if an entry was
 * removed. Does nothing for a process whose mappings are unknown.
 */
static bool trim(struct mt_walk *walk, size_t least)
{
	struct mt_stack *stack = walk->stack;
	size_t before = stack->count, mappings = mt_image_map_count(walk->input->map);

	for (; mappings && stack->count > least; stack->count--) {
		const struct mt_frame *last = &stack->frames[stack->count - 1];

		if (is_code(walk, last->pc - last->call_return))
			break;
	}
	return stack->count < before;
}

/* The end of a stack: the root if CFI ends at the last frame, else `otherwise`. */
static enum mt_stack_end end_of(struct mt_walk *walk, enum mt_stack_end otherwise)
{
	const struct mt_frame *last = &walk->stack->frames[walk->stack->count - 1];

	if (mt_walk_rule(walk, last->pc, last->call_return).kind == MT_RULE_END)
		return MT_END_ROOT;
	return otherwise;
}

enum mt_stack_end mt_chain_whole(struct mt_walk *walk)
{
	const struct mt_unwind_input *input = walk->input;
	struct mt_frame frame = {.source = MT_FRAME_CHAIN};

	if (input->have_regs && input->regs.value[MT_DWARF_RIP] == input->chain[0])
		frame = (struct mt_frame){.sp = input->regs.value[MT_DWARF_RSP],
					  .source = MT_FRAME_IP};
	frame.pc = input->chain[0];
	if (!mt_walk_push(walk, &frame) ||
	    append(walk, input->chain + 1, chain_end(walk)) != MT_WALK_ON)
		return MT_END_LIMIT;
	if (trim(walk, walk->first + 1))
		return MT_END_NO_IMAGE;
	return end_of(walk, MT_END_CHAIN);
}

/*
 * The chain's entry that the kernel read at the last frame's frame pointer, or NULL. `first` is the
 * index of the first entry that it read by a frame pointer: 1, or since Linux 6.10 maybe 2 at the
 * entry of a function.
 */
static const uint64_t *find_continuation(const struct mt_walk *walk, size_t first)
{
	const uint64_t *entry = walk->input->chain + first;
	uint64_t fp = walk->input->regs.value[MT_DWARF_RBP], next, pc;

	for (; entry < chain_end(walk); entry++, fp = next) {
		if (fp == walk->at.fp)
			return entry;
		if (!mt_dump_read(&walk->dump, fp, &next) ||
		    !mt_dump_read(&walk->dump, fp + 8, &pc) || pc != *entry || next <= fp)
			return NULL;
	}
	return NULL;
}

/* Whether rbp is the frame pointer of the last frame, by CFI; or the frame has no CFI. */
static bool keeps_fp(struct mt_walk *walk)
{
	struct mt_rule rule = mt_walk_rule(walk, walk->at.pc, walk->call_return);

	if (rule.kind == MT_RULE_NONE)
		return rule.offset == MT_END_NO_CFI || rule.offset == MT_END_NO_ELF;
	return rule.kind == MT_RULE_FP && rule.offset == 16;
}

/*
 * The end of the entries that are in code, without repeated entries that fill the chain to its end.
 */
static const uint64_t *believable_end(const struct mt_walk *walk, const uint64_t *entry)
{
	const uint64_t *end = entry, *same;

	while (end < chain_end(walk) && is_code(walk, *end - 1))
		end++;
	for (same = end; same - entry > 1 && same[-1] == same[-2];)
		same--;
	return end == chain_end(walk) && end - same >= REPEATS_MOST ? same : end;
}

/*
 * The end of the entries that continue the last frame: entries that frame pointers in the dump lead
 * to, then plausible entries past the dump. In code without frame pointers, the kernel followed any
 * value of rbp.
 */
static const uint64_t *proven_end(const struct mt_walk *walk, const uint64_t *entry)
{
	uint64_t fp = walk->at.fp, next, pc;

	for (; entry < chain_end(walk); entry++, fp = next) {
		if (fp & 7 || fp - walk->at.sp >= MT_FP_SPAN_MAX)
			return entry;
		if (!mt_dump_read(&walk->dump, fp, &next) ||
		    !mt_dump_read(&walk->dump, fp + 8, &pc))
			return believable_end(walk, entry);
		if (pc != *entry)
			return entry;
		if (next <= fp)
			return entry + 1;
	}
	return entry;
}

enum mt_stack_end mt_chain_splice(struct mt_walk *walk, enum mt_stack_end end)
{
	const struct mt_unwind_input *input = walk->input;
	size_t frames = walk->stack->count;
	const uint64_t *entry, *until;

	if (input->chain_count < 2 || input->chain[0] != input->regs.value[MT_DWARF_RIP] ||
	    !(input->regs.valid >> MT_DWARF_RBP & 1) || !walk->at.fp || !keeps_fp(walk))
		return end;
	entry = find_continuation(walk, 1);
	if (!entry)
		entry = find_continuation(walk, 2);
	if (!entry)
		return end;
	until = proven_end(walk, entry);
	if (until == entry)
		return end;
	if (append(walk, entry, until) != MT_WALK_ON)
		return MT_END_LIMIT;
	walk->boundary = 0;
	if (trim(walk, frames))
		return walk->stack->count > frames ? MT_END_NO_IMAGE : end;
	return end_of(walk, end);
}
