/*
 * What no recording tells of: the calls of 32-bit programs, what io_uring does in a process's
 * place, which ranges process_madvise is about. By what it is seen that they occur.
 */
#ifndef MT_REPORT_LEDGER_UNSEEN_H
#define MT_REPORT_LEDGER_UNSEEN_H

#include <stdint.h>

struct mt_vm_call;

#define MT_NARROW_END (1ull << 32) /* of a 32-bit program's addresses */

/*
 * What a mapping says of the program that has it, by its name as /proc/PID/maps or MMAP2 has it:
 * bits of enum mt_unseen_calls.
 */
uint32_t mt_unseen_by_region(const char *name, uint64_t start);

/* What a call says of its program, in the same bits; ADVICE: any process may have lost pages. */
uint32_t mt_unseen_by_call(const struct mt_vm_call *call);

#endif
