/*
 * The last resort, where somebody asks for it: words of the dump that look like return addresses,
 * behind code that nothing tells how to unwind. What stands on a stack is left over as often as
 * not, so all that follows is a guess, marked as such, and the stack ends for the reason it ended
 * before.
 *
 * A word counts where it points behind a call and CFI finds a caller from there, or the dump's end.
 */
#include "unwind/walk.h"

enum {
	SCAN_BYTES = 2048, /* of stack that are looked at for one return address */
	SCANS_MAX = 4,	   /* gaps in a stack */
};

static bool may_help(int end)
{
	switch (end) {
	case MT_END_NO_CFI:
	case MT_END_NO_ELF:
	case MT_END_NO_IMAGE:
	case MT_END_BAD_CFI:
	case MT_END_BAD_CFA:
	case MT_END_LOOP:
		return true;
	default:
		return false;
	}
}

static bool leads_on(const struct mt_walk *walk, size_t count, int end)
{
	return walk->stack->count > count + 1 || end == MT_END_ROOT || end == MT_END_DUMP ||
	       end == MT_END_PAGE;
}

/* Goes on from a word at `slot`; false, and nothing is changed, where that leads nowhere. */
static bool try_word(struct mt_walk *walk, uint64_t slot, uint64_t word, int *end)
{
	const struct mt_walk before = *walk;
	size_t count = walk->stack->count;

	if (!mt_fp_is_return(walk, word) || mt_walk_rule(walk, word, true).kind == MT_RULE_NONE)
		return false;
	walk->at.pc = word;
	walk->at.sp = slot + 8;
	walk->have_regs = false;
	walk->source = MT_FRAME_SCANNED;
	walk->call_return = true;
	*end = (int)mt_walk_dump(walk);
	if (leads_on(walk, count, *end))
		return true;
	*walk = before;
	walk->stack->count = count;
	return false;
}

static bool scan(struct mt_walk *walk, int *end)
{
	uint64_t slot = walk->at.sp, stop = slot + SCAN_BYTES, word;

	for (; slot < stop && mt_dump_read(&walk->dump, slot, &word); slot += 8) {
		if (try_word(walk, slot, word, end))
			return true;
	}
	return false;
}

/* What the kernel's chain or branch records told stands where no stack pointer is known. */
static bool is_placed(const struct mt_walk *walk)
{
	const struct mt_stack *stack = walk->stack;

	return stack->count > walk->first && stack->frames[stack->count - 1].sp &&
	       stack->frames[stack->count - 1].sp <= walk->at.sp;
}

enum mt_stack_end mt_scan_splice(struct mt_walk *walk, enum mt_stack_end end)
{
	struct mt_stack *stack = walk->stack;
	size_t known = stack->count;
	int now = (int)end;

	for (int i = 0; i < SCANS_MAX && may_help(now) && is_placed(walk); i++) {
		if (!scan(walk, &now))
			break;
	}
	for (size_t i = known; i < stack->count; i++)
		stack->frames[i].source = MT_FRAME_SCANNED;
	walk->boundary = 0;
	return end;
}
