/*
 * Events that share a tracepoint, raw_syscalls:*, and are told apart by a filter on the call's
 * number, which stands behind the name: "raw_syscalls:sys_exit/id == 12/". 32-bit programs have
 * numbers of their own, and kernels before 4.4 do not filter for inherited children, so readers
 * look themselves.
 */
#ifndef MT_REPORT_CALLS_H
#define MT_REPORT_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct mt_sample;

/* The number in the name's filter; -1 where it has no such filter. */
int64_t mt_call_number(const char *name);

/* Whether a sample of such an event is of the call of that number, by a 64-bit program. */
bool mt_call_is(const struct mt_sample *sample, int64_t number);

#endif
