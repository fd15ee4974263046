/*
 * Finds callers in plain branch records by replaying the branches, oldest first. Pure: the caller
 * classifies each branch and says whether code ran straight between two of them.
 */
#ifndef MT_UNWIND_BRANCHES_LBR_H
#define MT_UNWIND_BRANCHES_LBR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/images/disasm.h"

struct mt_lbr_entry {
	uint64_t from, to;
	enum mt_insn_kind kind; /* of the instruction at `from`; MT_INSN_OTHER: unknown */
	uint8_t size;		/* of that instruction, in bytes; 0: unknown */
	/*
	 * Code may not have run straight from the older entry's `to` to this `from` on one stack: a
	 * signal, a stack switch, a lost branch, or unknown.
	 */
	bool gap;
};

/*
 * Indices of the calls still open after the newest branch, newest first, at most `room`; returns
 * their number. `entries` has the newest first, as the kernel writes them. The result is certain:
 * at a contradiction all older calls are dropped.
 */
size_t mt_lbr_replay(const struct mt_lbr_entry *entries, size_t count, uint16_t *calls,
		     size_t room);

/* Whether a return to address `to` matches this call. */
bool mt_lbr_is_return(const struct mt_lbr_entry *call, uint64_t to);

#endif
