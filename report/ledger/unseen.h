/*
 * Evidence of calls that the events do not record: calls of 32-bit programs, operations of
 * io_uring, and the ranges of process_madvise.
 */
#ifndef MT_REPORT_LEDGER_UNSEEN_H
#define MT_REPORT_LEDGER_UNSEEN_H

#include <stdint.h>

struct mt_vm_call;

#define MT_NARROW_END (1ull << 32) /* end of a 32-bit program's addresses */

/* Bits of enum mt_unseen_calls for a mapping, by its name in /proc/PID/maps or MMAP2. */
uint32_t mt_unseen_by_region(const char *name, uint64_t start);

/* The same bits for a call. MT_UNSEEN_ADVICE: any process may have lost pages. */
uint32_t mt_unseen_by_call(const struct mt_vm_call *call);

#endif
