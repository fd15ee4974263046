/*
 * Appends branch records to a stack past the end of its dump. Records may belong to calls that a
 * longjmp, an exception or a stack switch has left. So records are only used if they agree with all
 * that is known: the frames from the dump must be the callers of the newest records, one by one,
 * and the target of each record must be the function that makes the next newer call. A call through
 * a PLT stub does not show this function, and ends the splice.
 *
 * If CFI was missing and the dump continues, a recorded return address that occurs once in the
 * remaining dump is a frame with a known stack pointer. CFI continues from this frame, as long as
 * its frames agree with the records.
 */
#include "symbols/images/image_map.h"
#include "unwind/lookup.h"
#include "unwind/walk.h"

#define FUNCTION_MAX 4096 /* assumed bytes of a function without CFI */

struct splice {
	struct mt_walk *walk;
	struct mt_branch_call calls[MT_BRANCHES_MAX];
	size_t count;
};

/* Whether the function that starts at `entry` contains an address. */
static bool is_in(const struct mt_walk *walk, uint64_t address, uint64_t entry)
{
	struct mt_lookup_function function;

	if (mt_lookup_function(walk->input->map, address, &function))
		return function.start == entry;
	return address >= entry && address - entry < FUNCTION_MAX &&
	       !mt_lookup_function(walk->input->map, entry, &function);
}

static uint64_t after(const struct mt_branch_call *call)
{
	return call->from + call->size;
}

/* Number of frames found so far, without the sampled one. */
static size_t callers(const struct mt_walk *walk)
{
	return walk->stack->count - walk->first - 1;
}

/* How many of the callers from `at` on agree with the records. */
static size_t agree(const struct splice *splice, size_t at)
{
	const struct mt_frame *frames = splice->walk->stack->frames + splice->walk->first + 1;
	size_t i = at, count = callers(splice->walk);

	while (i < count && i < splice->count && frames[i].call_return &&
	       frames[i].pc == after(&splice->calls[i]))
		i++;
	return i - at;
}

/* Whether the next record is the call that led to the newest frame. */
static bool leads_here(const struct splice *splice, size_t next)
{
	const struct mt_stack *stack = splice->walk->stack;
	const struct mt_frame *last = &stack->frames[stack->count - 1];

	return next < splice->count && splice->calls[next].size &&
	       is_in(splice->walk, last->pc - last->call_return, splice->calls[next].to);
}

/* The only address of the word in the remaining dump; 0: none, or several. */
static uint64_t find_word(const struct mt_walk *walk, uint64_t word)
{
	uint64_t found = 0, value;

	for (uint64_t at = walk->at.sp; mt_dump_read(&walk->dump, at, &value); at += 8) {
		if (value == word && found)
			return 0;
		if (value == word)
			found = at;
	}
	return found;
}

/*
 * Continues by CFI from the caller of the next record. The frame pointer of this caller is either
 * the present one or the one that the callee pushed; the right one is that with which CFI finds the
 * caller of the following record. *end: the new end. False if neither is right.
 */
static bool anchor(struct splice *splice, size_t next, enum mt_stack_end *end)
{
	struct mt_walk *walk = splice->walk;
	const struct mt_walk before = *walk;
	uint64_t slot = find_word(walk, after(&splice->calls[next])), pushed;
	size_t count = walk->stack->count;

	if (!slot)
		return false;
	for (int i = 0; i < 2; i++) {
		*walk = before;
		walk->stack->count = count;
		walk->have_regs = false;
		walk->source = MT_FRAME_LBR;
		walk->call_return = true;
		walk->at.pc = after(&splice->calls[next]);
		walk->at.sp = slot + 8;
		if (i && mt_dump_read(&walk->dump, slot - 8, &pushed))
			walk->at.fp = pushed;
		*end = mt_walk_dump(walk);
		if (agree(splice, next) >= 2)
			return true;
	}
	*walk = before;
	walk->stack->count = count;
	return false;
}

static enum mt_stack_end end_of(struct mt_walk *walk)
{
	const struct mt_frame *last = &walk->stack->frames[walk->stack->count - 1];

	return mt_walk_rule(walk, last->pc, last->call_return).kind == MT_RULE_END
		       ? MT_END_ROOT
		       : MT_END_BRANCHES;
}

/*
 * Drops frames that CFI found after an anchor and that disagree with the records; false if there
 * are such frames.
 */
static bool keep_agreed(struct splice *splice, size_t *next)
{
	struct mt_stack *stack = splice->walk->stack;
	size_t agreed = agree(splice, *next);

	*next += agreed;
	if (*next == splice->count || *next == callers(splice->walk))
		return true;
	stack->count = splice->walk->first + 1 + *next;
	return false;
}

static enum mt_stack_end go_on(struct splice *splice, enum mt_stack_end end)
{
	struct mt_walk *walk = splice->walk;
	size_t next = callers(walk);

	while (leads_here(splice, next)) {
		struct mt_frame frame = {.pc = after(&splice->calls[next]),
					 .source = MT_FRAME_LBR,
					 .call_return = true};

		if (end != MT_END_DUMP && end != MT_END_PAGE && anchor(splice, next, &end)) {
			if (!keep_agreed(splice, &next)) {
				walk->boundary = 0;
				return MT_END_BRANCHES;
			}
			if (end == MT_END_ROOT || end == MT_END_LIMIT || next == splice->count)
				return end;
			continue;
		}
		if (!mt_walk_push(walk, &frame))
			return MT_END_LIMIT;
		walk->boundary = 0;
		next++;
		end = end_of(walk);
		if (end == MT_END_ROOT)
			return end;
	}
	return end;
}

enum mt_stack_end mt_branches_splice(struct mt_walk *walk, enum mt_stack_end end)
{
	struct splice splice;

	splice.walk = walk;
	if (!walk->input->branch_count || walk->stack->count <= walk->first)
		return end;
	splice.count = mt_branches_callers(walk, splice.calls);
	if (agree(&splice, 0) < callers(walk))
		return end;
	return go_on(&splice, end);
}
