/*
 * The kernel's frame-pointer callchain: as the whole stack if nothing better is at hand, and past
 * the end of a dump if it is provably the same stack. Proof: following frame pointers through the
 * dump from the sampled one, as the kernel did, yields the chain's entries and arrives at the frame
 * pointer of the last frame found, in code that keeps one.
 */
#include "symbols/images/image_map.h"
#include "unwind/walk.h"

static const uint64_t *chain_end(const struct mt_walk *walk)
{
	return walk->input->chain + walk->input->chain_count;
}

/* Appends what is plausible of the chain from `entry` on. */
static int append(struct mt_walk *walk, const uint64_t *entry)
{
	for (; entry < chain_end(walk) && mt_pc_plausible(*entry); entry++) {
		struct mt_frame frame = {
			.pc = *entry, .source = MT_FRAME_CHAIN, .call_return = true};

		if (!mt_walk_push(walk, &frame))
			return MT_END_LIMIT;
	}
	return MT_WALK_ON;
}

static bool mapped(const struct mt_walk *walk, const struct mt_frame *frame)
{
	return mt_image_map_find(walk->input->map, frame->pc - frame->call_return);
}

/*
 * Takes entries in no mapping off the outer end, down to `least` frames: where code keeps no frame
 * pointer, the kernel took any word for a return address. True where there were any. Of a process
 * whose mappings are not known at all nothing can be said.
 */
static bool trim(struct mt_walk *walk, size_t least)
{
	struct mt_stack *stack = walk->stack;
	size_t before = stack->count, mappings = mt_image_map_count(walk->input->map);

	while (mappings && stack->count > least && !mapped(walk, &stack->frames[stack->count - 1]))
		stack->count--;
	return stack->count < before;
}

/* The outermost frame of a chain may be known to be one. */
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
	if (!mt_walk_push(walk, &frame) || append(walk, input->chain + 1) != MT_WALK_ON)
		return MT_END_LIMIT;
	if (trim(walk, walk->first + 1))
		return MT_END_NO_IMAGE;
	return end_of(walk, MT_END_CHAIN);
}

/*
 * The chain's entry that was read at the last frame's frame pointer, or NULL. Since 6.10 the kernel
 * may put one more entry behind the first, at a function's entry: `first` is where the frame
 * pointer's own entries start.
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

/* The last frame's own frame pointer: CFI says so, or there is none and nothing else to go by. */
static bool keeps_fp(struct mt_walk *walk)
{
	struct mt_rule rule = mt_walk_rule(walk, walk->at.pc, walk->call_return);

	if (rule.kind == MT_RULE_NONE)
		return rule.offset == MT_END_NO_CFI || rule.offset == MT_END_NO_ELF;
	return rule.kind == MT_RULE_FP && rule.offset == 16;
}

enum mt_stack_end mt_chain_splice(struct mt_walk *walk, enum mt_stack_end end)
{
	const struct mt_unwind_input *input = walk->input;
	size_t frames = walk->stack->count;
	const uint64_t *entry;

	if (input->chain_count < 2 || input->chain[0] != input->regs.value[MT_DWARF_RIP] ||
	    !(input->regs.valid >> MT_DWARF_RBP & 1) || !walk->at.fp || !keeps_fp(walk))
		return end;
	entry = find_continuation(walk, 1);
	if (!entry)
		entry = find_continuation(walk, 2);
	if (!entry || entry == chain_end(walk))
		return end;
	if (append(walk, entry) != MT_WALK_ON)
		return MT_END_LIMIT;
	walk->boundary = 0;
	if (trim(walk, frames))
		return walk->stack->count > frames ? MT_END_NO_IMAGE : end;
	return end_of(walk, end);
}
