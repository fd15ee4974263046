/*
 * Scans the dump for return addresses past code that cannot be unwound: the last resort, only on
 * request. Stacks are full of stale return addresses, so all frames from the first found on are
 * marked as guesses, and the stack keeps its end reason.
 *
 * 1. A word is used if it lies within SCAN_BYTES of the stack pointer and points after a call, and
 *    CFI finds the callers from this call up to the root, the end of the dump or the next gap (at
 *    most SCANS_MAX gaps in a stack).
 * 2. A direct call must lead to the function of the newest frame or to a PLT stub, which excludes
 *    most stale words.
 * 3. A word after a direct call to that function is preferred to a word after a call through a
 *    pointer or a PLT stub, which may lead anywhere.
 * 4. The code before the return address must be available, because most results would be wrong
 *    without it.
 */
#include <string.h>

#include "symbols/images/image_map.h"
#include "unwind/lookup.h"
#include "unwind/walk.h"

enum {
	SCAN_BYTES = 2048, /* bytes of stack to search for one return address */
	SCANS_MAX = 4,	   /* maximum number of gaps in a stack */
	/* assumed maximum distance from an address without CFI back to the function's start */
	SPAN_MAX = 1 << 16,
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

/* Whether the call before a return address can have led to the newest frame. */
enum call_target {
	CALL_ELSEWHERE,
	CALL_UNKNOWN,  /* the code is not available */
	CALL_ANYWHERE, /* through a pointer or a stub */
	CALL_THERE,
};

/* Whether the code is a PLT stub: jmp *disp(%rip), maybe after endbr64 or bnd. */
static bool is_stub(const struct mt_walk *walk, uint64_t address)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	const uint8_t *code = mt_lookup_code(walk->input->map, address, 7, true);

	if (!code)
		return false;
	if (!memcmp(code, endbr, sizeof(endbr)))
		code += sizeof(endbr);
	code += *code == 0xf2;
	return code[0] == 0xff && code[1] == 0x25;
}

/*
 * Whether a call to `target` may have led to pc: target is the start of pc's function, or both are
 * in code without CFI and target is less than SPAN_MAX before pc.
 */
static bool is_entry(const struct mt_walk *walk, uint64_t target, uint64_t pc)
{
	struct mt_lookup_function function;

	if (mt_lookup_function(walk->input->map, pc, &function))
		return function.start == target;
	return target <= pc && pc - target < SPAN_MAX &&
	       !mt_lookup_function(walk->input->map, target, &function);
}

static enum call_target find_target(const struct mt_walk *walk, uint64_t word, uint64_t pc)
{
	const uint8_t *code =
		mt_lookup_code(walk->input->map, word - MT_CALL_CODE, MT_CALL_CODE, true);
	uint64_t target;

	if (!code)
		return CALL_UNKNOWN;
	if (code[MT_CALL_CODE - 5] != 0xe8)
		return mt_fp_ends_in_call(code) ? CALL_ANYWHERE : CALL_ELSEWHERE;
	target = word + (uint64_t)(int64_t)(int32_t)mt_get_le32(code + MT_CALL_CODE - 4);
	if (is_entry(walk, target, pc))
		return CALL_THERE;
	return is_stub(walk, target) ? CALL_ANYWHERE : CALL_ELSEWHERE;
}

static bool leads_on(int end)
{
	return end == MT_END_ROOT || end == MT_END_DUMP || end == MT_END_PAGE;
}

/*
 * Continues the walk from a return address at `slot`. False, with nothing changed, if the walk
 * finds neither the root, nor the end of the dump, nor another gap.
 */
static bool try_word(struct mt_walk *walk, uint64_t slot, uint64_t word, int *end)
{
	const struct mt_walk before = *walk;
	size_t count = walk->stack->count;

	walk->at.pc = word;
	walk->at.sp = slot + 8;
	walk->have_regs = false;
	walk->source = MT_FRAME_SCANNED;
	walk->call_return = true;
	*end = (int)mt_walk_dump(walk);
	/* or the walk found frames up to the next gap */
	if (leads_on(*end) || (may_help(*end) && walk->stack->count > count + 1))
		return true;
	*walk = before;
	walk->stack->count = count;
	return false;
}

/*
 * Continues from the first word after a call with the wanted target; false if there is none. A word
 * after an indirect call is not used beyond a word after an unknown call, which may be the right
 * one.
 */
static bool scan(struct mt_walk *walk, enum call_target wanted, int *end)
{
	uint64_t pc = walk->at.pc - walk->call_return, slot = walk->at.sp, word;
	uint64_t stop = slot + SCAN_BYTES;
	enum call_target target;

	for (; slot < stop && mt_dump_read(&walk->dump, slot, &word); slot += 8) {
		if (!mt_fp_is_return(walk, word) ||
		    mt_walk_rule(walk, word, true).kind == MT_RULE_NONE)
			continue;
		target = find_target(walk, word, pc);
		if (target == wanted && try_word(walk, slot, word, end))
			return true;
		if (target == CALL_UNKNOWN && wanted == CALL_ANYWHERE)
			return false;
	}
	return false;
}

/* Whether the newest frame's stack pointer is known, unlike in callchain and branch records. */
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
		if (!scan(walk, CALL_THERE, &now) && !scan(walk, CALL_ANYWHERE, &now))
			break;
	}
	for (size_t i = known; i < stack->count; i++)
		stack->frames[i].source = MT_FRAME_SCANNED;
	walk->boundary = 0;
	return end;
}
