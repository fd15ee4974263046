/*
 * What no recording tells of: the calls of 32-bit programs, what io_uring does in a process's
 * place, which ranges process_madvise is about. Where they occur, and what that leaves in doubt.
 */
#ifndef MT_REPORT_LEDGER_UNSEEN_H
#define MT_REPORT_LEDGER_UNSEEN_H

#include <stdbool.h>
#include <stdint.h>

struct mt_ledger;
struct mt_ledger_space;
struct mt_vm_call;

/*
 * What a mapping says of the program that has it, by its name as /proc/PID/maps or MMAP2 has it:
 * bits of enum mt_unseen_calls.
 */
uint32_t mt_unseen_by_region(const char *name, uint64_t start);

/* A call that succeeded may be one of those, too. */
void mt_unseen_call(struct mt_ledger *ledger, struct mt_ledger_space *space,
		    const struct mt_vm_call *call);

/*
 * Before it is told how a space stood: puts in doubt what is, and tells the session. False out of
 * memory.
 */
bool mt_unseen_close(struct mt_ledger *ledger, struct mt_ledger_space *space, uint64_t time);

#endif
