/*
 * Numbers of system calls in raw_syscalls:* events, which share a tracepoint and filter by number:
 * "raw_syscalls:sys_exit/id == 12/". Readers check the number again, because 32-bit programs have
 * other numbers, and kernels before 4.4 do not filter inherited children.
 */
#ifndef MT_REPORT_ACCOUNT_CALLS_H
#define MT_REPORT_ACCOUNT_CALLS_H

#include <stdint.h>

struct mt_sample;

/* The number in an event name's filter; -1 if there is none. */
int64_t mt_call_number(const char *name);

/*
 * The number in a sample of a raw_syscalls:* event; -1 if there is none, or for a 32-bit program.
 */
int64_t mt_call_number_in(const struct mt_sample *sample);

#endif
