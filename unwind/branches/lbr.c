/*
 * Replays branch records: a call opens a frame, a return to the address after it closes the frame.
 */
#include "unwind/branches/lbr.h"

#define INSTRUCTION_MAX 15

bool mt_lbr_is_return(const struct mt_lbr_entry *call, uint64_t to)
{
	if (call->size)
		return to == call->from + call->size;
	return to > call->from && to - call->from <= INSTRUCTION_MAX;
}

/* call to the next instruction only pushes an address: nothing will return there. */
static bool opens(const struct mt_lbr_entry *entry)
{
	return !mt_lbr_is_return(entry, entry->to);
}

/*
 * How many calls are open behind this branch. A return elsewhere than behind the newest call is a
 * jump in disguise, or the end of an exception: what stands below is another stack for all one
 * knows.
 */
static size_t apply(const struct mt_lbr_entry *entries, uint16_t at, uint16_t *open, size_t depth)
{
	const struct mt_lbr_entry *entry = &entries[at];

	switch (entry->kind) {
	case MT_INSN_CALL:
	case MT_INSN_CALL_INDIRECT:
		if (opens(entry))
			open[depth++] = at;
		return depth;
	case MT_INSN_RETURN:
		if (depth && mt_lbr_is_return(&entries[open[depth - 1]], entry->to))
			return depth - 1;
		return 0;
	case MT_INSN_CONDITIONAL:
	case MT_INSN_JUMP:
	case MT_INSN_JUMP_INDIRECT:
		return depth;
	default:
		return 0;
	}
}

size_t mt_lbr_replay(const struct mt_lbr_entry *entries, size_t count, uint16_t *calls, size_t room)
{
	uint16_t open[count + 1];
	size_t depth = 0;

	for (size_t i = count; i--;) {
		if (entries[i].gap)
			depth = 0;
		depth = apply(entries, (uint16_t)i, open, depth);
	}
	for (size_t i = 0; i < depth && i < room; i++)
		calls[i] = open[depth - 1 - i];
	return depth < room ? depth : room;
}
