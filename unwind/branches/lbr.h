/*
 * From plain branch records to callers: the branches replayed, oldest first. Pure: what each branch
 * is, and whether code ran straight between two of them, comes in.
 */
#ifndef MT_UNWIND_BRANCHES_LBR_H
#define MT_UNWIND_BRANCHES_LBR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/images/disasm.h"

struct mt_lbr_entry {
	uint64_t from, to;
	enum mt_insn_kind kind; /* of the branch at `from`; MT_INSN_OTHER: not known */
	uint8_t size;		/* of that instruction, 0: not known */
	/*
	 * It is not so, or not known, that code ran straight from the older entry's `to` to this
	 * `from` on one stack: a signal, a switch of stacks, a lost branch.
	 */
	bool gap;
};

/*
 * The calls that are still open behind the newest branch, newest first: their entries' indices, as
 * many as there is room for. `entries` stand newest first, as the kernel gives them. What is given
 * is certain: where anything contradicts, all that is older is given up.
 */
size_t mt_lbr_replay(const struct mt_lbr_entry *entries, size_t count, uint16_t *calls,
		     size_t room);

/* Whether a return to that address is the one of this call. */
bool mt_lbr_is_return(const struct mt_lbr_entry *call, uint64_t to);

#endif
