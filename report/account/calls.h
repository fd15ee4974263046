/*
 * Events that share a tracepoint, raw_syscalls:*, and are told apart by a filter on the call's
 * number, which stands behind the name: "raw_syscalls:sys_exit/id == 12/". 32-bit programs have
 * numbers of their own, and kernels before 4.4 do not filter for inherited children, so readers
 * look themselves. What a call does is ledger/call.h's.
 */
#ifndef MT_REPORT_ACCOUNT_CALLS_H
#define MT_REPORT_ACCOUNT_CALLS_H

#include <stdint.h>

struct mt_sample;

/* The number in the name's filter; -1 where it has no such filter. */
int64_t mt_call_number(const char *name);

/* The number in a sample of such an event; -1 where it has none, or is of a 32-bit program. */
int64_t mt_call_number_in(const struct mt_sample *sample);

#endif
