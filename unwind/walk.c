/*
 * The frame loop. Nearly every frame takes one lookup in the rule cache and one compact step. All
 * other cases are outside the loop: a miss, the end, a signal frame, a rule that needs all
 * registers, code without CFI.
 */
#include "unwind/walk.h"

#include "symbols/images/image_map.h"
#include "unwind/lookup.h"

/* Distance from clone()'s system call to the child's own code: test, two jumps and a return. */
#define CHILD_BYTES 16

/* Offsets of the interrupted program's registers in the signal frame, relative to that of rsp. */
#define SIGNAL_RIP ((uint64_t)8)
#define SIGNAL_RBP ((uint64_t)-40)

void mt_walk_init(struct mt_walk *walk, struct mt_unwinder *unwinder,
		  const struct mt_unwind_input *input, struct mt_stack *stack)
{
	const uint64_t *value = input->regs.value;
	size_t limit = unwinder->options.max_frames;

	walk->unwinder = unwinder;
	walk->input = input;
	walk->stack = stack;
	walk->dump = (struct mt_dump){.bytes = input->dump,
				      .start = value[MT_DWARF_RSP],
				      .size = input->dump ? input->dump_size : 0,
				      .returns = input->returns,
				      .return_count = input->return_count};
	walk->first = stack->count;
	walk->room = limit && limit < stack->capacity ? limit : stack->capacity;
	walk->generation = mt_image_map_generation(input->map);
	walk->version = mt_image_map_version(input->map);
	walk->use_fp = true;
	walk->at = (struct mt_position){
		.pc = value[MT_DWARF_RIP],
		.sp = value[MT_DWARF_RSP],
		.fp = input->regs.valid >> MT_DWARF_RBP & 1 ? value[MT_DWARF_RBP] : 0};
	walk->source = MT_FRAME_IP;
	walk->call_return = false;
	walk->switches = 0;
	walk->have_regs = false;
	walk->boundary = 0;
}

bool mt_walk_push(struct mt_walk *walk, const struct mt_frame *frame)
{
	if (walk->stack->count >= walk->room)
		return false;
	walk->stack->frames[walk->stack->count++] = *frame;
	return true;
}

static int signal_step(struct mt_walk *walk, struct mt_rule rule)
{
	uint64_t base = walk->at.sp + (uint64_t)(int64_t)rule.offset;
	struct mt_position next;

	if (!mt_dump_read(&walk->dump, base, &next.sp) ||
	    !mt_dump_read(&walk->dump, base + SIGNAL_RIP, &next.pc) ||
	    !mt_dump_read(&walk->dump, base + SIGNAL_RBP, &next.fp))
		return mt_walk_unreadable(walk, base + SIGNAL_RIP);
	if (!mt_pc_plausible(next.pc))
		return MT_END_BAD_CFA;
	if ((next.sp <= walk->at.sp || next.sp - walk->dump.start >= walk->dump.size) &&
	    !mt_walk_switch(walk))
		return MT_END_LOOP;
	walk->at = next;
	walk->source = MT_FRAME_CFI;
	walk->call_return = false;
	return MT_WALK_ON;
}

/*
 * Why a compact step failed. Repeats the reads of the step, with a distinct end for each failure.
 */
static int failed_step(struct mt_walk *walk, struct mt_rule rule)
{
	const struct mt_position *at = &walk->at;
	uint64_t cfa = (rule.kind == MT_RULE_SP ? at->sp : at->fp) + (uint64_t)(int64_t)rule.offset;
	uint64_t pc;

	if (rule.kind == MT_RULE_FP_DEREF && !mt_dump_read(&walk->dump, cfa, &cfa))
		return mt_walk_unreadable(walk, cfa);
	if (!walk->dump.size)
		return MT_END_NO_DUMP;
	if (cfa <= at->sp)
		return MT_END_LOOP;
	if (!mt_dump_read(&walk->dump, cfa - 8, &pc)) {
		walk->boundary = cfa;
		return mt_walk_unreadable(walk, cfa - 8);
	}
	return pc ? MT_END_BAD_CFA : MT_END_ROOT;
}

/* Whether the frame pointer is plausible and leads past the dump. */
static bool fp_beyond_dump(const struct mt_walk *walk)
{
	uint64_t fp = walk->at.fp;

	return walk->dump.size && !(fp & 7) && fp - walk->at.sp < MT_FP_SPAN_MAX &&
	       fp + 16 - walk->dump.start > walk->dump.size;
}

static bool may_use_fp(const struct mt_walk *walk, int why)
{
	return walk->use_fp && why != MT_END_BAD_CFI && why != MT_END_NO_ELF;
}

/* Notes that a frame-pointer step to a return address found the newest frame. */
static void note_fp_step(struct mt_walk *walk)
{
	walk->source = MT_FRAME_FP;
	walk->call_return = true;
}

/* The quick frame-pointer step in code without CFI, to a return address that was checked before. */
static bool fp_step_seen(struct mt_walk *walk, struct mt_rule rule)
{
	if (rule.kind != MT_RULE_NONE || !walk->call_return || !may_use_fp(walk, rule.offset) ||
	    !mt_fp_step_seen(walk, &walk->at))
		return false;
	note_fp_step(walk);
	return true;
}

/*
 * The frame-pointer step in code without CFI. By convention the outermost frame has a frame pointer
 * of zero.
 */
static int fp_step(struct mt_walk *walk, int why)
{
	struct mt_position next;

	if (!may_use_fp(walk, why))
		return why;
	if (why == MT_END_NO_CFI && !walk->at.fp && walk->call_return)
		return MT_END_ROOT;
	if (!mt_fp_step(walk, &walk->at, walk->call_return, &next)) {
		if (!fp_beyond_dump(walk))
			return why;
		walk->boundary = walk->at.fp + 16;
		return (int)mt_walk_unreadable(walk, walk->at.fp + 8);
	}
	note_fp_step(walk);
	walk->at = next;
	return MT_WALK_ON;
}

/*
 * Whether pc is where clone() returns in the child: rax is 0, and pc has no CFI, but the code a few
 * bytes further has CFI for an outermost frame. The C library leaves a gap in the CFI here, because
 * the child has a new stack without a caller.
 */
static bool is_new_child(struct mt_walk *walk)
{
	const struct mt_unwind_regs *regs = &walk->input->regs;
	struct mt_rule rule = {.kind = MT_RULE_NONE};

	if (walk->call_return || !(regs->valid & 1) || regs->value[0] ||
	    walk->at.pc != regs->value[MT_DWARF_RIP])
		return false;
	for (uint64_t i = 1; i <= CHILD_BYTES && rule.kind == MT_RULE_NONE; i++)
		rule = mt_walk_rule(walk, walk->at.pc + i, false);
	return rule.kind == MT_RULE_END;
}

/*
 * Steps without a rule for the newest frame's pc. A return address outside all mappings is invalid,
 * and its frame is dropped, unless the step finds another frame, as from JIT code whose mapping was
 * not recorded.
 */
static int step_without_rule(struct mt_walk *walk, int why)
{
	int end;

	if (why == MT_END_NO_CFI && is_new_child(walk))
		return MT_END_ROOT;
	end = fp_step(walk, why);
	if (end == MT_WALK_ON || why != MT_END_NO_IMAGE || !walk->call_return ||
	    walk->source == MT_FRAME_FP)
		return end;
	walk->stack->count--;
	return MT_END_NO_IMAGE;
}

static int __attribute__((noinline)) rare_step(struct mt_walk *walk, struct mt_rule rule)
{
	switch (rule.kind) {
	case MT_RULE_SIGNAL:
		return signal_step(walk, rule);
	case MT_RULE_END:
		return MT_END_ROOT;
	case MT_RULE_NONE:
		return step_without_rule(walk, rule.offset);
	case MT_RULE_SLOW:
		return mt_all_registers_step(walk);
	default:
		return failed_step(walk, rule);
	}
}

/*
 * Makes compact steps from the newest frame on. Returns true, with *rule set, at the first rule
 * that does not allow a compact step; false if the stack is full.
 */
static bool run_compact(struct mt_walk *walk, struct mt_rule *rule)
{
	const struct mt_dump dump = walk->dump;
	struct mt_frame *frame = walk->stack->frames + walk->stack->count;
	struct mt_frame *end = walk->stack->frames + walk->room;
	bool stepped = true;

	for (; frame < end && stepped; frame++) {
		*frame = (struct mt_frame){.pc = walk->at.pc,
					   .sp = walk->at.sp,
					   .source = walk->source,
					   .call_return = walk->call_return};
		*rule = mt_walk_cached_rule(walk, walk->at.pc, walk->call_return);
		stepped = mt_rule_step(*rule, &dump, &walk->at);
		if (stepped) {
			walk->source = MT_FRAME_CFI;
			walk->call_return = true;
		} else {
			stepped = fp_step_seen(walk, *rule);
		}
	}
	walk->stack->count = (size_t)(frame - walk->stack->frames);
	return !stepped;
}

enum mt_stack_end mt_walk_dump(struct mt_walk *walk)
{
	struct mt_rule rule;
	int end = MT_WALK_ON;

	if (!mt_pc_plausible(walk->at.pc))
		return MT_END_NO_IMAGE;
	while (end == MT_WALK_ON) {
		if (!run_compact(walk, &rule))
			return MT_END_LIMIT;
		end = rare_step(walk, rule);
	}
	return (enum mt_stack_end)end;
}

enum mt_stack_end mt_walk_fp(struct mt_walk *walk)
{
	struct mt_position next;
	struct mt_frame frame;

	for (;;) {
		frame = (struct mt_frame){.pc = walk->at.pc,
					  .sp = walk->at.sp,
					  .source = walk->source,
					  .call_return = walk->call_return};
		if (!mt_walk_push(walk, &frame))
			return MT_END_LIMIT;
		if (mt_walk_rule(walk, walk->at.pc, walk->call_return).kind == MT_RULE_END)
			return MT_END_ROOT;
		if (!mt_fp_step(walk, &walk->at, walk->call_return, &next))
			return walk->dump.size ? MT_END_CHAIN : MT_END_NO_DUMP;
		walk->at = next;
		walk->source = MT_FRAME_FP;
		walk->call_return = true;
	}
}
