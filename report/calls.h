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

struct mt_attr;
struct mt_sample;

/* The number in the name's filter; -1 where it has no such filter. */
int64_t mt_call_number(const char *name);

/* Whether a sample of such an event is of the call of that number, by a 64-bit program. */
bool mt_call_is(const struct mt_sample *sample, int64_t number);

/* The calls that listings know, by their x86-64 numbers. */
enum mt_call_number {
	MT_CALL_MMAP = 9,
	MT_CALL_MUNMAP = 11,
	MT_CALL_BRK = 12,
	MT_CALL_MREMAP = 25,
};

#define MT_CALL_ARGUMENTS 6

/* What a sample at a call's enter or exit tells. */
struct mt_call {
	int64_t number;
	bool exit;
	int64_t result;	     /* at exit */
	bool have_arguments; /* at enter, and at exit where user registers were recorded */
	uint64_t arguments[MT_CALL_ARGUMENTS];
};

/*
 * Whether events of that name are entries or exits of the call: "syscalls:sys_exit_brk",
 * "raw_syscalls:sys_exit/id == 12/", and raw_syscalls:* without a filter, which are of any.
 */
bool mt_call_event_is(const char *event, enum mt_call_number number);

/*
 * False for a sample of an event that is none of the above, or too short, or of a 32-bit program.
 */
bool mt_call_decode(const char *event, const struct mt_attr *attr, const struct mt_sample *sample,
		    struct mt_call *out);

#endif
